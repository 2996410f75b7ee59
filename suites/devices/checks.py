"""Checks of any device: tiny ones that are always made, and those under load that take a minute.

Products of small whole numbers are exact in every order of summing, so each of them is checked, not only timed: a card
that fails under load only is not found by a product that is run once.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Dict, List, Optional, Sequence, Tuple

from suites import exits, readings
from suites.peaks import NoPeak, Peak, find

if TYPE_CHECKING:
    from types import ModuleType

    import torch

GRACE_S = 30.0  # that a device may be late before it counts as hung
LARGEST = 4096  # edge of the product: large enough to draw all power, small enough to be verified on the processor
BUFFER = 256 << 20  # bytes that are copied


@dataclass(frozen=True)
class Figure:
    """One measured figure: `of` says of which device or link."""

    metric: str
    of: str
    value: float
    unit: str


@dataclass
class Deep:
    """What was found: lines that each begin with their cause, and figures. No line: nothing is wrong.

    `notes` say what was not judged.
    """

    findings: List[str] = field(default_factory=list)
    figures: List[Figure] = field(default_factory=list)
    notes: List[str] = field(default_factory=list)


def exact_product(place: str, edge: int = 64) -> None:
    """A product of small whole numbers, against the same in int64 on the processor. Raises AssertionError."""
    import torch

    rows = torch.arange(edge)
    left = (rows[:, None] * 7 + rows[None, :] * 3) % 5 - 2
    right = (rows[:, None] * 2 + rows[None, :] * 11) % 7 - 3
    given = torch.matmul(left.float().to(place), right.float().to(place)).cpu()
    wrong = int((given != torch.matmul(left, right).float()).sum())
    if wrong:
        raise AssertionError(
            f"{exits.NUMERICS}: {wrong} of {edge**2} elements of an exact {edge}x{edge} product are wrong on {place}"
        )


def enough(place: str, free: Optional[int], needed: int) -> None:
    """Raises AssertionError when fewer bytes are free than are needed."""
    if free is not None and free < needed:
        raise AssertionError(
            f"{exits.OUT_OF_MEMORY}: {place} has {free / 1e9:.1f} GB free, this run needs {needed / 1e9:.1f}"
        )


def deep(module: ModuleType, seconds: float) -> Deep:
    """All checks under load of a device kind, within so many seconds and what a hung device is waited for."""
    found = Deep()
    places = list(module.places())
    before = {index: module.counters(index) for index in range(len(places))}
    try:
        peak = _peak(module, found)
        for place in places:
            exact_product(place)
        _sustain(module, places, 0.7 * seconds, found, peak)
        if not any(line.startswith(exits.HANG) for line in found.findings):
            _copies(module, places, 0.3 * seconds, found, peak)
    except Exception as error:  # noqa: BLE001 - whatever the device's library raises is what was found
        found.findings.append(_told(module, "", error))
    for index, place in enumerate(places):
        found.findings += readings.counted(place, before[index], module.counters(index))
    return found


def _peak(module: ModuleType, found: Deep) -> Optional[Peak]:
    """What each of the devices, which are of one kind, does at most; a note where that is not known."""
    try:
        return find(module.title(), module.units())
    except NoPeak as reason:
        found.notes.append(f"{module.place()}: held to no peak: {reason}")
        return None


def _told(module: ModuleType, place: str, error: BaseException) -> str:
    from suites.devices import word_for

    line = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    if exits.begins_with_word(line):
        return line
    word = word_for(module, str(error))
    return f"{word}: {place or module.place()}: {line}" if word else f"{type(error).__name__}: {line}"


def _sustain(module: ModuleType, places: Sequence[str], seconds: float, found: Deep, peak: Optional[Peak]) -> None:
    """All devices at once, each by a thread of its own: what one draws, another may lack."""
    rounds: Dict[str, List[readings.Round]] = {place: [] for place in places}
    failed: Dict[str, BaseException] = {}
    deadline = time.monotonic() + seconds

    def work(index: int, place: str) -> None:
        try:
            _multiply(module, index, place, deadline, rounds[place])
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            failed[place] = error

    threads = {
        place: threading.Thread(target=work, args=(index, place), daemon=True) for index, place in enumerate(places)
    }
    for thread in threads.values():
        thread.start()
    for place, thread in threads.items():
        thread.join(max(0.0, deadline - time.monotonic()) + GRACE_S)
        if thread.is_alive():
            found.findings.append(f"{exits.HANG}: {place}: no answer for {GRACE_S:.0f} s under load")
        elif place in failed:
            found.findings.append(_told(module, place, failed[place]))
    _judge(module, rounds, peak, found)


def _judge(module: ModuleType, rounds: Dict[str, List[readings.Round]], peak: Optional[Peak], found: Deep) -> None:
    shared = module.STATISTIC == "min"  # a processor that others use too slows down for their sake
    rates = {place: readings.settled_rate(made) for place, made in rounds.items()}
    for place, rate in rates.items():
        found.findings += readings.sustained(place, rounds[place], slowing=not shared)
        if rate is None:
            continue
        precision = rounds[place][-1].precision
        most = peak.tflops.get(precision) if peak else None
        found.figures.append(Figure("sustained", place, rate, "TFLOP/s"))
        found.findings += readings.against(place, precision, rate, most, "TFLOP/s")
        if peak and not most:
            found.notes.append(f"{place}: held to no peak: no sourced {precision} rate is known of {peak.device}")
    if not shared:
        found.findings += readings.beside(rates)


def _multiply(module: ModuleType, index: int, place: str, deadline: float, rounds: List[readings.Round]) -> None:
    """Rounds of products until the deadline; each product is compared, where it was made, with the verified one."""
    import torch

    dtype = _dtype(module, place)
    left, right, right_one, edge = _problem(place, dtype)
    precision = "fp16" if dtype == torch.float16 else "fp32"
    number = 1
    while True:
        wrong = torch.zeros((), dtype=torch.int64, device=place)
        begin = time.perf_counter()
        for _ in range(number):
            wrong += (torch.matmul(left, right) != right_one).sum()
        bad = int(wrong.item())  # waits for this device only
        took = time.perf_counter() - begin
        rounds.append(
            readings.Round(
                2 * edge**3 * number / took / 1e12, number, bad, dict(module.conditions(index)), took, precision
            )
        )
        if time.monotonic() >= deadline:
            return
        number = max(1, min(4096, int(number * 0.25 / max(took, 1e-6))))


def _dtype(module: ModuleType, place: str) -> torch.dtype:
    """fp16, which draws most power and is exact up to 2048; fp32 where there are no such products, or slow ones."""
    import torch

    from suites.devices import products

    if place == "cpu":
        return torch.float32
    ones = torch.ones(16, 16).to(place)
    try:
        torch.matmul(ones.half(), ones.half()).sum().item()
    except RuntimeError as error:
        if not products.unwritten(module, str(error)):
            raise
        return torch.float32
    return torch.float16


def _problem(place: str, dtype: torch.dtype) -> Tuple[torch.Tensor, torch.Tensor, torch.Tensor, int]:
    """Factors of -1, 0 and 1, their product, verified on the processor, and the edge: as large as 50 ms allow."""
    import torch

    edge = 256
    while True:
        generator = torch.Generator().manual_seed(edge)
        left, right = (torch.randint(-1, 2, (edge, edge), generator=generator).float() for _ in range(2))
        ours, theirs = left.to(dtype).to(place), right.to(dtype).to(place)
        torch.matmul(ours, theirs).sum().item()  # the first call sets up more than it computes
        begin = time.perf_counter()
        product = torch.matmul(ours, theirs)
        product.sum().item()
        took = time.perf_counter() - begin
        if edge >= LARGEST or took * 8 > 0.05:
            break
        edge *= 2
    _verify(place, left.double(), right.double(), product.cpu().double())
    return ours, theirs, product, edge


def _verify(place: str, left: torch.Tensor, right: torch.Tensor, product: torch.Tensor) -> None:
    """Freivalds: left (right x) is product x, for whole numbers exactly; four vectors miss 1 in 16 at most.

    A fault in one element is always seen, as no element of x is 0.
    """
    import torch

    generator = torch.Generator().manual_seed(1)
    x = torch.randint(0, 2, (left.shape[0], 4), generator=generator).double() * 2 - 1
    wrong = int((torch.matmul(left, torch.matmul(right, x)) != torch.matmul(product, x)).any(dim=1).sum())
    if wrong:
        raise AssertionError(
            f"{exits.NUMERICS}: {wrong} rows of an exact {left.shape[0]}x{left.shape[0]} product are wrong on {place}"
        )


def _copies(module: ModuleType, places: Sequence[str], seconds: float, found: Deep, peak: Optional[Peak]) -> None:
    """Memory, host and links: GB/s of copies, each read back and compared; and the PCIe link just after it was used."""
    import torch

    free = module.free_memory()
    size = min(BUFFER, (free or BUFFER * 16) // 16) // 8
    host = torch.arange(size, dtype=torch.int64)
    ways: List[Tuple[str, str, str, str]] = [("copy", place, place, place) for place in places]
    if module.place() != "cpu":
        ways += [("host_to_device", f"cpu -> {place}", "cpu", place) for place in places]
        ways += [("device_to_host", f"{place} -> cpu", place, "cpu") for place in places]
    ways += [("link", f"{one} -> {two}", one, two) for one in places for two in places if one != two]
    deadline = time.monotonic() + seconds
    each = seconds / len(ways)
    rates: Dict[Tuple[str, str], float] = {}
    buses: Dict[str, List[Optional[readings.Link]]] = {place: [] for place in places}
    for number, (metric, name, start, end) in enumerate(ways):
        if time.monotonic() >= deadline:
            found.figures.append(Figure("unchecked", "links and copies", float(len(ways) - number), "count"))
            break
        source = host.to(start)
        target = torch.zeros_like(host, device=end)
        rate = _copy_rate(module, source, target, min(each, 1.0)) * (2 if metric == "copy" else 1)
        if not bool((target.cpu() == host).all()):
            found.findings.append(f"{exits.NUMERICS}: {name}: what was copied has changed")
        found.figures.append(Figure(metric, name, rate, "GB/s"))
        if metric == "link":
            rates[start, end] = rate
        elif metric == "copy":
            found.findings += readings.against(name, "of memory traffic", rate, peak.gbps if peak else None, "GB/s")
        else:
            device = end if metric == "host_to_device" else start
            buses[device].append(module.link(places.index(device)))
    found.findings += readings.links(rates)
    for place, seen in buses.items():
        found.findings += readings.narrow(place, seen)


def _copy_rate(module: ModuleType, source: torch.Tensor, target: torch.Tensor, seconds: float) -> float:
    """The best of several copies, GB/s of what arrives."""
    best = float("inf")
    until = time.monotonic() + seconds
    for _ in range(50):
        module.synchronise()
        begin = time.perf_counter()
        target.copy_(source)
        module.synchronise()
        best = min(best, time.perf_counter() - begin)
        if time.monotonic() >= until:
            break
    return source.numel() * source.element_size() / max(best, 1e-9) / 1e9
