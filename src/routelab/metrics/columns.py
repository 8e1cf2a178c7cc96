"""Columns of the numbers that this package computes; facts of a run and metrics share them."""

from __future__ import annotations

from typing import Final

from routelab.api.columns import Column

_LOAD, _LENGTH, _CHOICE, _REACHED = (
    "Load of channels",
    "Lengths",
    "What the rules leave to choose from",
    "Who is reached",
)

MAX_LOAD: Final = Column(
    "max_load",
    "load of the busiest channel (the edge-forwarding index of the table). It bounds the time of "
    "an all-to-all exchange from below",
    heading="maximum load",
    unit="routes",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LOAD,
)
MIN_LOAD: Final = Column(
    "min_load",
    "load of the idlest channel. Far below the maximum means an uneven table",
    heading="minimum load",
    unit="routes",
    better="higher",
    shown=("evaluate", "evaluate-all"),
    group=_LOAD,
)
MEAN_LOAD: Final = Column(
    "mean_load",
    "mean over the channels, weighted with their capacities: the hops of all routes, divided by "
    "the number of channels, where a channel of a quarter of the greatest capacity counts as a "
    "quarter. Detours raise it",
    unit="routes",
    better="lower",
    shown=("evaluate-all",),
    group=_LOAD,
)
PERFECT_LOAD: Final = Column(
    "perfect_load",
    "the mean load if all routes are as short as the network allows. No table's maximum is below "
    "it",
    unit="routes",
    group=_LOAD,
)


def sigma_column(k: int) -> Column:
    """The column of σ(k), the deviation from the perfect load."""
    return Column(
        f"sigma{k}",
        "distance from the perfect load: k-th root of the mean of |load − perfect load|^k over the "
        f"channels, σ(k) of the Angara paper, for k = {k}. The power makes the worst channels "
        "count most. Metric `channel-load~k=2` gives `sigma2`, and so on",
        heading=f"σ({k})",
        unit="routes",
        better="lower",
        shown=("evaluate", "evaluate-all") if k == SIGMA else (),
        decimals=3,
        group=_LOAD,
    )


SIGMA: Final = 4
"""The power that all runs have."""

LOADS: Final = (MAX_LOAD, MIN_LOAD, MEAN_LOAD, sigma_column(SIGMA))

MAX_HOPS: Final = Column(
    "max_hops",
    "channels of the longest path; the diameter if all paths are minimal",
    heading="maximum hops",
    unit="hops",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LENGTH,
)
MEAN_HOPS: Final = Column(
    "mean_hops",
    "mean over the pairs that have a route; 0 between terminals of one switch",
    unit="hops",
    better="lower",
    shown=("evaluate", "evaluate-all"),
    group=_LENGTH,
)
TURNS: Final = (
    Column(
        "max_turns",
        "most changes of direction on a path; only where channels have directions",
        unit="turns",
        better="lower",
        group=_LENGTH,
    ),
    Column(
        "mean_turns",
        "mean over the pairs that have a route",
        unit="turns",
        better="lower",
        group=_LENGTH,
    ),
)

SINGLE_ROUTE_SHARE: Final = Column(
    "single_route_share",
    "share of the pairs on different switches that have only one shortest legal route, so that no "
    "selection can do anything for them",
    heading="pairs with a single route",
    better="lower",
    shown=("evaluate-all",),
    group=_CHOICE,
)
DIVERSITY: Final = (
    SINGLE_ROUTE_SHARE,
    Column(
        "mean_routes",
        "shortest legal routes per pair, distinct as sequences of channels",
        unit="routes",
        better="higher",
        group=_CHOICE,
    ),
    Column("total_routes", "sum over the pairs", unit="routes", better="higher", group=_CHOICE),
)

PAIRS: Final = Column(
    "pairs",
    "ordered pairs of different terminals",
    unit="pairs",
    shown=("evaluate", "evaluate-all"),
    group=_REACHED,
)
REACHABLE_PAIRS: Final = Column(
    "reachable_pairs",
    "pairs that have a route",
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
        "pairs that the network, or what is left of it, could join by some way, legal or not",
        unit="pairs",
        group=_REACHED,
    ),
    Column(
        "minimal_pairs",
        "pairs all of whose paths are as short as the network allows",
        unit="pairs",
        better="higher",
        group=_REACHED,
    ),
    Column("routable_share", "reachable / connected pairs", better="higher", group=_REACHED),
    Column("minimal_share", "minimal / connected pairs", better="higher", group=_REACHED),
    Column(
        "fully_routable",
        "1 if every connected pair has a route, else 0. Its mean over runs is the share of systems "
        "that stay routable",
        better="higher",
        group=_REACHED,
    ),
    Column(
        "fully_minimal",
        "1 if every connected pair has minimal routes, else 0",
        better="higher",
        group=_REACHED,
    ),
)
