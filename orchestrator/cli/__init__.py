"""The command line. Only this package prints or exits."""

from orchestrator.cli.main import main, torchmatrix

__all__ = ["main", "torchmatrix"]
