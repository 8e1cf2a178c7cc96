"""Number of routes that change when one link fails and the whole table is recomputed."""

from __future__ import annotations

from collections.abc import Iterator
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

_COLUMNS: tuple[tuple[str, str, str, str, Literal["lower", ""]], ...] = (
    ("churn_links", "failed links tried", "number of links that were tried as failed", "links", ""),
    (
        "churn_refused",
        "failed links without support",
        "number of tried links without which the routing does not apply",
        "links",
        "lower",
    ),
    (
        "churn_forced",
        "pairs forced to change route",
        "mean number of pairs whose route crossed the failed link and must change",
        "pairs",
        "lower",
    ),
    (
        "churn_unforced",
        "pairs that change route without need",
        "mean number of other pairs whose route changes as well",
        "pairs",
        "lower",
    ),
    (
        "churn_lost",
        "pairs that lose their route",
        "mean number of pairs that lose their route",
        "pairs",
        "lower",
    ),
    (
        "churn_forced_share",
        "share of pairs forced to change route",
        "`churn_forced` as a share of all pairs",
        "",
        "lower",
    ),
    (
        "churn_unforced_share",
        "share of pairs that change route without need",
        "`churn_unforced` as a share of all pairs",
        "",
        "lower",
    ),
    (
        "churn_worst_share",
        "share of pairs that change route, worst link",
        "share of all pairs whose route changes, forced or not, for the worst link",
        "",
        "lower",
    ),
)


class ReroutingChurnParameters(Parameters):
    """Sample of failed links."""

    samples: int = parameter(
        0, ge=0, description="Number of links to fail, drawn at random; 0: all"
    )
    seed: int = parameter(0, ge=0, description="Seed of the draw")


class ReroutingChurn(ContextMetricPlugin):
    """One link fails, with both channels, and the same routing routes the remaining network.

    A route is its sequence of channels, without virtual channels. Remaining channels are identified
    by their position in the network, not by their new number.
    """

    name = "rerouting-churn"
    summary = "Routes that change when one link fails: forced changes, and all others"
    by_default = False
    Parameters = ReroutingChurnParameters
    columns = tuple(
        Column(name, meaning, heading, unit, better, group="When a link fails")
        for name, heading, meaning, unit, better in _COLUMNS
    )

    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Measure means over failed links; the whole network is routed again for each.

        Links without which the routing does not apply are counted as refused and left out of the
        means. Numbers are ordered pairs of different terminals. Every changed pair is forced (its
        route crossed the link) or unforced; lost pairs are also counted in one of these.
        """
        table = context.table
        links = self._links(len(table.topology.links))
        pairs_of = served_pairs(table).reshape(-1)
        churns = list(_churns(context, links, pairs_of))
        numbers = [
            Measurement("churn_links", float(len(links))),
            Measurement("churn_refused", float(len(links) - len(churns))),
        ]
        total = float(pairs_of.sum())
        if not churns or not total:
            return numbers
        forced, unforced, lost = np.array(churns).T
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
        """Return the numbers of links, ascending; a larger sample includes a smaller one."""
        samples = self.parameters.samples
        if not samples or samples >= count:
            return np.arange(count)
        # raw output is the same in every version of NumPy, unlike that of Generator's methods
        order = np.argsort(np.random.PCG64(self.parameters.seed).random_raw(count), kind="stable")
        return np.sort(order[:samples])


def _churns(
    context: MetricContext, links: Int64Array, pairs_of: Float64Array
) -> Iterator[tuple[float, float, float]]:
    """Yield the changes without each link, if the routing applies then.

    These are numbers of pairs of terminals: forced, unforced and lost ones. Forced pairs have a
    route over the link. Unforced pairs are all others whose route changes, or that gain or lose
    one. `pairs_of`: number of terminal pairs of each pair of the table.
    """
    table = context.table
    for link in table.topology.links[links]:
        failed: BoolArray = np.zeros(table.topology.num_channels, dtype=np.bool_)
        failed[link[link >= 0]] = True
        try:
            after = context.reroute(table.topology.without(channels=link.tolist()))
        except (InputError, UnsupportedError):
            # an input error means that parameters do not fit the remaining network
            continue
        if after.per_terminal != table.per_terminal:
            raise PluginError(
                "rerouting-churn: the old and the new routes have different kinds of destinations"
            )
        crossing = crossing_pairs(table.pair_start, table.path_start, table.hop_channel, failed)
        # the remaining channels keep their order
        changed = changed_pairs(_arrays(table), _arrays(after), np.flatnonzero(~failed))
        without_route = (np.diff(table.pair_start) > 0) & (np.diff(after.pair_start) == 0)
        forced, unforced = pairs_of[crossing].sum(), pairs_of[changed & ~crossing].sum()
        yield float(forced), float(unforced), float(pairs_of[without_route].sum())


def _arrays(table: RouteTable) -> tuple[Int64Array, Int64Array, Float64Array, object]:
    return table.pair_start, table.path_start, table.path_weight, table.hop_channel
