import subprocess
import sys

import pytest

from orchestrator.engines.registry import ENGINES


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_knows_its_name(name: str) -> None:
    assert ENGINES[name]().name == name


def test_no_engine_loads_docker_py_before_it_runs() -> None:
    """It takes a tenth of a second, which `--help` does not have."""
    look = "import sys, orchestrator.engines.registry; print({'docker', 'requests', 'psutil'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
