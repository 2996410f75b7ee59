"""The loads: each is checked before it is timed."""
