"""Plan -> Run: the run folder, its journal, the order of the cells, this machine, and the end in one merge."""
