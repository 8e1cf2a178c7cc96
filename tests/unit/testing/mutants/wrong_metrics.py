"""Wrong metrics; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from right import RightContextMetric, RightMetric

from routelab.api import Measurement


class DividesByNothing(RightMetric):
    name = "divides-by-nothing"
    caught = "numbers", "mean_hops is nan"

    def measure(self, table, graph):
        hops = table.path_length
        return [Measurement("mean_hops", hops.mean() if hops.sum() else float("nan"))]


class CountsInText(RightMetric):
    name = "counts-in-text"
    caught = "numbers", "is '7'"

    def measure(self, table, graph):
        return [Measurement("hops", "7")]


class TwoWords(RightMetric):
    name = "two-words"
    caught = "names", "'Mean hops' is no name"

    def measure(self, table, graph):
        return [Measurement("Mean hops", 1.0)]


class Upwards(RightMetric):
    name = "upwards"
    caught = "names", "better is 'up'"

    def measure(self, table, graph):
        return [Measurement("hops", 1.0, "hops", "up")]


class Unitless(RightMetric):
    name = "unitless"
    caught = "names", "the unit is None"

    def measure(self, table, graph):
        return [Measurement("hops", 1.0, None)]


class SaysItTwice(RightMetric):
    name = "says-it-twice"
    caught = "names", "measured more than once"

    def measure(self, table, graph):
        return [Measurement("hops", 1.0), Measurement("hops", 2.0)]


class NeedsRules(RightMetric):
    name = "needs-rules"
    caught = "result", "'NoneType' object has no attribute 'num_edges'"

    def measure(self, table, graph):
        return [Measurement("edges", float(graph.num_edges))]


class BareNumbers(RightMetric):
    name = "bare-numbers"
    caught = "result", "expected a list of Measurement"

    def measure(self, table, graph):
        return [1.0]


class NoList(RightMetric):
    name = "no-list"
    caught = "result", "expected a list, found generator"

    def measure(self, table, graph):
        yield Measurement("hops", 1.0)


class TakesWhatIsNotThere(RightContextMetric):
    name = "takes-what-is-not-there"
    caught = "result", "there is no channel 0, there are none"

    def measure_in(self, context):
        context.reroute(context.table.topology.without(channels=[0]))
        return []


class Undecided(RightContextMetric):
    name = "undecided"
    by_default = "sometimes"
    caught = "contract", "expected by_default to be True or False, found 'sometimes'"
