"""Writes `suites/peaks.json` from the facts: the suite runs alone, where no orchestrator is. `make facts` runs it.

Every device is there, in the order in which patterns are tried, so that a name finds the same row on both sides; one
without a sourced dense rate says so by having none.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from orchestrator.support.facts import FOLDER
from orchestrator.support.facts_files import read_file

FILE = Path(__file__).parents[1] / "suites" / "peaks.json"
# People's words for a card take its variants in, whose rates nobody has printed here: an A10M is no A10.
_EXACTLY = {"a10": [r"\bA10\b"], "a30": [r"\bA30\b"], "l40": [r"\bL40\b"], "t4": [r"\bT4\b"]}
PRECISIONS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")


def rendered() -> str:
    """One line for each device and each source."""
    layer = msgspec.to_builtins(read_file(FOLDER / "devices.yaml"))
    rows = [_row(device) for device in layer["devices"]]
    used = {row["source"] for row in rows if "source" in row}
    sources = {name: source["text"] for name, source in layer["sources"].items() if name in used}
    lines = ['{"devices": [', ",\n".join(map(_line, rows)), '], "sources": {']
    lines += [",\n".join(f"{_line(name)}: {_line(text)}" for name, text in sources.items()), "}}"]
    return "\n".join(lines) + "\n"


def _row(device: Any) -> dict[str, Any]:
    """What the suite needs of a device: how it is recognised, and how fast it is at most."""
    made: dict[str, Any] = {"id": device["id"], "patterns": _EXACTLY.get(device["id"], list(device["patterns"]))}
    rates = _rates(device)
    if rates or "memory_bandwidth_gbs" in device:
        made["source"] = device["source"]
    if rates:
        made["tflops"] = rates
    if "memory_bandwidth_gbs" in device:
        made["gbps"] = device["memory_bandwidth_gbs"]
    if "source" not in made:
        return made
    for name in ("compute_units", "torch_devices"):
        if name in device:
            made[name] = device[name]
    if device.get("partition_kind") == "amd-compute":
        made["partitioned"] = True
    profiles = [profile for profile in device.get("partitions", ()) if device.get("partition_kind") == "mig"]
    if profiles:
        made["slices"], made["slice_memory_gb"] = _slices(profiles, device.get("memory_gb"))
    return made


def _rates(device: Any) -> dict[str, float]:
    """Of two rates the matrix unit's. GeForce halves fp16 that is summed in fp32, as torch sums it.

    An fp32 rate below that of fp64 matrices is the vector unit's alone (MI250): its products are faster.
    """
    printed = device.get("peak_tflops_dense", {})
    rates = {name: printed.get(f"{name}_matrix", printed.get(name)) for name in PRECISIONS}
    if "fp32_matrix" not in printed and (rates["fp32"] or 0) < printed.get("fp64_matrix", 0):
        rates["fp32"] = None
    if device.get("class") == "geforce" and rates["fp16"] and rates["bf16"]:
        rates["fp16"] = min(rates["fp16"], rates["bf16"])
    return {name: rate for name, rate in rates.items() if rate is not None}


def _slices(profiles: list[str], memory_gb: float | None) -> tuple[int, float]:
    """In how many compute slices a device is cut, and the memory of a whole one as its profiles print it.

    Parts of the A100's kind have 7 slices and no profile of 4 is the whole; others have 4 (NVIDIA, MIG User Guide).
    """
    parts = {(int(name.split("g.")[0]), float(name.split("g.")[1].split("gb")[0])) for name in profiles}
    three = any(slices == 3 for slices, _ in parts)
    most, memory = max(parts)
    if not three:
        return most, memory
    return 7, memory if most == 7 else memory_gb or 2 * memory


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    FILE.write_text(rendered(), encoding="utf-8")
