#!/bin/sh
# The suite on a torch that no cell of the matrix has: a virtual environment of its own, then the loads as they are and
# through inductor. Outside CI, since a torch of another release may bring gigabytes.
#
#   sh scripts/other-torch.sh TORCH [--python PYTHON] [--profile smoke|standard|deep] [--folder FOLDER]
#
# TORCH is a version as pip reads it (2.14.1, or 2.14.*). pip takes it from where it is configured to look; a folder
# (made if missing, else a new one) keeps the environment and both bundles, and is used again. Tables go to standard
# output. Exits 0 all passed, 1 a test failed, 2 usage, 4 the environment could not be made.
set -u

torch= python=${PYTHON:-python3} profile=smoke folder=
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit "$1"; }
while [ $# -gt 0 ]; do
    case $1 in
        --python | --profile | --folder)
            [ $# -gt 1 ] || usage 2 >&2
            name=${1#--}
            eval "$name=\$2"
            shift
            ;;
        -h | --help) usage 0 ;;
        -*) usage 2 >&2 ;;
        *) [ -z "$torch" ] || usage 2 >&2; torch=$1 ;;
    esac
    shift
done
[ -n "$torch" ] || usage 2 >&2

here=$(cd "$(dirname "$0")/.." && pwd)
[ -n "$folder" ] || folder=$(mktemp -d "${TMPDIR:-/tmp}/other-torch-XXXXXX") || exit 4
"$python" -m venv "$folder/venv" || exit 4
# numpy as in every image of the matrix: torch warns without it.
"$folder/venv/bin/python" -m pip install --quiet "torch==$torch" numpy pytest || exit 4

PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
worst=0
for backend in eager inductor; do
    "$folder/venv/bin/python" -m suites --device cpu --profile "$profile" --backend $backend --out "$folder/$backend"
    code=$?
    [ $code -le $worst ] || worst=$code
done
echo "torch $torch, exit $worst, bundles in $folder"
exit $worst
