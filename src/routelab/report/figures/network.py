"""Pictures of a network with channels coloured by load, one for each routing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from statistics import median_low
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from routelab.api import InputError, Topology
from routelab.artifacts.topology_file import load_topology
from routelab.config import Figure as FigureSpec
from routelab.report.figures.drawing import FAINT, INK, Drawing, NotebookFigure, house_style
from routelab.report.figures.inline import (
    MAX_CHANNELS_IN_PAGE,
    InlinePanel,
    InlinePicture,
    backdrop,
    channel_paths,
    scale_ticks,
)
from routelab.report.frames.view import OK, View, key_text
from routelab.report.labels import label, number_text
from routelab.report.network_picture import RADIUS, Picture, picture_of

MAX_PANELS = 12
WIDEST = 10.0
"""Inches of a figure with one picture in a row; figures with several are 1.5 times as wide."""
LARGEST_UNIT = 0.42
"""Inches of the distance between two rows of switches, in small networks."""
THIN, THICK = 0.7, 3.0
"""Points of the least and the most loaded channel at that distance."""
MAX_CHANNELS = 20_000
_SMALL: dict[str, Any] = {"fontsize": 9, "color": FAINT, "x": 0.01, "ha": "left"}


@dataclass(frozen=True)
class _Panel:
    """One picture: a routing on a topology, with the run that represents the pooled ones.

    The run is −1 if the picture does not come from a run.
    """

    title: str
    note: str
    run: int
    topology: Topology
    picture: Picture
    values: np.ndarray[tuple[int], np.dtype[np.float64]]


def draw_networks(
    spec: FigureSpec, frames: View, pooled: Collection[str], place: str
) -> Drawing | None:
    """Draw the network for each routing (and topology, ...), all with one colour scale.

    Pooled runs are represented by the run with the lower median of the maximum load; in
    simulations, of the maximum utilisation; in flows without tables, of the bottleneck's share.
    See `routelab.report.figures.draw_figure` for the parameters.
    """
    colour = spec.colour or "load"
    jobs = frames.select(spec.where, pooled, place)
    jobs = jobs[jobs["status"] == OK]
    if jobs.empty:
        return None
    panels = _panels(jobs, frames, colour, place)
    figure, tooltips = _draw_panels(panels, colour)
    data = pd.concat(
        [_data(frames, jobs, panel.run, colour, place) for panel in panels], ignore_index=True
    )
    notes = "; ".join(f"{panel.title}, {panel.note}" for panel in panels)
    return Drawing(
        figure,
        data,
        f"Channels coloured by {label(colour)}. {notes}.",
        tooltips,
        inline=_inline(panels, [frames.records[panel.run].topology for panel in panels], colour),
        runs={panel.title: panel.run for panel in panels},
    )


def draw_network(title: str, topology: Topology, loads: ArrayLike) -> Figure:
    """Draw one network with its channels coloured by load.

    Parameters
    ----------
    title : str
    topology : Topology
    loads : array of float, shape (C,)

    Raises
    ------
    InputError
        If the network has too many channels to be drawn.
    """
    _refuse_large(topology, title)
    values = np.asarray(loads, dtype=np.float64)
    with house_style():
        panel = _Panel(title, _extremes(values), -1, topology, picture_of(topology), values)
        figure, _ = _draw_panels([panel], "load")
    return figure


def _draw_panels(panels: list[_Panel], colour: str) -> tuple[Figure, dict[str, list[str]]]:
    """Draw the pictures side by side at one scale; also return the tooltips of their lines."""
    scale = Normalize(0, _top(panels))
    colours = load_colours()
    figure, axes, inch = _frame(panels)
    tooltips = {}
    for i, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        group = f"channels-{i}"
        tooltips[group] = _draw(axis, panel, scale, colours, group, inch, colour)
    bar = figure.colorbar(
        ScalarMappable(scale, colours), ax=axes, location="top", shrink=0.5, aspect=40, pad=0.02
    )
    bar.set_label(label(colour) + (", one scale for all pictures" if len(panels) > 1 else ""))
    bar.outline.set_visible(False)
    figure.supxlabel("\n".join(dict.fromkeys(p.picture.hint for p in panels)), **_SMALL)
    return figure, tooltips


def _top(panels: list[_Panel]) -> float:
    """Return the upper end of the common colour scale."""
    return max(float(panel.values.max(initial=0)) for panel in panels) or 1.0


def _inline(panels: list[_Panel], networks: list[str], colour: str) -> InlinePicture | None:
    """Return the pictures for the page; None if they would make it too large."""
    if sum(panel.topology.num_channels for panel in panels) > MAX_CHANNELS_IN_PAGE:
        return None
    top = _top(panels)
    distinct = list(dict.fromkeys(networks))
    first = [panels[networks.index(network)] for network in distinct]
    return InlinePicture(
        label=label(colour),
        ticks=scale_ticks(top),
        backdrops=tuple(backdrop(panel.topology, panel.picture) for panel in first),
        panels=tuple(
            InlinePanel(
                title=panel.title,
                note=panel.note,
                network=distinct.index(network),
                channels=channel_paths(panel.topology, panel.picture, panel.values, top),
            )
            for network, panel in zip(networks, panels, strict=True)
        ),
        hints=tuple(dict.fromkeys(panel.picture.hint for panel in panels)),
    )


def _panels(jobs: pd.DataFrame, frames: View, colour: str, place: str) -> list[_Panel]:
    kinds = list(frames.identity)
    groups = list(jobs.groupby(kinds, sort=False))
    if len(groups) > MAX_PANELS:
        raise InputError(
            f"{place}{len(groups)} pictures are more than {MAX_PANELS}; choose with 'where'"
        )
    differing = [kind for kind in kinds if kind == "routing" or jobs[kind].nunique() > 1]
    columns = ["max_load", "bottleneck_share"] if "load" not in kinds else []
    most = next((name for name in columns if name in jobs), "utilisation_max")
    panels = []
    pictures: dict[str, tuple[Topology, Picture]] = {}
    for key, group in groups:
        loads = frames.numbers(group, most, place)
        run = int(group.index[loads == median_low(loads.tolist())][0])
        channels = frames.details("channels", [run], place)
        numbers = frames.numbers(channels, colour, f"{place}colour: ")
        record = frames.records[run]
        if record.topology not in pictures:
            network = load_topology(record.topology_directory / "topology.npz")
            _refuse_large(network, f"{place}{record.topology}", "; choose with 'where'")
            pictures[record.topology] = network, picture_of(network)
        topology, picture = pictures[record.topology]
        values = np.zeros(topology.num_channels)
        values[channels["channel"].to_numpy(int)] = numbers.to_numpy(float)
        title = _title(dict(zip(kinds, key, strict=True)), differing)
        note = _extremes(values)
        if len(group) > 1:
            note += f" (the median one of {len(group)} runs)"
        panels.append(_Panel(title, note, run, topology, picture, values))
    return panels


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


def _refuse_large(topology: Topology, name: str, advice: str = "") -> None:
    if topology.num_channels > MAX_CHANNELS:
        raise InputError(
            f"{name} has {topology.num_channels} channels, more than "
            f"{MAX_CHANNELS} cannot be drawn{advice}"
        )


def _extremes(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    if not len(values):
        return "no channels"
    high, low = values.max(), values.min()
    many = int((values == high).sum())
    times = f" on {many} channels" if many > 1 else " on one channel"
    return f"maximum {number_text('', high)}{times}, minimum {number_text('', low)}"


def load_colours() -> Colormap:
    """Return colours from light to dark in perceptually even steps, all visible on white."""
    steps = sns.color_palette("rocket_r", as_cmap=True)(np.linspace(0.10, 0.95, 64))
    return LinearSegmentedColormap.from_list("load", steps)


def _frame(panels: list[_Panel]) -> tuple[Figure, list[Axes], float]:
    """Return a figure, its axes of equal size, and the inches of one unit.

    The number of axes in a row makes the figure about as wide as it is high.
    """
    boxes = [panel.picture.box for panel in panels]
    wide = max(right - left for left, right, _, _ in boxes)
    high = max(top - bottom for _, _, bottom, top in boxes)
    rows = {across: -(-len(panels) // across) for across in range(1, len(panels) + 1)}
    across = min(rows, key=lambda n: abs(np.log(n * wide / (rows[n] * high))))
    down = rows[across]
    widest = WIDEST if across == 1 else 1.5 * WIDEST
    inch = min(LARGEST_UNIT, widest / (across * wide))
    figure = NotebookFigure(
        figsize=(max(across * wide * inch, 4.5), down * (high * inch + 0.75) + 0.8),
        layout="constrained",
    )
    axes = list(figure.subplots(down, across, squeeze=False).flat)
    for spare in axes[len(panels) :]:
        spare.set_axis_off()
    return figure, axes[: len(panels)], inch


def _draw(
    axis: Axes,
    panel: _Panel,
    scale: Normalize,
    colours: Colormap,
    group: str,
    inch: float,
    colour: str,
) -> list[str]:
    """Draw one picture; return the tooltips of its lines in the order of drawing."""
    picture, values = panel.picture, panel.values
    owners = np.array(picture.line_channel, dtype=np.int64)
    order = np.argsort(values[owners], kind="stable")  # the busiest channels on top
    loads = values[owners[order]]
    lines = LineCollection(
        [picture.lines[i] for i in order],
        colors=colours(scale(loads)),
        linewidths=(THIN + (THICK - THIN) * np.asarray(scale(loads))) * inch / LARGEST_UNIT,
        capstyle="round",
        joinstyle="round",
        gid=group,
        zorder=2,
    )
    axis.add_collection(lines)
    left, right, bottom, top = picture.box
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    size = 2 * RADIUS * 72 * inch
    x, y = picture.switches.T
    axis.scatter(x, y, s=size**2, color="white", edgecolor=FAINT, zorder=3)
    look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 0.5 * size, "color": INK}
    for (at_x, at_y), mark in zip(picture.switches, picture.marks, strict=True):
        axis.text(at_x, at_y, mark, zorder=4, **look)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0, labelcolor=FAINT, labelsize=9)
    below, beside = picture.block_ticks
    axis.set_xticks([at for at, _ in below], [text for _, text in below])
    axis.set_yticks([at for at, _ in beside], [text for _, text in beside])
    axis.set_title(f"{panel.title}\n{panel.note}", color=INK)
    topology = panel.topology
    return [
        f"{topology.channel_name(int(owner))}: {label(colour)} {number_text(colour, load)}"
        for owner, load in zip(owners[order], loads, strict=True)
    ]


def _data(frames: View, jobs: pd.DataFrame, run: int, colour: str, place: str) -> pd.DataFrame:
    channels = frames.details("channels", [run], place).drop(columns="run")
    names = [*channels.columns.drop(colour), colour]
    whose = {kind: jobs[kind][run] for kind in frames.identity if kind not in names}
    whose |= {kind: getattr(frames.records[run], kind) for kind in ("topology", "routing")}
    return channels[names].assign(**whose)[[*whose, *names]]
