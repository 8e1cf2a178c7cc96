"""Whoever waits for the first compilation hears of it, once."""

from __future__ import annotations

from numba import njit

from routelab._runtime.numba_hook import when_compiling
from routelab.jobs.child import run_in_child


def test_the_first_compilation_is_announced_once():
    def work():
        messages = []
        when_compiling(lambda: messages.append("compiles"))
        before = len(messages)
        results = [njit(lambda number, step=step: number + step)(1) for step in (1, 2)]
        return before, results, messages

    assert run_in_child(work) == (0, [2, 3], ["compiles"])
