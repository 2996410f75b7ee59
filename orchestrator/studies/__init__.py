"""Questions that need more than one answer: what a change does to production, and the order of an upgrade."""
