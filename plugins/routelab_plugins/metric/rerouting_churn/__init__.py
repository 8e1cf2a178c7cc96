"""How many routes change when one link fails and the whole table is made again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from routelab.api import (
    Column,
    ContextMetricPlugin,
    InputError,
    Measurement,
    MetricContext,
    Parameters,
    PluginError,
    RouteTable,
    UnsupportedError,
    parameter,
)
from routelab.api.topology import BoolArray, Float64Array, Int64Array
from routelab.metrics import served_pairs

from .kernels import changed_pairs, crossing_pairs

_COLUMNS: tuple[tuple[str, str, str, Literal["lower", ""]], ...] = (
    ("churn_links", "number of links that were tried as failed", "links", ""),
    (
        "churn_refused",
        "number of tried links without which the routing does not apply",
        "links",
        "lower",
    ),
    (
        "churn_forced",
        "mean number of pairs whose route crossed the failed link and must change",
        "pairs",
        "lower",
    ),
    (
        "churn_unforced",
        "mean number of other pairs whose route changes as well",
        "pairs",
        "lower",
    ),
    (
        "churn_lost",
        "mean number of pairs that lose their route",
        "pairs",
        "lower",
    ),
    ("churn_forced_share", "`churn_forced` as a share of all pairs", "", "lower"),
    ("churn_unforced_share", "`churn_unforced` as a share of all pairs", "", "lower"),
    (
        "churn_worst_share",
        "share of all pairs whose route changes, forced or not, for the worst link",
        "",
        "lower",
    ),
)


class ReroutingChurnParameters(Parameters):
    """Which links are tried."""

    samples: int = parameter(
        0, ge=0, description="Number of links that are tried, chosen at random; 0: all"
    )
    seed: int = parameter(0, ge=0, description="Seed of the choice")


@dataclass(frozen=True)
class Churn:
    """What one failed link does to the routes, in ordered pairs of different terminals.

    Attributes
    ----------
    forced : float
        Pairs with a route over the link: they have to change.
    unforced : float
        Other pairs whose route changes (or that win or lose one) all the same.
    lost : float
        Pairs that had a route and have none any more.
    """

    forced: float
    unforced: float
    lost: float


class ReroutingChurn(ContextMetricPlugin):
    """One link fails, with both channels; the same routing routes what is left.

    A route is the sequence of its channels; on which virtual channels is not looked at. Channels
    that are left are known by their place in the network, not by their new number.
    """

    name = "rerouting-churn"
    summary = "Routes that change when one link fails, those that had to, and all others"
    by_default = False
    Parameters = ReroutingChurnParameters
    columns = tuple(
        Column(name, meaning, unit=unit, better=better, group="When a link fails")
        for name, meaning, unit, better in _COLUMNS
    )

    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Means over the links tried, one routing of the whole network each.

        Links without which the routing does not apply are counted and left out of the means.
        """
        table = context.table
        links = self._links(len(table.topology.links))
        weight = served_pairs(table).reshape(-1)
        found = list(_churns(context, links, weight))
        numbers = [
            Measurement("churn_links", float(len(links))),
            Measurement("churn_refused", float(len(links) - len(found))),
        ]
        total = float(weight.sum())
        if not found or not total:
            return numbers
        forced, unforced, lost = (
            np.array([getattr(one, name) for one in found])
            for name in ("forced", "unforced", "lost")
        )
        return [
            *numbers,
            Measurement("churn_forced", float(forced.mean())),
            Measurement("churn_unforced", float(unforced.mean())),
            Measurement("churn_lost", float(lost.mean())),
            Measurement("churn_forced_share", float(forced.mean()) / total),
            Measurement("churn_unforced_share", float(unforced.mean()) / total),
            Measurement("churn_worst_share", float((forced + unforced).max()) / total),
        ]

    def _links(self, count: int) -> Int64Array:
        """Numbers of the links to try, ascending; with one seed more include the fewer."""
        samples = self.parameters.samples
        if not samples or samples >= count:
            return np.arange(count)
        # raw output: unlike that of Generator's methods it is the same in every numpy
        order = np.argsort(np.random.PCG64(self.parameters.seed).random_raw(count), kind="stable")
        return np.sort(order[:samples])


def _churns(context: MetricContext, links: Int64Array, weight: Float64Array) -> Iterator[Churn]:
    """What becomes of the routes without each link that the routing can do without."""
    table = context.table
    for link in table.topology.links[links]:
        lost: BoolArray = np.zeros(table.topology.num_channels, dtype=np.bool_)
        lost[link[link >= 0]] = True
        try:
            after = context.reroute(table.topology.without(channels=link.tolist()))
        except (InputError, UnsupportedError):
            # an input error is about parameters that do not fit what is left
            continue
        if after.per_terminal != table.per_terminal:
            raise PluginError("rerouting-churn: the new routes are not to what the old ones are to")
        yield _churn(table, after, lost, weight)


def _churn(table: RouteTable, after: RouteTable, lost: BoolArray, weight: Float64Array) -> Churn:
    crossing = crossing_pairs(table.pair_start, table.path_start, table.hop_channel, lost)
    # what is left keeps its order
    changed = changed_pairs(_arrays(table), _arrays(after), np.flatnonzero(~lost))
    gone = (np.diff(table.pair_start) > 0) & (np.diff(after.pair_start) == 0)
    return Churn(
        forced=float(weight[crossing].sum()),
        unforced=float(weight[changed & ~crossing].sum()),
        lost=float(weight[gone].sum()),
    )


def _arrays(table: RouteTable) -> tuple[Int64Array, Int64Array, Float64Array, object]:
    return table.pair_start, table.path_start, table.path_weight, table.hop_channel
