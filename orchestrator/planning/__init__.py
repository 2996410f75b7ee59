"""From a Matrix to a Plan: which cells run, why, where, and what that costs."""
