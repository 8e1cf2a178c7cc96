"""Pictures of a network with coloured channels, one for each routing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from routelab.api import Topology
from routelab.report.figures.channel_styles import group_number_positions, scale_map
from routelab.report.figures.drawing import Drawing, NotebookFigure, house_style
from routelab.report.figures.network_panels import (
    Panel,
    channels_of,
    collect_panels,
    refuse_large,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import FAINT, INK
from routelab.report.labels import label, number_text
from routelab.report.network_picture import RADIUS, Picture
from routelab.report.rows.row_set import OK
from routelab.report.turn_marks import turn_arcs

WIDEST = 10.0
"""Inches of a figure with one picture in a row; figures with several are 1.5 times as wide."""
LARGEST_UNIT = 0.42
"""Inches of the distance between two rows of switches, in small networks."""
TURN_WIDTH, BORDER_WIDTH = 1.8, 3.6
"""Points of the arc of a turn and of its white border, in small networks."""
MAX_VECTOR = 20_000
"""Largest number of channels that are lines in files; more become an image."""
TURN_HINT = "An arc prohibits the turn between two links; with a barb, only in its direction."
_FAILED: dict[str, Any] = {"color": FAINT, "linestyle": (0, (3, 2)), "linewidth": 1.2}
"""Style of failed links."""
_SMALL: dict[str, Any] = {"fontsize": 9, "color": FAINT, "x": 0.01, "ha": "left"}


def draw_networks(request: FigureRequest) -> Drawing | None:
    """Draw the network for each routing (and topology, ...), all with one colour scale.

    Pooled runs are represented by the run with the lower median of the maximum load; in
    simulations, of the maximum utilisation; in flows without tables, of the bottleneck's share.
    """
    colour, row_set = request.colour, request.row_set
    jobs = row_set.select(request.spec.where, request.pooled, request.place)
    jobs = jobs[jobs["status"] == OK]
    if jobs.empty:
        return None
    panels = collect_panels(request, jobs)
    figure, tooltips = _draw_panels(panels, colour)
    data = pd.concat(
        [_channel_values(request, jobs, panel.run) for panel in panels], ignore_index=True
    )
    notes = "; ".join(
        f"{panel.title}, {panel.note}{_failures_text(panel.topology)}" for panel in panels
    )
    description = f"Channels coloured by {label(colour)}. {notes}."
    return Drawing(
        figure,
        data,
        description,
        tooltips,
        turns={panel.title: _turn_table(panel, colour) for panel in panels if panel.turns},
        cycles={panel.title: panel.cycle for panel in panels if panel.cycle},
        on_paper=_is_large(panels),
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
    refuse_large(topology, title)
    values = np.asarray(loads, dtype=np.float64)
    with house_style():
        figure, _ = _draw_panels([Panel.of_loads(title, topology, values)], "load")
    return figure


def _draw_panels(panels: list[Panel], colour: str) -> tuple[Figure, dict[str, list[str]]]:
    """Draw the pictures side by side at one scale; also return the tooltips of their lines."""
    # 1. One scale of colours, so that pictures can be compared; 1 if no channel has any load.
    top = max(float(panel.values.max(initial=0)) for panel in panels) or 1.0
    figure, axes, inch = _frame(panels)
    tooltips = {}
    as_image = _is_large(panels)
    for i, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        # Lines of an image are no elements of the file, so they have no tooltips.
        name = f"channels-{i}"
        texts = _draw_channels(axis, panel, name, inch, colour, top, as_image=as_image)
        if not as_image:
            tooltips[name] = texts
        _draw_switches(axis, panel, inch, as_image=as_image)
        _draw_failed(axis, panel.picture, f"failed-{i}", inch, as_image=as_image)
        failed = [f"failed link {link}" for link, _ in panel.picture.failed_links]
        if failed and not as_image:
            tooltips[f"failed-{i}"] = failed
        if panel.turns:
            tooltips[f"turns-{i}"] = _draw_turns(axis, panel, f"turns-{i}", inch)
    # 2. Keys: the colour scale of amounts (the groups of a picture have numbers instead), and each
    #    kind of failed part once.
    if not panels[0].groups:
        bar = figure.colorbar(
            ScalarMappable(Normalize(0, top), scale_map()),
            ax=axes,
            location="top",
            shrink=0.5,
            aspect=40,
            pad=0.02,
        )
        bar.set_label(label(colour) + (", one scale for all pictures" if len(panels) > 1 else ""))
        bar.outline.set_visible(False)
    named_artists = [zip(*axis.get_legend_handles_labels(), strict=True) for axis in axes]
    entries = {name: artist for pairs in named_artists for artist, name in pairs}
    if entries:
        figure.legend(
            entries.values(),
            entries,
            loc="outside upper right",
            ncols=len(entries),
            labelcolor=FAINT,
            fontsize=9,
        )
    figure.supxlabel("\n".join(_hints(panels, colour)), **_SMALL)
    return figure, tooltips


def _is_large(panels: list[Panel]) -> bool:
    """Return whether files have the channels as an image, whose colours no page replaces."""
    return sum(panel.topology.num_channels for panel in panels) > MAX_VECTOR


def _hints(panels: list[Panel], colour: str) -> tuple[str, ...]:
    """Return how to read the pictures."""
    hints = [panel.picture.hint for panel in panels]
    if panels[0].groups:
        has_several_groups = any(len(set(panel.values[panel.values > 0])) > 1 for panel in panels)
        colour_rule = (
            "those that meet at a switch differ" if has_several_groups else "others are grey"
        )
        hints.append(f"Colours: {label(colour)}; {colour_rule}.")
    hints += [TURN_HINT] * any(panel.turns for panel in panels)
    return tuple(dict.fromkeys(hints))


def _failures_text(topology: Topology) -> str:
    """Return the numbers of failed links and switches, as the end of a sentence."""
    counts = {"link": len(topology.failed_links), "switch": len(topology.failed_switches)}
    return "".join(
        f", {count} failed {part}{'' if count == 1 else 'es' if part == 'switch' else 's'}"
        for part, count in counts.items()
        if count
    )


def _group_numbers(panel: Panel) -> Iterator[tuple[tuple[float, float], str]]:
    """Yield place and text of the numbers of groups."""
    if panel.groups:
        for group, (x, y) in group_number_positions(panel.topology, panel.picture, panel.values):
            yield (float(x), float(y)), str(group)


def _turn_table(panel: Panel, colour: str) -> list[dict[str, str]]:
    """Return the marked turns as rows of texts, with the groups of their links."""
    group: dict[tuple[int, int], float] = {}
    topology = panel.topology
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    for pair, value in zip(ends, panel.values.tolist(), strict=True):
        group.setdefault(pair, value)
    rows = []
    for turn in panel.turns:
        a, b, c = panel.turn_names(turn)
        row = {"switch": b, "from": a, "to": c, "and back": "yes" if turn.both_ways else "no"}
        if panel.groups:
            links = (group[turn.before, turn.switch], group[turn.switch, turn.after])
            row[label(colour)] = ", ".join(dict.fromkeys(f"{number:g}" for number in links))
        rows.append(row)
    return rows


def _frame(panels: list[Panel]) -> tuple[Figure, list[Axes], float]:
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


def _draw_channels(
    axis: Axes,
    panel: Panel,
    group: str,
    inch: float,
    colour: str,
    top: float,
    *,
    as_image: bool,
) -> list[str]:
    """Draw the channels; return their tooltips in the order of drawing."""
    picture, values, styles = panel.picture, panel.values, panel.styles(top)
    owners = np.array(picture.line_channel, dtype=np.int64)
    order = np.argsort(values[owners], kind="stable")  # the busiest channels on top
    owners = owners[order]
    lines = LineCollection(
        [picture.lines[i] for i in order],
        colors=styles.colours[owners],
        linewidths=styles.widths[owners] * inch / LARGEST_UNIT,
        capstyle="round",
        joinstyle="round",
        gid=group,
        zorder=2,
        rasterized=as_image,
    )
    axis.add_collection(lines)
    topology = panel.topology
    return [
        f"{topology.channel_name(int(owner))}: {label(colour)} {number_text(colour, value)}"
        for owner, value in zip(owners, values[owners], strict=True)
    ]


def _draw_switches(axis: Axes, panel: Panel, inch: float, *, as_image: bool) -> None:
    """Draw switches, coordinates and numbers of groups; an image has no texts in switches."""
    picture = panel.picture
    left, right, bottom, top = picture.box
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    size = 2 * RADIUS * 72 * inch
    x, y = picture.switches.T
    axis.scatter(x, y, s=size**2, color="white", edgecolor=FAINT, zorder=3, rasterized=as_image)
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": INK}
    marks = () if as_image else zip(picture.switches, picture.marks, strict=True)
    for (at_x, at_y), mark in marks:
        axis.text(at_x, at_y, mark, zorder=4, fontsize=0.5 * size, **look)
    for at_x, at_y, text in picture.captions:
        axis.text(at_x, at_y, text, zorder=4, fontsize=0.75 * size, **look)
    border = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    for (at_x, at_y), text in _group_numbers(panel):
        axis.text(at_x, at_y, text, zorder=6, fontsize=0.75 * size, bbox=border, **look)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0, labelcolor=FAINT, labelsize=9)
    below, beside = picture.block_ticks
    axis.set_xticks([at for at, _ in below], [text for _, text in below])
    axis.set_yticks([at for at, _ in beside], [text for _, text in beside])
    axis.set_title(f"{panel.title}\n{panel.note}", color=INK)


def _draw_failed(axis: Axes, picture: Picture, group: str, inch: float, *, as_image: bool) -> None:
    """Draw failed links and switches dashed."""
    style = {**_FAILED, "zorder": 1, "rasterized": as_image}
    lines = [line for _, line in picture.failed_links]
    if lines:
        axis.add_collection(LineCollection(lines, gid=group, label="failed link", **style))
    if len(picture.failed_switches):
        x, y = picture.failed_switches.T
        size = 2 * RADIUS * 72 * inch
        axis.scatter(
            x,
            y,
            s=size**2,
            facecolor="none",
            edgecolor=FAINT,
            linestyle="--",
            linewidth=0.8,
            rasterized=as_image,
            label="failed switch",
            gid=f"switches-{group}",
        )


def _draw_turns(axis: Axes, panel: Panel, group: str, inch: float) -> list[str]:
    """Draw the arcs of turns with a white border; return their tooltips."""
    arcs = turn_arcs(panel.topology, panel.picture, panel.turns)
    for colour, width, name in (
        ("white", BORDER_WIDTH, f"border-{group}"),
        (INK, TURN_WIDTH, group),
    ):
        axis.add_collection(
            LineCollection(
                arcs,
                colors=colour,
                linewidths=width * inch / LARGEST_UNIT,
                capstyle="round",
                joinstyle="round",
                gid=name,
                zorder=5,
            )
        )
    return [
        f"prohibited: {a}, {b}, {c}" + (" and back" if turn.both_ways else "")
        for turn in panel.turns
        for a, b, c in [panel.turn_names(turn)]
    ]


def _channel_values(request: FigureRequest, jobs: pd.DataFrame, run: int) -> pd.DataFrame:
    """Return the channels of a run with their values, and the columns that identify the run."""
    row_set, colour = request.row_set, request.colour
    channels = channels_of(request, run)
    names = [*channels.columns.drop(colour), colour]
    identity = {kind: jobs[kind][run] for kind in row_set.identity if kind not in names}
    identity |= {kind: getattr(row_set.records[run], kind) for kind in ("topology", "routing")}
    return channels[names].assign(**identity)[[*identity, *names]]
