"""torchmatrix: a containerized version-matrix CI orchestrator for PyTorch."""
