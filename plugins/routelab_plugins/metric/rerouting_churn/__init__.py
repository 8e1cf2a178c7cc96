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
"""Name, heading, meaning, unit and preferred direction of each column."""


class ReroutingChurnParameters(Parameters):
    """Sample of failed links."""

    samples: int = parameter(
        0, ge=0, description="Number of links to fail, drawn at random; 0: all"
    )
    seed: int = parameter(0, ge=0, description="Seed of the draw")


class ReroutingChurn(ContextMetricPlugin):
    """Pairs whose route changes when one link fails and the same routing is computed again.

    A link fails with both of its channels. A route is its sequence of channels, without virtual
    channels. Remaining channels are identified by their position in the network, not by their new
    number.
    """

    name = "rerouting-churn"
    summary = "Routes that change when one link fails: forced changes, and all others"
    by_default = False
    Parameters = ReroutingChurnParameters
    columns = tuple(
        Column(
            name,
            meaning,
            heading=heading,
            unit=unit,
            better=better,
            group="When a link fails",
        )
        for name, heading, meaning, unit, better in _COLUMNS
    )

    def measure_in(self, context: MetricContext) -> list[Measurement]:
        """Measure means over failed links; the whole network is routed again for each.

        A link is refused if the routing does not support the network without it; the means leave it
        out. What is counted are ordered pairs of different terminals. Every changed pair is forced
        (its route crossed the link) or unforced; lost pairs are also counted in one of these.
        """
        table = context.table
        links = self._sample_links(len(table.topology.links))
        num_terminal_pairs = served_pairs(table).reshape(-1)
        changes = list(_count_changes(context, links, num_terminal_pairs))
        link_counts = [
            Measurement("churn_links", float(len(links))),
            Measurement("churn_refused", float(len(links) - len(changes))),
        ]
        total = float(num_terminal_pairs.sum())
        # nothing to average if all links are refused; no pairs if there is a single terminal
        if not changes or not total:
            return link_counts
        forced, unforced, lost = np.array(changes).T
        return [
            *link_counts,
            Measurement("churn_forced", float(forced.mean())),
            Measurement("churn_unforced", float(unforced.mean())),
            Measurement("churn_lost", float(lost.mean())),
            Measurement("churn_forced_share", float(forced.mean()) / total),
            Measurement("churn_unforced_share", float(unforced.mean()) / total),
            Measurement("churn_worst_share", float((forced + unforced).max()) / total),
        ]

    def _sample_links(self, num_links: int) -> Int64Array:
        """Return the numbers of the links to fail, ascending; all if the sample is 0."""
        samples = self.parameters.samples
        if not samples or samples >= num_links:
            return np.arange(num_links)
        # raw output is the same in every version of NumPy, unlike that of Generator's methods
        random_numbers = np.random.PCG64(self.parameters.seed).random_raw(num_links)
        order = np.argsort(random_numbers, kind="stable")
        # the beginning of one order, so that a larger sample includes a smaller one
        return np.sort(order[:samples])


def _count_changes(
    context: MetricContext, links: Int64Array, num_terminal_pairs: Float64Array
) -> Iterator[tuple[float, float, float]]:
    """Yield, for each failed link, how many pairs of terminals are forced, unforced and lost.

    Forced pairs have a route over the link. Unforced pairs are all others whose route changes, or
    that gain or lose one. Lost pairs have no route any more. A link without which the routing does
    not apply yields nothing.

    Parameters
    ----------
    context : MetricContext
    links : int64 array
        Numbers of the links that fail, one at a time.
    num_terminal_pairs : float64 array, shape (P * D,)
        Pairs of terminals that use the route of each pair of the table (P sources, D destinations).
    """
    table = context.table
    for link in table.topology.links[links]:
        failed: BoolArray = np.zeros(table.topology.num_channels, dtype=np.bool_)
        failed[link[link >= 0]] = True  # −1 for a direction without a channel
        try:
            new_table = context.reroute(table.topology.without(channels=link.tolist()))
        except (InputError, UnsupportedError):
            # an input error means that parameters do not fit the remaining network
            continue
        # the kernels compare the pairs of both tables by their number
        if new_table.per_terminal != table.per_terminal:
            raise PluginError(
                "rerouting-churn: the old and the new routes have different kinds of destinations"
            )
        crossing = crossing_pairs(table.pair_start, table.path_start, table.hop_channel, failed)
        # the remaining channels keep their order: new channel i is the i-th that has not failed
        old_channel = np.flatnonzero(~failed)
        changed = changed_pairs(_path_arrays(table), _path_arrays(new_table), old_channel)
        lost = (np.diff(table.pair_start) > 0) & (np.diff(new_table.pair_start) == 0)
        forced = num_terminal_pairs[crossing].sum()
        unforced = num_terminal_pairs[changed & ~crossing].sum()
        yield float(forced), float(unforced), float(num_terminal_pairs[lost].sum())


def _path_arrays(table: RouteTable) -> tuple[Int64Array, Int64Array, Float64Array, object]:
    """Return the arrays that `changed_pairs` compares, in its order."""
    return table.pair_start, table.path_start, table.path_weight, table.hop_channel
