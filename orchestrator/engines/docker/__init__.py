"""Cells in containers, one container each."""
