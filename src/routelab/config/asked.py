"""Columns that tables and figures ask for and that a study's simulations will not have."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from routelab.config.views import SIMULATED, Figure, Table
from routelab.simulation.settings import SimulationSettings

SEARCHED = (
    "saturation_load",
    "saturation_bound",
    "saturation_accepted",
    "saturation_accepted_low",
    "saturation_accepted_high",
    "saturation_text",
    "throughput",
    "throughput_low",
    "throughput_high",
    "throughput_at",
    "loads_tried",
)
"""Columns of simulations that searched the saturation."""

FINISHED = ("terminal_throughput",)
"""Columns of simulations with messages to be finished."""


def columns_of(view: Table | Figure) -> list[str]:
    """All columns that a table or figure names, each once."""
    named = [*view.where, *([view.relative.column] if view.relative else [])]
    if isinstance(view, Table):
        named += [*view.rows, *view.values, *view.statistics]
    else:
        axes = (view.x, view.y, view.hue, view.col, view.colour)
        named += [name for name in axes if name is not None]
    return list(dict.fromkeys(named))


def without_simulation(
    views: Mapping[str, Table | Figure], settings: Sequence[SimulationSettings]
) -> Iterator[tuple[str, str]]:
    """What no simulation of a study will tell its tables, or figures.

    Parameters
    ----------
    views : mapping
        By name.
    settings : sequence of SimulationSettings
        Of the study's simulations.

    Yields
    ------
    name, text : str
        The view, and which columns it cannot have and how it can.
    """
    for name, view in views.items():
        asked = columns_of(view)
        if view.of not in SIMULATED:
            # a metric may be called throughput
            only = [column for column in SEARCHED if column.startswith("saturation")]
            if lost := _among(asked, only):
                yield name, f"{lost}: known of simulations only; say 'of: simulations'"
        elif settings:
            yield from ((name, text) for text in _not_simulated(view.of, asked, settings))


def _not_simulated(
    of: str, asked: Sequence[str], settings: Sequence[SimulationSettings]
) -> Iterator[str]:
    searched = any(one.find_saturation for one in settings)
    finished = any(one.messages for one in settings)
    if of == "terminals":
        # each has a throughput of its own
        asked = [FINISHED[0] if column == "throughput" else column for column in asked]
    if not searched and (lost := _among(asked, SEARCHED)):
        instead = ", and loads in place of `messages`" if finished else ""
        yield (
            f"{lost}: known only where the load that saturates is searched; say "
            f"`find_saturation: true` in 'simulation'{instead}"
        )
    if not finished and _among(asked, FINISHED):
        yield (
            "a throughput of terminals is known only where messages are to be finished; say "
            "`messages` in 'simulation'"
        )


def _among(asked: Collection[str], known: Sequence[str]) -> str:
    return ", ".join(name for name in known if name in asked)
