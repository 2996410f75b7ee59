"""From matrix.yaml to a Matrix: every problem of the file is told at once, with its line and column."""
