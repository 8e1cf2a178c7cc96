"""The pictures of a figure of networks: which runs they show, with values and marked turns."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median_low
from typing import Any

import numpy as np
import pandas as pd

from routelab.api import InputError, Topology
from routelab.report.figures.channel_styles import ChannelStyles, Values, group_styles, load_styles
from routelab.report.figures.request import FigureRequest
from routelab.report.labels import column_of, number_text
from routelab.report.network_picture import Picture, picture_of
from routelab.report.rows.row_set import key_text
from routelab.report.turn_marks import MarkedTurn, pair_turns
from routelab.routing.topology_file import load_topology

MAX_PANELS = 12
MAX_CHANNELS = 50_000


@dataclass(frozen=True)
class Panel:
    """One picture: a routing on a topology, with the run that represents the pooled ones.

    Attributes
    ----------
    title, note : str
        First and second line above the picture.
    run : int
        −1 if the picture does not come from a run.
    topology : Topology
    picture : Picture
    values : float64 array, shape (C,)
        Value of each channel: an amount such as its load, or the number of its group.
    groups : bool
        Whether the values are numbers of groups; 0 is none.
    turns : tuple of MarkedTurn
        Prohibited turns.
    cycle : tuple of str
        The steps of the cycle that refutes the route table; empty if there is none.
    """

    title: str
    note: str
    run: int
    topology: Topology
    picture: Picture
    values: Values
    groups: bool
    turns: tuple[MarkedTurn, ...] = ()
    cycle: tuple[str, ...] = ()

    @classmethod
    def of_loads(cls, title: str, topology: Topology, loads: Values) -> Panel:
        """Return a picture of loads that does not come from a run."""
        return cls(
            title=title,
            note=_note(loads, groups=False),
            run=-1,
            topology=topology,
            picture=picture_of(topology),
            values=loads,
            groups=False,
        )

    def styles(self, top: float) -> ChannelStyles:
        """Return colours and widths, with `top` as the upper end of a scale of amounts."""
        if self.groups:
            return group_styles(self.topology, self.values)
        return load_styles(self.values, top)

    def turn_names(self, turn: MarkedTurn) -> tuple[str, str, str]:
        """Return the names of the three switches of a turn."""
        names = self.topology.switch_names
        return names[turn.before], names[turn.switch], names[turn.after]


def has_groups(colour: str) -> bool:
    """Return whether a column of channels has numbers of groups, and not amounts."""
    column = column_of(colour)
    return column is not None and column.nominal


def collect_panels(request: FigureRequest, jobs: pd.DataFrame) -> list[Panel]:
    """Return a picture for each group of pooled runs.

    Parameters
    ----------
    request : FigureRequest
    jobs : DataFrame
        Runs with results.

    Raises
    ------
    InputError
        If there are too many pictures or channels, or the column does not exist.
    """
    # 1. The pictures: one for each group of rows that differ in a pooled parameter only.
    row_set, colour, place = request.row_set, request.colour, request.place
    kinds = list(row_set.identity)  # such as topology and routing
    groups = list(jobs.groupby(kinds, sort=False))
    if len(groups) > MAX_PANELS:
        raise InputError(
            f"{place}{len(groups)} pictures are more than {MAX_PANELS}; choose with 'where'"
        )
    title_kinds = [kind for kind in kinds if kind == "routing" or jobs[kind].nunique() > 1]
    # 2. The column by which the median run is chosen. Rows with an offered load are simulations.
    columns = ["max_load", "bottleneck_share"] if "load" not in kinds else []
    measure = next((name for name in columns if name in jobs), "utilisation_max")
    panels = []
    drawn: dict[str, tuple[Topology, Picture]] = {}
    are_groups = has_groups(colour)
    for key, group in groups:
        # 3. The lower median is the value of a run, so there is one to draw; the first of them.
        loads = row_set.numbers(group, measure, place)
        run = int(group.index[loads == median_low(loads.tolist())][0])
        record = row_set.records[run]
        if record.topology not in drawn:
            network = load_topology(record.topology_directory / "topology.npz")
            require_drawable(network, f"{place}{record.topology}", advice="; choose with 'where'")
            drawn[record.topology] = network, picture_of(network)
        topology, picture = drawn[record.topology]
        # 4. The value of each channel. One that the table does not list has no load.
        channels = channels_of(request, run)
        listed = row_set.numbers(channels, colour, f"{place}colour: ")
        values = np.zeros(topology.num_channels)
        values[channels["channel"].to_numpy(int)] = listed.to_numpy(float)
        note = _note(values, groups=are_groups)
        if len(group) > 1:
            note += f" (the median one of {len(group)} runs)"
        # 5. The marked turns, which name their switches, and the steps of a cycle.
        turns: tuple[MarkedTurn, ...] = ()
        if request.spec.turns:
            switch_number = {name: switch for switch, name in enumerate(topology.switch_names)}
            table = row_set.details("turns", [run], place)[["from", "switch", "to"]]
            turns = pair_turns(
                (switch_number[before], switch_number[switch], switch_number[after])
                for before, switch, after in table.itertuples(index=False, name=None)
            )
        cycle = str(row_set.outcomes[run].facts.get("deadlock_cycle", ""))
        panels.append(
            Panel(
                title=_title(dict(zip(kinds, key, strict=True)), title_kinds),
                note=note,
                run=run,
                topology=topology,
                picture=picture,
                values=values,
                groups=are_groups,
                turns=turns,
                cycle=tuple(line for line in cycle.splitlines() if " waits for " in line),
            )
        )
    return panels


def channels_of(request: FigureRequest, run: int) -> pd.DataFrame:
    """Return the table of channels of a run, with a column for the figure's colour.

    The column is 0, no group, for all channels if the figure shows groups and the run has none.
    """
    channels = request.row_set.details("channels", [run], request.place).drop(columns="run")
    if request.colour not in channels and has_groups(request.colour):
        return channels.assign(**{request.colour: 0})
    return channels


def require_drawable(topology: Topology, name: str, advice: str = "") -> None:
    """Raise an error, with `name` and `advice`, if a network has too many channels to be drawn.

    Raises
    ------
    InputError
        If it has more than `MAX_CHANNELS` channels.
    """
    if topology.num_channels > MAX_CHANNELS:
        raise InputError(
            f"{name} has {topology.num_channels} channels, more than "
            f"{MAX_CHANNELS} cannot be drawn{advice}"
        )


# formats of parts that are not just separated by a comma
_TITLE_PARTS = {"topology": " on {}", "routing": "{}", "load": ", load {}"}


def _title(names: dict[str, Any], kinds: list[str]) -> str:
    """Return the title of a picture, such as ``dor on torus~dims=4x4, uniform, load 0.5``.

    `names` has the name of each kind, `kinds` are those to show.
    """
    order = ("routing", "topology", "traffic", "load", "simulation")
    parts = [
        _TITLE_PARTS.get(kind, ", {}").format(key_text(names[kind]))
        for kind in order
        if kind in kinds
    ]
    return "".join(parts)


def _note(values: Values, *, groups: bool) -> str:
    """Return a note such as ``maximum 6 on 4 channels, minimum 0``.

    If the values are numbers of groups, ``3 groups, 20 of 48 channels``.
    """
    if not len(values):
        return "no channels"
    if groups:
        num_groups = len(np.unique(values[values > 0]))
        in_groups = f"{int((values > 0).sum())} of {len(values)} channels"
        return f"{num_groups} groups, {in_groups}" if num_groups > 1 else in_groups
    high, low = values.max(), values.min()
    num_busiest = int((values == high).sum())
    busiest = f"{num_busiest} channels" if num_busiest > 1 else "one channel"
    return f"maximum {number_text('', high)} on {busiest}, minimum {number_text('', low)}"
