"""Columns of the numbers that this package computes, for facts of a run and for metrics."""

from __future__ import annotations

from typing import Final

from routelab.api.columns import Column

_LOAD, _LENGTH, _CHOICE, _REACHED = (
    "Load of channels",
    "Length of routes",
    "Choice of routes",
    "Reachable pairs",
)

MAX_LOAD: Final = Column(
    "max_load",
    "load of the busiest channel, the edge-forwarding index of the table. An all-to-all exchange "
    "takes at least the time that this channel needs",
    heading="maximum channel load",
    unit="routes",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LOAD,
)
MIN_LOAD: Final = Column(
    "min_load",
    "load of the least busy channel. A value far below the maximum indicates an uneven table",
    heading="minimum channel load",
    unit="routes",
    better="higher",
    shown=("evaluate", "evaluate-all"),
    group=_LOAD,
)
MEAN_LOAD: Final = Column(
    "mean_load",
    "mean load of the channels, weighted by capacity: the hops of all routes, divided by the "
    "number of channels. A channel with a quarter of the greatest capacity counts as a quarter "
    "of a channel. Detours increase the mean load",
    heading="mean channel load",
    unit="routes",
    better="lower",
    shown=("evaluate-all",),
    group=_LOAD,
)
PERFECT_LOAD: Final = Column(
    "perfect_load",
    "mean load if all routes are as short as the network allows. No table has a smaller maximum "
    "load",
    heading="mean channel load on minimal routes",
    unit="routes",
    group=_LOAD,
)


def sigma_column(k: int) -> Column:
    """Return the column ``sigma{k}``, for the deviation σ(k) from the perfect load."""
    return Column(
        f"sigma{k}",
        "deviation from the perfect load: k-th root of the mean of |load − perfect load|^k over "
        f"the channels, for k = {k}; σ(k) of the Angara paper. Overloaded channels count most. "
        "The metric `channel-load~k=2` gives `sigma2`, and so on",
        heading=f"load deviation σ({k})",
        unit="routes",
        better="lower",
        shown=("evaluate", "evaluate-all") if k == SIGMA else (),
        decimals=3,
        group=_LOAD,
    )


SIGMA: Final = 4
"""The power k of the deviation σ(k) that every run measures."""

LOADS: Final = (MAX_LOAD, MIN_LOAD, MEAN_LOAD, sigma_column(SIGMA))

MAX_HOPS: Final = Column(
    "max_hops",
    "number of channels of the longest path; the diameter if all paths are minimal",
    heading="maximum path length",
    unit="hops",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LENGTH,
)
MEAN_HOPS: Final = Column(
    "mean_hops",
    "mean number of hops over all pairs with a route; terminals of one switch have 0 hops",
    heading="mean path length",
    unit="hops",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LENGTH,
)
TURNS: Final = (
    Column(
        "max_turns",
        "largest number of direction changes on a path; only for networks with direction labels",
        heading="maximum turns per path",
        unit="turns",
        better="lower",
        group=_LENGTH,
    ),
    Column(
        "mean_turns",
        "mean number of direction changes over all pairs with a route",
        heading="mean turns per path",
        unit="turns",
        better="lower",
        group=_LENGTH,
    ),
)

SINGLE_ROUTE_SHARE: Final = Column(
    "single_route_share",
    "share of pairs on different switches with only one shortest legal route: every selection "
    "gives them the same one",
    heading="share of pairs with one shortest route",
    better="lower",
    shown=("evaluate-all",),
    group=_CHOICE,
)
DIVERSITY: Final = (
    SINGLE_ROUTE_SHARE,
    Column(
        "mean_routes",
        "number of shortest legal routes per pair, distinct as sequences of channels",
        heading="mean shortest routes per pair",
        unit="routes",
        better="higher",
        group=_CHOICE,
    ),
    Column(
        "total_routes",
        "number of shortest legal routes, summed over all pairs",
        heading="shortest routes of all pairs",
        unit="routes",
        better="higher",
        group=_CHOICE,
    ),
)

PAIRS: Final = Column(
    "pairs",
    "ordered pairs of different terminals",
    heading="pairs of terminals",
    unit="pairs",
    shown=("evaluate", "evaluate-all"),
    group=_REACHED,
)
REACHABLE_PAIRS: Final = Column(
    "reachable_pairs",
    "pairs with a route",
    heading="pairs with a route",
    unit="pairs",
    better="higher",
    shown=("evaluate", "evaluate-all"),
    group=_REACHED,
)
REACHABILITY: Final = (
    PAIRS,
    REACHABLE_PAIRS,
    Column(
        "connected_pairs",
        "pairs joined by any path in the network (without failed parts), legal or not",
        heading="connected pairs",
        unit="pairs",
        group=_REACHED,
    ),
    Column(
        "minimal_pairs",
        "pairs whose paths are all as short as the network allows",
        heading="pairs on minimal paths",
        unit="pairs",
        better="higher",
        group=_REACHED,
    ),
    Column(
        "routable_share",
        "reachable pairs / connected pairs",
        heading="share of pairs with a route",
        better="higher",
        group=_REACHED,
    ),
    Column(
        "minimal_share",
        "minimal pairs / connected pairs",
        heading="share of pairs on minimal paths",
        better="higher",
        group=_REACHED,
    ),
    Column(
        "fully_routable",
        "1 if every connected pair has a route, else 0. The mean over runs is the share of "
        "networks that stay routable",
        heading="share of networks with all pairs routed",
        better="higher",
        group=_REACHED,
    ),
    Column(
        "fully_minimal",
        "1 if every connected pair has only minimal routes, else 0",
        heading="share of networks with all paths minimal",
        better="higher",
        group=_REACHED,
    ),
)
