"""Wrong metrics; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

from right import RightContextMetric, RightMetric

from routelab.api import Column, Measurement

HOPS = (Column("hops", "hops of something"),)


class DividesByNothing(RightMetric):
    name = "divides-by-nothing"
    columns = (Column("mean_hops", "mean over the paths"),)
    caught = "numbers", "mean_hops is nan"

    def measure(self, table, graph):
        hops = table.path_length
        return [Measurement("mean_hops", hops.mean() if hops.sum() else float("nan"))]


class TwoWords(RightMetric):
    name = "two-words"
    caught = "names", "'Mean hops' is not a valid name"

    def measure(self, table, graph):
        return [Measurement("Mean hops", 1.0)]


class Undeclared(RightMetric):
    name = "undeclared"
    columns = HOPS
    caught = "names", "edges is not among the columns (hops)"

    def measure(self, table, graph):
        return [Measurement("edges", 1.0)]


class ColumnInText(RightMetric):
    name = "column-in-text"
    columns = ("hops",)
    caught = "contract", "expected columns to be a sequence of Column, found ('hops',)"


class SaysItTwice(RightMetric):
    name = "says-it-twice"
    columns = HOPS
    caught = "names", "measured more than once"

    def measure(self, table, graph):
        return [Measurement("hops", 1.0), Measurement("hops", 2.0)]


class NeedsRules(RightMetric):
    name = "needs-rules"
    columns = (Column("edges", "edges of the rules"),)
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
    columns = HOPS
    caught = "result", "expected a list, found generator"

    def measure(self, table, graph):
        yield Measurement("hops", 1.0)


class TakesWhatIsNotThere(RightContextMetric):
    name = "takes-what-is-not-there"
    caught = "result", "there is no channel 0, there are none"

    def measure_in(self, context):
        context.reroute(context.table.topology.without(channels=[0]))
        return []
