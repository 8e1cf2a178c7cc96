"""Processes by who started them, read with `ps`: independent of routelab's own reading."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from typing import Any

import pytest


class Processes:
    """All processes at one moment."""

    def __init__(self) -> None:
        columns = ["ps", "-eww", "-o", "pid=", "-o", "ppid=", "-o", "stat=", "-o", "lstart=,args="]
        listed = subprocess.run(columns, capture_output=True, text=True, check=True).stdout
        self.parent: dict[int, int] = {}
        self.command: dict[int, str] = {}
        self.identity: dict[int, str] = {}
        for line in listed.splitlines():
            pid, parent, state, rest = line.split(None, 3)
            if state.startswith("Z"):
                continue  # it has ended; its parent has not looked yet
            begun, command = rest[:24], rest[24:].strip()
            self.parent[int(pid)] = int(parent)
            self.command[int(pid)] = command
            self.identity[int(pid)] = f"{pid} {begun}"

    def below(self, root: int) -> list[int]:
        """Descendants of a process, parents first."""
        children = [pid for pid, parent in self.parent.items() if parent == root]
        return children + [descendant for pid in children for descendant in self.below(pid)]

    def identities(self, pids: list[int]) -> dict[str, str]:
        """Commands of processes, by what tells them from later ones with the same number."""
        return {self.identity[pid]: self.command[pid] for pid in pids if pid in self.identity}


def left_after(known: dict[str, str], seconds: float) -> list[str]:
    """Commands of those of some processes that are still there after some time."""
    deadline = time.monotonic() + seconds
    while True:
        now = set(Processes().identity.values())
        left = [command for identity, command in known.items() if identity in now]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Wait for something; fail if it does not happen."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def thoroughly(*more: object) -> list[Any]:
    """Return parameters that take as long as the others and find less: not for CI."""
    return [pytest.param(parameter, marks=pytest.mark.thorough) for parameter in more]
