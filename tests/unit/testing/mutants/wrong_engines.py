"""Wrong engines; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from random import random

from right import RightEngine, RightWorkloadEngine

from routelab.api import Column, EngineResult


class Undeclared(RightEngine):
    name = "undeclared"
    caught = "columns", "`columns` does not declare secret of simulations"

    def run(self, case):
        found = super().run(case)
        return EngineResult({**found.facts, "secret": 1}, found.tables)


class NeverReturned(RightEngine):
    name = "never-returned"
    caught = "columns", "it declares hops of loads and does not return it"
    columns = (*RightEngine.columns, Column("hops", "Number of hops", of=("loads",)))


class Crooked(RightWorkloadEngine):
    name = "crooked"
    caught = "columns", "have different lengths"
    columns = (*RightWorkloadEngine.columns, Column("switch", "Its switch", of=("flow-ranks",)))

    def run(self, case):
        found = super().run(case)
        return EngineResult(found.facts, {"flow-ranks": {"rank": [0, 1], "switch": ["a"]}})


class NotPlain(RightWorkloadEngine):
    name = "not-plain"
    caught = "columns", "fact completion_time_s is tuple, expected a number"

    def run(self, case):
        return EngineResult({"completion_time_s": (1.0,)})


class BareFacts(RightEngine):
    name = "bare-facts"
    caught = "result", "expected a EngineResult, found dict"

    def run(self, case):
        return super().run(case).facts


class Crashes(RightEngine):
    name = "engine-crashes"
    caught = "result", "run() raised KeyError"

    def run(self, case):
        raise KeyError("channel")


class Drawn(RightWorkloadEngine):
    name = "drawn-anew"
    caught = "repeatable", "a second run differs in facts"

    def run(self, case):
        return EngineResult({"completion_time_s": 1 + random()})


class Generous(RightEngine):
    name = "generous"
    caught = "accepted", "accepted_load is 0.9, and only 0.45 was offered"

    def accepted(self, load, bound):
        return 2 * load


class Beyond(RightEngine):
    name = "beyond"
    caught = "saturation", "a channel is full at"

    def bound(self, case):
        return 2 * super().bound(case)


class FasterThanLight(RightWorkloadEngine):
    name = "faster-than-light"
    caught = "completion", "the busiest channel needs"

    def run(self, case):
        return EngineResult({"completion_time_s": 1e-9})


class Nowhere(RightEngine):
    name = "nowhere"
    caught = "applies", "it supports none of the inputs"

    def supports(self, case):
        return f"not on {case.network.num_switches} switches"
