"""Columns of the bounds of throughput for any routing."""

from __future__ import annotations

from typing import Any, Final

from routelab.api.columns import Column

_RATE = "flits per cycle"


def _column(name: str, meaning: str, **more: Any) -> Column:
    """Return a column of bounds for any routing."""
    return Column(
        name,
        meaning,
        needs="any_routing",
        group="Bounds for any routing",
        of=("simulations", "loads"),
        **more,
    )


COLUMNS: Final = (
    _column(
        "sustained_bound",
        "upper bound of the load that any routing can sustain: the smaller one of "
        "`channel_bound` and `terminal_bound`; with several seeds, the smallest",
        heading="upper bound of sustained load",
        unit=_RATE,
    ),
    _column(
        "sustained_attained",
        "load that fractional routes sustain: the best bound is not below it",
        heading="load sustained by fractional routes",
        unit=_RATE,
    ),
    _column(
        "sustained_gap",
        "`sustained_bound` minus `sustained_attained`, relative to the latter",
        heading="gap of the sustained load to its bound",
        unit="%",
        better="lower",
    ),
    _column(
        "channel_bound",
        "upper bound of the sustained load because of the channels between switches; empty if no "
        "traffic uses them",
        heading="upper bound by channels",
        unit=_RATE,
    ),
    _column(
        "terminal_bound",
        "load at which the first terminal sends or receives a flit every cycle",
        heading="upper bound by terminals",
        unit=_RATE,
    ),
    _column(
        "throughput_method",
        "source of the channel weights: `lp` (linear program, folded by symmetry), `balance` "
        "(balanced loads), or `none`, because no traffic uses channels between switches",
        heading="method of the bound",
    ),
    _column(
        "accepted_bound",
        "upper bound of `accepted_load` at this offered load, for any routing; with several "
        "seeds, their mean",
        heading="proven upper bound of accepted load",
        unit=_RATE,
        bound_of="accepted_load",
    ),
    _column(
        "accepted_attained",
        "load that fractional routes deliver at this offered load; empty at other loads than those "
        "that were bounded",
        heading="load delivered by fractional routes",
        unit=_RATE,
    ),
)
