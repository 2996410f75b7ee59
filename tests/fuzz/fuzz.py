"""Many inputs for each parser of untrusted bytes, and a table of what became of them.

    python tests/fuzz/fuzz.py [--inputs 100000] [--seed 0] [--jobs 2] [NAME]...

Exits 1 when one broke its parser's law; the input is printed, and saved where `--save` says.
"""

import argparse
import multiprocessing
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from law import Target
from msgspec import Struct
from mutations import mutated
from targets import targets

SLOWEST_S = 5  # of one input, on the processor
WAITS_S = 60  # of one input, by the clock: who waits for ever takes no time on the processor
MEMORY = 2 << 30  # of one fuzzing process, in address space beyond what it begins with
STOP_AFTER = 5  # broken inputs of one parser


class Outcome(Struct, frozen=True):
    """What became of one parser's inputs; `broken` are (input, traceback)."""

    name: str
    inputs: int
    taken: int
    seconds: float
    slowest_s: float
    grown: int
    broken: tuple[tuple[bytes, str], ...]


def fuzzed(target: Target, inputs: int, seed: str) -> Outcome:
    """So many inputs for one parser; the same seed gives the same inputs."""
    rng = random.Random(f"{seed} {target.name}")
    taken, slowest = 0, 0.0
    broken: list[tuple[bytes, str]] = []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.monotonic()
    done = 0
    while done < inputs and len(broken) < STOP_AFTER:
        done += 1
        data = mutated(rng, target.seeds)
        started = time.process_time()
        try:
            signal.setitimer(signal.ITIMER_PROF, SLOWEST_S)
            signal.alarm(WAITS_S)
            taken += target.check(data)
        except Exception:  # noqa: BLE001 - whatever comes is what is looked for
            broken.append((data, traceback.format_exc()))
        finally:
            signal.alarm(0)
            signal.setitimer(signal.ITIMER_PROF, 0)
        slowest = max(slowest, time.process_time() - started)
    return Outcome(
        name=target.name,
        inputs=done,
        taken=taken,
        seconds=time.monotonic() - begun,
        slowest_s=slowest,
        grown=(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10,
        broken=tuple(broken),
    )


def _too_slow(number: int, _: object) -> None:
    took = SLOWEST_S if number == signal.SIGPROF else WAITS_S
    raise TimeoutError(f"one input took more than {took} s")


def _process(name: str, inputs: int, seed: str) -> Outcome:
    for number in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(number, _too_slow)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, now + MEMORY))
    place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="torchmatrix-fuzz-", dir=place) as folder:
        (target,) = (each for each in targets(Path(folder)) if each.name == name)
        return fuzzed(target, inputs, seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="parsers, by their names in the table; all when none is given")
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 1)))
    parser.add_argument("--save", type=Path, help="a folder for the inputs that broke something")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names = [target.name for target in targets(Path(folder))]
    names = [name for name in names if not arguments.names or name in arguments.names]
    print(f"{'parser':<18}{'inputs':>9}{'taken':>8}{'broken':>8}{'seconds':>9}{'slowest':>9}{'grown':>9}", flush=True)
    broken = 0
    with multiprocessing.get_context("spawn").Pool(arguments.jobs, maxtasksperchild=1) as pool:
        waiting = [pool.apply_async(_process, (name, arguments.inputs, arguments.seed)) for name in names]
        for outcome in (each.get() for each in waiting):
            print(
                f"{outcome.name:<18}{outcome.inputs:>9}{outcome.taken:>8}{len(outcome.broken):>8}{outcome.seconds:>8.0f}s"
                f"{outcome.slowest_s:>8.2f}s{outcome.grown >> 20:>6} MiB",
                flush=True,
            )
            broken += len(outcome.broken)
            for at, (data, trace) in enumerate(outcome.broken):
                print(f"{data[:2000]!r}\n{trace}", file=sys.stderr, flush=True)
                if arguments.save:
                    arguments.save.mkdir(parents=True, exist_ok=True)
                    (arguments.save / f"{outcome.name.replace(' ', '-')}-{at}").write_bytes(data)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
