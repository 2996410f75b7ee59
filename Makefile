# Two commands matter: `make run` and `make test`. Both set up all they need on a fresh checkout.
# make turns every failing recipe's exit code into 2: CI reads ours from `torchmatrix` itself.
.PHONY: run test lint schemas cases facts bench fuzz crash-matrix clean

# A name on PATH may be a shim of a version that is not installed, so each is tried.
PYTHON ?= $(shell for p in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
BIN := .venv/bin
# The suite's own tests need a torch; this is the newest that has a small CPU wheel on a machine of ours.
TORCH ?= torch==2.13.0

run: .venv/run
	$(BIN)/torchmatrix run --here

# A core each, but for the tests that build, pull and remove images: one engine has one store of them.
test: .venv/test lint
	$(BIN)/python -m pytest --ignore=tests/integration --numprocesses=auto --maxprocesses=8 --dist=worksteal --durations=15
	$(BIN)/python -m pytest tests/integration --durations=15

lint: .venv/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

schemas: .venv/test
	$(BIN)/python tests/generate_schemas.py

cases: .venv/test
	$(BIN)/python tests/generate_cases.py

facts: .venv/test
	$(BIN)/python tests/generate_facts.py
	$(BIN)/python tests/generate_peaks.py

# So many inputs for each parser of bytes that we did not write; some hours of one core.
N ?= 100000
fuzz: .venv/test
	$(BIN)/python tests/fuzz/fuzz.py --inputs $(N)

# Every step of a run's journal, at its begin and its end, times everything that can befall it; a part of it is in `test`.
crash-matrix: .venv/test
	$(BIN)/python tests/faults/crash_matrix.py

bench: .venv/test
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/startup.py
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/check.py
	$(BIN)/python benchmarks/pairwise.py
	$(BIN)/python benchmarks/cell_overhead.py
	$(BIN)/python benchmarks/warm_run.py
	$(BIN)/python benchmarks/repeatability.py

.venv/bin/python:
	sh .ci/venv "$(PYTHON)" .venv

.venv/run: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/test: pyproject.toml | .venv/bin/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	$(BIN)/python -m pip install --quiet '$(TORCH)' numpy
	touch $@ .venv/run

clean:
	rm -rf .venv runs dist
