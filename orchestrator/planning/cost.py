"""What a plan costs before anything was run: estimates, each with its basis.

They serve to see an expensive mistake before it starts. On two CPU cores the smoke profile was seen to take a quarter
of a minute eager or with OpenVINO, and two to four with Inductor, which compiles C++. CPU and CUDA images were built
and weighed. The times of GPU cells and the sizes of ROCm and XPU images are guesses: nothing here has made one.
"""

from collections.abc import Iterable, Mapping, Sequence

from orchestrator import axes
from orchestrator.model import Axes, Cost, PlannedCell, RunnerClass
from orchestrator.planning.place import gpus_of, runner_for

_GB = 1_000_000_000
_EAGER_MINUTES: Mapping[str, float] = {"cpu": 0.3, "cuda": 1.5, "rocm": 1.5, "xpu": 1.5, "ready": 1.5}
_COMPILE_MINUTES: Mapping[str, float] = {"eager": 0.0, "openvino": 0.1}  # on top, with cold caches
_OTHER_COMPILE_MINUTES = 2.0
_IMAGE_BYTES: Mapping[str, int] = {
    "cpu": int(1.4 * _GB),
    "cuda": int(7.8 * _GB),
    "rocm": 22 * _GB,
    "xpu": 10 * _GB,
    "ready": 0,  # pulled, not built
}
_BESIDE_BYTES = int(0.3 * _GB)  # of an image that shares torch with another


def minutes(cell: Axes) -> float:
    """How long one cell is expected to take."""
    compiling = _COMPILE_MINUTES.get(cell.get("backend", "eager"), _OTHER_COMPILE_MINUTES)
    return _EAGER_MINUTES[axes.platform(cell)] + compiling


def cost(cells: Sequence[PlannedCell], runners: Sequence[RunnerClass]) -> Cost:
    """The cost of the placed cells, run one after the other; money is by the price of their runner classes."""
    placed = [cell for cell in cells if cell.placement.placed]
    by_name = {runner.name: runner for runner in runners}
    images = {cell.image: axes.platform(cell.axes) for cell in placed}
    return Cost(
        cells=len(cells),
        placed=len(placed),
        unplaced=len(cells) - len(placed),
        images=len(images),
        minutes=round(sum(minutes(cell.axes) for cell in placed), 2),
        gpu_hours=round(sum(minutes(cell.axes) / 60 * gpus_of(cell.axes) for cell in placed), 4),
        money=round(sum(_money(cell.axes, by_name.get(cell.placement.runner or "")) for cell in placed), 4),
        build_bytes=sum(_IMAGE_BYTES[platform] for platform in images.values()),
    )


def image_bytes(images: Iterable[Axes]) -> int:
    """What images take on a disk together: those with one torch on one base share nearly all of it."""
    whole: dict[tuple[str, ...], int] = {}
    beside = 0
    for cell in images:
        key = tuple(cell.get(name, "") for name in ("torch", "torch_build", "torch_from", "base", "python"))
        beside += _BESIDE_BYTES if key in whole else 0
        whole[key] = _IMAGE_BYTES[axes.platform(cell)]
    return sum(whole.values()) + beside


def spent(cell: Axes, runners: Sequence[RunnerClass]) -> tuple[float, float]:
    """The GPU-hours and the money of one cell on the runner class that would run it."""
    return minutes(cell) / 60 * gpus_of(cell), _money(cell, runner_for(cell, runners))


def _money(cell: Axes, runner: RunnerClass | None) -> float:
    """A machine's price for the time of a cell; a cell with one of eight GPUs takes an eighth of the machine."""
    if runner is None or runner.price_per_hour is None:
        return 0.0
    share = gpus_of(cell) / int(runner.axes.get("gpus", "1")) if gpus_of(cell) else 1.0
    return minutes(cell) / 60 * runner.price_per_hour * share
