"""The pictures of a figure of networks: which runs they show, with values and marked turns.

The values that colours stand for are amounts, such as loads, or numbers of groups of channels; see
`routelab.report.figures.channel_styles`.
"""

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
    """One picture: the channels of a routing on a topology, coloured by the values of a run.

    Attributes
    ----------
    title, note : str
        First and second line above the picture.
    run : int
        The run; of pooled runs, the median one. −1 if the picture does not come from a run.
    topology : Topology
    picture : Picture
    values : float64 array, shape (C,)
        Value of each channel: an amount such as its load, or the number of its group.
    shows_groups : bool
        Whether the values are numbers of groups; channels with 0 are in none.
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
    shows_groups: bool
    turns: tuple[MarkedTurn, ...] = ()
    cycle: tuple[str, ...] = ()

    @classmethod
    def of_loads(cls, title: str, topology: Topology, loads: Values) -> Panel:
        """Return a picture of loads that does not come from a run."""
        return cls(
            title=title,
            note=_note(loads, are_groups=False),
            run=-1,
            topology=topology,
            picture=picture_of(topology),
            values=loads,
            shows_groups=False,
        )

    def styles(self, top: float) -> ChannelStyles:
        """Return how channels are drawn; a colour scale of amounts, if any, ends at `top`."""
        if self.shows_groups:
            return group_styles(self.topology, self.values)
        return load_styles(self.values, top)

    def turn_names(self, turn: MarkedTurn) -> tuple[str, str, str]:
        """Return the names of the three switches of a turn."""
        names = self.topology.switch_names
        return names[turn.before], names[turn.switch], names[turn.after]


def has_group_numbers(colour: str) -> bool:
    """Return whether a column of channels has numbers of groups, and not amounts."""
    column = column_of(colour)
    return column is not None and column.nominal


def collect_panels(request: FigureRequest, frame: pd.DataFrame) -> list[Panel]:
    """Return a picture for each routing on each topology (with each traffic, load, ...).

    Runs that differ only in pooled parameters, such as a seed, share a picture, which shows the
    median one of them.

    Parameters
    ----------
    request : FigureRequest
    frame : DataFrame
        Runs with results. Names of pooled runs are equal, such as ``sssp`` for all seeds.

    Raises
    ------
    InputError
        If there are too many pictures or channels, or the column does not exist.
    """
    # 1. The runs of each picture. A title names what differs between pictures, and the routing.
    row_set, colour, place = request.row_set, request.colour, request.place
    identity = list(row_set.identity)  # such as topology and routing
    pictures = list(frame.groupby(identity, sort=False))
    if len(pictures) > MAX_PANELS:
        raise InputError(
            f"{place}{len(pictures)} pictures are more than {MAX_PANELS}; choose with 'where'"
        )
    title_columns = [name for name in identity if name == "routing" or frame[name].nunique() > 1]
    # 2. The column by which the median run is chosen: the maximum load of the route table. Flow
    #    simulations without route tables have the bottleneck's share instead. Rows that have an
    #    offered load are packet simulations.
    candidates = ["max_load", "bottleneck_share"] if "load" not in identity else []
    measure = next((name for name in candidates if name in frame), "utilisation_max")
    panels = []
    network_and_picture: dict[str, tuple[Topology, Picture]] = {}
    shows_groups = has_group_numbers(colour)
    for key, runs in pictures:
        # 3. The lower median is the value of a run, so there is one to draw; the first of them.
        measured = row_set.numbers(runs, measure, place)
        run = int(runs.index[measured == median_low(measured.tolist())][0])
        record = row_set.records[run]
        if record.topology not in network_and_picture:
            network = load_topology(record.topology_directory / "topology.npz")
            require_drawable(network, f"{place}{record.topology}", advice="; choose with 'where'")
            network_and_picture[record.topology] = network, picture_of(network)
        topology, picture = network_and_picture[record.topology]
        # 4. The value of each channel. A channel that the run does not list has no load.
        channels = channels_of(request, run)
        listed_values = row_set.numbers(channels, colour, f"{place}colour: ")
        values = np.zeros(topology.num_channels)
        values[channels["channel"].to_numpy(int)] = listed_values.to_numpy(float)
        note = _note(values, are_groups=shows_groups)
        if len(runs) > 1:
            note += f" (the median one of {len(runs)} runs)"
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
                title=_title(dict(zip(identity, key, strict=True)), title_columns),
                note=note,
                run=run,
                topology=topology,
                picture=picture,
                values=values,
                shows_groups=shows_groups,
                turns=turns,
                cycle=tuple(line for line in cycle.splitlines() if " waits for " in line),
            )
        )
    return panels


def channels_of(request: FigureRequest, run: int) -> pd.DataFrame:
    """Return a row for each channel of a run, with the column that the figure's colours stand for.

    If this column has numbers of groups, runs without groups lack it, such as those of a routing
    without segments. Then all channels have 0: they are in no group.
    """
    channels = request.row_set.details("channels", [run], request.place).drop(columns="run")
    if request.colour not in channels and has_group_numbers(request.colour):
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


_TITLE_FORMATS = {"topology": " on {}", "routing": "{}", "load": ", load {}"}
"""Formats of the columns in a title; the text of any other column follows a comma."""


def _title(run_values: dict[str, Any], columns: list[str]) -> str:
    """Return the title of a picture, such as ``dor on torus~dims=4x4, uniform, load 0.5``.

    `run_values` has the value of the run by column; `columns` are those that the title shows.
    """
    order = ("routing", "topology", "traffic", "load", "simulation")
    parts = [
        _TITLE_FORMATS.get(column, ", {}").format(key_text(run_values[column]))
        for column in order
        if column in columns
    ]
    return "".join(parts)


def _note(values: Values, *, are_groups: bool) -> str:
    """Return a note such as ``maximum 6 on 4 channels, minimum 0``.

    If the values are numbers of groups, the note is ``3 groups, 20 of 48 channels``: 20 channels
    are in a group. It shows no number of groups if there is only one.
    """
    if not len(values):
        return "no channels"
    if are_groups:
        num_groups = len(np.unique(values[values > 0]))
        in_groups = f"{int((values > 0).sum())} of {len(values)} channels"
        return f"{num_groups} groups, {in_groups}" if num_groups > 1 else in_groups
    high, low = values.max(), values.min()
    num_busiest = int((values == high).sum())
    busiest = f"{num_busiest} channels" if num_busiest > 1 else "one channel"
    return f"maximum {number_text('', high)} on {busiest}, minimum {number_text('', low)}"
