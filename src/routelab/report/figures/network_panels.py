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
    run : int
        −1 if the picture does not come from a run.
    topology : Topology
    picture : Picture
    values : float64 array, shape (C,)
    groups : bool
        Whether the values are numbers of groups, and not amounts.
    turns : tuple of MarkedTurn
    cycle : tuple of str
        The steps of the cycle that refutes the route table.
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
        note = _note(loads, groups=False)
        return cls(title, note, -1, topology, picture_of(topology), loads, groups=False)

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
    """Return whether a column of channels has numbers of groups."""
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
    kinds = list(row_set.identity)
    groups = list(jobs.groupby(kinds, sort=False))
    if len(groups) > MAX_PANELS:
        raise InputError(
            f"{place}{len(groups)} pictures are more than {MAX_PANELS}; choose with 'where'"
        )
    differing = [kind for kind in kinds if kind == "routing" or jobs[kind].nunique() > 1]
    # 2. The column by which the median run is chosen. Rows with an offered load are simulations.
    columns = ["max_load", "bottleneck_share"] if "load" not in kinds else []
    measure = next((name for name in columns if name in jobs), "utilisation_max")
    panels = []
    pictures: dict[str, tuple[Topology, Picture]] = {}
    nominal = has_groups(colour)
    for key, group in groups:
        # 3. The lower median is the value of a run, so there is one to draw; the first of them.
        loads = row_set.numbers(group, measure, place)
        run = int(group.index[loads == median_low(loads.tolist())][0])
        record = row_set.records[run]
        if record.topology not in pictures:
            network = load_topology(record.topology_directory / "topology.npz")
            refuse_large(network, f"{place}{record.topology}", "; choose with 'where'")
            pictures[record.topology] = network, picture_of(network)
        topology, picture = pictures[record.topology]
        # 4. A channel that the table does not list has no load.
        channels = channels_of(request, run)
        amounts = row_set.numbers(channels, colour, f"{place}colour: ")
        values = np.zeros(topology.num_channels)
        values[channels["channel"].to_numpy(int)] = amounts.to_numpy(float)
        title = _title(dict(zip(kinds, key, strict=True)), differing)
        note = _note(values, nominal)
        if len(group) > 1:
            note += f" (the median one of {len(group)} runs)"
        marked: tuple[MarkedTurn, ...] = ()
        if request.spec.turns:
            numbers = {name: switch for switch, name in enumerate(topology.switch_names)}
            turns = row_set.details("turns", [run], place)[["from", "switch", "to"]]
            names = turns.itertuples(index=False, name=None)
            marked = pair_turns((numbers[a], numbers[b], numbers[c]) for a, b, c in names)
        cycle = str(row_set.outcomes[run].facts.get("deadlock_cycle", ""))
        panels.append(
            Panel(
                title,
                note,
                run,
                topology,
                picture,
                values,
                nominal,
                marked,
                tuple(line for line in cycle.splitlines() if " waits for " in line),
            )
        )
    return panels


def channels_of(request: FigureRequest, run: int) -> pd.DataFrame:
    """Return the channels of a run; all are in no group if the run has no such groups."""
    channels = request.row_set.details("channels", [run], request.place).drop(columns="run")
    if request.colour not in channels and has_groups(request.colour):
        return channels.assign(**{request.colour: 0})
    return channels


def refuse_large(topology: Topology, name: str, advice: str = "") -> None:
    """Check that a network can be drawn.

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


_PLACES = {"topology": " on {}", "routing": "{}", "load": ", load {}"}


def _title(names: dict[str, Any], differing: list[str]) -> str:
    """Return the title of a picture: the routing, and whatever else differs between pictures."""
    order = ("routing", "topology", "traffic", "load", "simulation")
    parts = [
        _PLACES.get(kind, ", {}").format(key_text(names[kind]))
        for kind in order
        if kind in differing
    ]
    return "".join(parts)


def _note(values: Values, groups: bool) -> str:
    """Return the extremes of amounts, or the size of groups."""
    if not len(values):
        return "no channels"
    if groups:
        count = len(np.unique(values[values > 0]))
        inside = f"{int((values > 0).sum())} of {len(values)} channels"
        return f"{count} groups, {inside}" if count > 1 else inside
    high, low = values.max(), values.min()
    count = int((values == high).sum())
    times = f" on {count} channels" if count > 1 else " on one channel"
    return f"maximum {number_text('', high)}{times}, minimum {number_text('', low)}"
