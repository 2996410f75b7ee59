"""Cells as processes of this machine, each in its own session.

Weaker than a container, and said so: a cell sees the machine's files and network, memory is watched and not
limited, and a process that leaves its session and clears its environment escapes the clean-up.
"""
