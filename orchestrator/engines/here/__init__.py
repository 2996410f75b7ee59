"""Cells in the interpreter that is there: a GPU node, a Slurm or Kubernetes job, a CI job in the cell's own image."""
