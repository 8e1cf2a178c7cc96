"""A queueing model of a routed network, and a statistic of channel loads.

Both bring columns that routelab has never heard of.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from routelab.api import (
    Citation,
    Column,
    EngineCase,
    EnginePlugin,
    EngineResult,
    Measurement,
    MetricPlugin,
    Numbers,
    Parameters,
    RouteTable,
    RoutingGraph,
    parameter,
)
from routelab.metrics import channel_loads, offered_loads, relative_loads

_ROWS = ("simulations", "loads")


class QueueingParameters(Parameters):
    """Offered loads, and the cycles of a hop."""

    loads: Numbers = parameter(
        (0.1, 0.2, 0.3), description="Offered loads, in flits per cycle and terminal"
    )
    hop_cycles: float = parameter(2.0, gt=0, description="Cycles of a hop without waiting")
    seed: int = parameter(0, ge=0, description="Seed of the traffic")


class Queueing(EnginePlugin):
    """Every channel is an M/D/1 queue; a packet waits at each channel of its route."""

    name = "queueing"
    summary = "Mean latency from an M/D/1 queue at every channel"
    citations = (
        Citation(
            "Kleinrock, Leonard. Queueing Systems, Volume I: Theory. Wiley, 1975",
            "",
            "the queue M/D/1",
        ),
    )
    work = "traffic"
    Parameters = QueueingParameters
    brief = MappingProxyType({"loads": (0.1,)})
    columns = (
        Column("load", "offered load", heading="offered load", of=("loads",)),
        Column(
            "queue_latency",
            "mean latency of a packet if every channel is an M/D/1 queue",
            heading="latency by queueing theory",
            unit="cycles",
            better="lower",
            of=_ROWS,
        ),
        Column("busiest_share", "utilisation of the busiest channel", better="lower", of=_ROWS),
    )

    def supports(self, case: EngineCase) -> str | None:
        """Return a reason for algorithms that decide hop by hop."""
        return "needs a route table" if case.routing.hop_by_hop else None

    def run(self, case: EngineCase) -> EngineResult:
        """Add up the waiting times along the routes; loads of a full channel have no latency."""
        table = case.routing.table(case.network)
        demand = case.work.demand(case.network, self.parameters.seed)
        share = relative_loads(case.network, offered_loads(table, demand))
        sent = float(demand.rate.sum())
        rows = [self._row(load, load * share, load * sent) for load in self.parameters.loads]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        facts = {name: value for name, value in rows[-1].items() if name != "load"}
        return EngineResult(facts, {"loads": columns})

    def _row(self, load: float, used: np.ndarray, sent: float) -> dict[str, float | None]:
        """Return one offered load: what channels carry, and what all terminals send, in flits."""
        busiest = float(used.max(initial=0))
        latency = None
        if busiest < 1:
            waiting = used / (2 * (1 - used))
            # a packet waits at every channel that it crosses
            latency = float((used * (self.parameters.hop_cycles + waiting)).sum()) / sent
        return {"load": load, "queue_latency": latency, "busiest_share": busiest}


class LoadGini(MetricPlugin):
    """Gini coefficient of the channel loads."""

    name = "load-gini"
    summary = "How unequal channel loads are: 0 for equal ones, near 1 if one channel has all"
    columns = (
        Column(
            "load_gini",
            "Gini coefficient of the channel loads: 0 if all are equal",
            heading="inequality of loads",
            better="lower",
            decimals=3,
        ),
    )

    def measure(self, table: RouteTable, graph: RoutingGraph | None) -> list[Measurement]:
        """Measure the loads; nothing where no packet leaves its switch."""
        loads = np.sort(channel_loads(table))
        if not loads.any():
            return []
        count = len(loads)
        rank = np.arange(1, count + 1)
        gini = float(((2 * rank - count - 1) * loads).sum() / (count * loads.sum()))
        return [Measurement("load_gini", gini)]
