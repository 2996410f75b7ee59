"""A stand-in for the smoke suite without torch: writes a whole bundle of what was asked for, or dies as `DOES` says."""

import argparse
import hashlib
import json
import os
import signal
import time
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

parser = argparse.ArgumentParser()
parser.add_argument("--cell", type=Path, required=True)
parser.add_argument("--out", type=Path, required=True)
given = parser.parse_args()
asked = json.loads(given.cell.read_bytes())
does, _, first_time = os.environ["DOES"].partition(":")
if first_time:  # only when it runs for the first time, which the named file remembers
    flag = Path(first_time)
    does = "pass" if flag.exists() else does
    flag.write_text(str(os.getpid()))
given.out.mkdir(exist_ok=True)
progress = (given.out / "progress.jsonl").open("w")


def tell(**line: object) -> None:
    progress.write(json.dumps(line) + "\n")
    progress.flush()


def write(name: str, content: str) -> None:
    (given.out / name).write_text(content)


second, told, facts, metrics, backends = "second", "numerics: off by one", {}, "", []
if does == "tell":  # a secret: whole, in two writes, as Python and JSON write it, and in every file of the bundle
    token = Path(os.environ["TOKEN_FILE"]).read_bytes().decode()
    os.write(1, f"whole {token}\nsplit {token[:5]}".encode())
    time.sleep(0.2)
    os.write(1, f"{token[5:]}\nquoted {token!r} {json.dumps(token)}\n".encode())
    second, told, facts = f"second[{token}]", f"numerics: {token}", {token: token, "triton": token}
    words = ("metric", "unit", "load", "model", "model_version", "shapes", "precision", "device", "statistic", "timer")
    row = {"cell": asked["id"], "value": 1.0, "direction": "lower", "warmup": 0, "samples": 1, "seed": 0}
    row |= {"spread": None, "conditions": None, "valid": False}
    metrics = json.dumps({**row, **dict.fromkeys((*words, "scope", "method", "formula", "why"), token)}) + "\n"
    counts = {"graphs": 1, "graph_breaks": 1, "taken": 1, "expected": 1}
    backends = [{**dict.fromkeys(("load", "backend", "unit"), token), **counts, "break_reasons": [token]}]
    (given.out / f"{token}.txt").write_text(token)
write("cell.json", json.dumps(asked))
observed = {"schema_version": 1, "started": "2026-01-01T00:00:00+00:00", "axes": {**asked["axes"], **facts}}
write("environment.json", json.dumps({**observed, "facts": facts}))
write("structure.json", json.dumps({"schema_version": 1, "backends": backends}))
write("metrics.jsonl", metrics)
tell(event="start", test="first")
tell(event="end", test="first", outcome="passed")
tell(event="start", test=second)
if does == "deafly-hang":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if does.endswith("hang"):
    time.sleep(120)
if does == "show":
    os.write(1, json.dumps(dict(os.environ)).encode())
if does == "slow":
    time.sleep(1)
if does == "abort":
    os.abort()
if does == "exit-0":
    os._exit(0)
failed = does in {"fail", "tell"}
tell(event="end", test=second, outcome="failed" if failed else "passed")
failure = f"<failure message={quoteattr(told)}>{escape(told)}</failure>" if failed else ""
printed = f"<system-out>{escape(told)}</system-out>" if failed else ""
cases = (
    f'<testcase classname="tiny" name="first"/><testcase classname="tiny" name={quoteattr(second)}>{failure}{printed}'
)
write("junit.xml", f'<testsuites><testsuite name="tiny">{cases}</testcase></testsuite></testsuites>')
tell(event="final", exit=int(failed), tests=2)
progress.close()
sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in sorted(given.out.iterdir())]
write("SHA256SUMS", "\n".join(sums) + "\n")
if does == "die-at-exit":
    os.kill(os.getpid(), signal.SIGSEGV)
raise SystemExit(int(failed))
