"""Cells as processes of this machine, each in its own session.

Weaker than a container, and said so: a cell sees the machine's files and network; its memory is watched, not limited;
how many processes it starts is not limited; a process that leaves its session and clears its environment escapes.
"""
