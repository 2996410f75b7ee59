"""What people read of a plan and a run: the grid in the terminal and the page that is kept."""
