"""Where a cell runs. An engine returns an Attempt with an Exit, which is facts; it never decides what they mean."""
