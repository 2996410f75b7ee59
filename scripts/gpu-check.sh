#!/bin/sh
# The suite alone on one device, in under 8 minutes: every load once at full size, the small ones once through the
# compiler, then a minute under load. Needs a Python with torch and pytest, and nothing else of torchmatrix.
#
#   sh scripts/gpu-check.sh [--device auto|cuda|rocm|xpu|mps] [--out FOLDER] [--python PYTHON] [--dry-run]
#
# Leaves a bundle for each part in FOLDER and a table on standard output. Exits 0 all passed, 1 a test failed or a part
# ran past its time, 2 usage, 4 no such device here or one that was lost. --dry-run makes all parts short; with
# `--device cpu` it shows here what it does there.
set -u

device=auto out= python=${PYTHON:-python3} profile=standard seconds=60 more=
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit "$1"; }
while [ $# -gt 0 ]; do
    case $1 in
        --device | --out | --python)
            [ $# -gt 1 ] || usage 2 >&2
            name=${1#--}
            eval "$name=\$2"
            shift
            ;;
        --dry-run) profile=smoke seconds=5 more='--size 64 --steps 2' ;;
        -h | --help) usage 0 ;;
        *) usage 2 >&2 ;;
    esac
    shift
done

here=$(cd "$(dirname "$0")/.." && pwd)
PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
[ -n "$out" ] || out=$(mktemp -d "${TMPDIR:-/tmp}/gpu-check-XXXXXX") || exit 4
mkdir -p "$out" || exit 2

# Every limit and what is granted after it, together, stay under the 8 minutes: a driver that hangs must not take more.
limited() { timeout -k 10 "$@"; }

# `auto` never stands for the processor here: a check that fell back to it would say that a device is well.
found=$(limited 30 "$python" - "$device" <<'PYTHON'
import sys
try:
    import pytest, torch
    from suites import devices
    module = devices.pick(sys.argv[1])
    if sys.argv[1] == "auto" and module.place() == "cpu":
        why = [f"{name}{devices.adapter(name).why_missing()}" for name in devices.NAMES if name != "cpu"]
        raise devices.DeviceMissing("no device beside the processor: " + "; ".join(why))
    print(module.__name__.rsplit(".", 1)[-1])
except ImportError as error:
    sys.exit(f"gpu-check: {sys.executable} lacks torch or pytest: {error}")
except devices.DeviceMissing as error:
    sys.exit(f"gpu-check: device missing: {error}")
PYTHON
) || {
    case $? in 124 | 137) echo "gpu-check: device lost: torch did not answer within 30 s" >&2 ;; esac
    exit 4
}

worst=0
# part NAME SECONDS OPTION...: one run of the suite with a bundle of its own; the worst exit code is ours, 4 before all.
part() {
    name=$1 limit=$2
    shift 2
    echo "== $name on $found, at most $limit s"
    limited "$limit" "$python" -m suites --device "$found" --out "$out/$name" "$@"
    code=$?
    [ $code -ne 124 ] && [ $code -ne 137 ] || { echo "gpu-check: $name did not end within $limit s"; code=1; }
    [ $code -eq 0 ] || [ $worst -eq 4 ] || worst=$code
}

begin=$(date +%s)
export SUITES_DEEP_HEALTH_S=$seconds
# shellcheck disable=SC2086 # options, none of which holds a space
part eager 220 --profile $profile $more
[ $worst -eq 4 ] || part inductor 100 --profile smoke --backend inductor --load 'matmul*' --load 'elementwise*' $more
[ $worst -eq 4 ] || part deep-health 85 --profile deep --load 'environment*'
echo "== $(($(date +%s) - begin)) s, exit $worst, bundles in $out"
exit $worst
