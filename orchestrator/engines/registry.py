"""The engines by name."""

from collections.abc import Callable, Mapping

from orchestrator.engines.docker.run import DockerEngine
from orchestrator.engines.engine import Engine
from orchestrator.engines.here.run import HereEngine
from orchestrator.engines.process.run import ProcessEngine

ENGINES: Mapping[str, Callable[[], Engine]] = {
    "docker": DockerEngine,
    "process": ProcessEngine,
    "here": HereEngine,
}
