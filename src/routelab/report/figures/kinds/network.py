"""Pictures of a network with coloured channels, one for each routing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
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
    require_drawable,
)
from routelab.report.figures.request import FigureRequest
from routelab.report.figures.styles import FAINT, INK
from routelab.report.labels import label, number_text
from routelab.report.network_picture import RADIUS, Picture
from routelab.report.rows.row_set import OK
from routelab.report.turn_marks import turn_arcs

FIGURE_WIDTH = 10.0
"""Inches of a figure with one picture in a row; figures with several are 1.5 times as wide."""
MAX_UNIT = 0.42
"""Inches of a unit, the distance between two rows of switches, in small networks."""
TURN_WIDTH, BORDER_WIDTH = 1.8, 3.6
"""Points of the arc of a turn and of its white border, in small networks."""
MAX_VECTOR_CHANNELS = 20_000
"""Largest number of channels that are lines in files; more become an image."""
TURN_HINT = "An arc prohibits the turn between two links; with a barb, only in its direction."
_FAILED_STYLE: dict[str, Any] = {"color": FAINT, "linestyle": (0, (3, 2)), "linewidth": 1.2}
"""Style of failed links."""
_HINT_STYLE: dict[str, Any] = {"fontsize": 9, "color": FAINT, "x": 0.01, "ha": "left"}


def draw_networks(request: FigureRequest) -> Drawing | None:
    """Draw the network for each routing (and topology, ...), all with one colour scale.

    Pooled runs share a picture, which shows the median one of them: the run with the lower median
    of the maximum load (in packet simulations, of the maximum utilisation; in flow simulations
    without route tables, of the bottleneck's share).
    """
    colour, row_set = request.colour, request.row_set
    frame = row_set.select(request.spec.where, request.pooled, request.place)
    frame = frame[frame["status"] == OK]
    if frame.empty:
        return None
    panels = collect_panels(request, frame)
    figure, tooltips = _draw_panels(panels, colour)
    data = pd.concat(
        [_channel_values(request, frame, panel.run) for panel in panels], ignore_index=True
    )
    notes = "; ".join(
        f"{panel.title}, {panel.note}{_failures_text(panel.topology)}" for panel in panels
    )
    return Drawing(
        figure,
        data,
        description=f"Channels coloured by {label(colour)}. {notes}.",
        tooltips=tooltips,
        turns={panel.title: _turn_table(panel, colour) for panel in panels if panel.turns},
        cycles={panel.title: panel.cycle for panel in panels if panel.cycle},
        on_paper=_has_images(panels),
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
    require_drawable(topology, title)
    values = np.asarray(loads, dtype=np.float64)
    with house_style():
        figure, _ = _draw_panels([Panel.of_loads(title, topology, values)], "load")
    return figure


def _draw_panels(panels: list[Panel], colour: str) -> tuple[Figure, dict[str, list[str]]]:
    """Draw the pictures side by side at one scale.

    Returns
    -------
    figure : Figure
    tooltips : dict of str to list of str
        Tooltips for SVG files: by the id of a group of lines, such as ``channels-0`` for the
        channels of the first picture, a text for each line, in the order of drawing.
    """
    # 1. One scale of colours, so that pictures can be compared; 1 if no channel has any load.
    top = max(float(panel.values.max(initial=0)) for panel in panels) or 1.0
    figure, axes, unit = _make_axes(panels)
    tooltips = {}
    as_image = _has_images(panels)
    for i, (axis, panel) in enumerate(zip(axes, panels, strict=True)):
        channels_id, failed_id, turns_id = f"channels-{i}", f"failed-{i}", f"turns-{i}"
        channel_texts = _draw_channels(
            axis, panel, svg_id=channels_id, unit=unit, colour=colour, top=top, as_image=as_image
        )
        _draw_switches(axis, panel, unit, as_image=as_image)
        _draw_failed_parts(axis, panel.picture, svg_id=failed_id, unit=unit, as_image=as_image)
        failed_texts = [f"failed link {link}" for link, _ in panel.picture.failed_links]
        # Lines of an image are no elements of the file, so they have no tooltips.
        if not as_image:
            tooltips[channels_id] = channel_texts
            if failed_texts:
                tooltips[failed_id] = failed_texts
        if panel.turns:
            tooltips[turns_id] = _draw_turns(axis, panel, svg_id=turns_id, unit=unit)
    # 2. Keys: the colour scale of amounts (groups of channels have numbers instead), and each kind
    #    of failed part once. All pictures show the same column, so the first one decides.
    if not panels[0].shows_groups:
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
    entries: dict[str, Artist] = {}
    for axis in axes:
        artists, names = axis.get_legend_handles_labels()
        entries |= dict(zip(names, artists, strict=True))
    if entries:
        figure.legend(
            entries.values(),
            entries,
            loc="outside upper right",
            ncols=len(entries),
            labelcolor=FAINT,
            fontsize=9,
        )
    figure.supxlabel("\n".join(_hints(panels, colour)), **_HINT_STYLE)
    return figure, tooltips


def _has_images(panels: list[Panel]) -> bool:
    """Return whether the channels are images in files, which dark pages do not recolour."""
    return sum(panel.topology.num_channels for panel in panels) > MAX_VECTOR_CHANNELS


def _hints(panels: list[Panel], colour: str) -> tuple[str, ...]:
    """Return sentences on how to read the pictures, each once."""
    hints = [panel.picture.hint for panel in panels]
    if panels[0].shows_groups:
        # a channel with the value 0 is in no group
        has_several_groups = any(len(set(panel.values[panel.values > 0])) > 1 for panel in panels)
        colour_rule = (
            "those that meet at a switch differ" if has_several_groups else "others are grey"
        )
        hints.append(f"Colours: {label(colour)}; {colour_rule}.")
    if any(panel.turns for panel in panels):
        hints.append(TURN_HINT)
    return tuple(dict.fromkeys(hints))


def _failures_text(topology: Topology) -> str:
    """Return the end of a sentence such as ``, 1 failed link, 2 failed switches``; may be empty."""
    links, switches = len(topology.failed_links), len(topology.failed_switches)
    text = ""
    if links:
        text += f", {links} failed link{'' if links == 1 else 's'}"
    if switches:
        text += f", {switches} failed switch{'' if switches == 1 else 'es'}"
    return text


def _group_labels(panel: Panel) -> Iterator[tuple[tuple[float, float], str]]:
    """Yield the position (x, y) and the text of the number of each group; nothing for amounts."""
    if panel.shows_groups:
        for group, (x, y) in group_number_positions(panel.topology, panel.picture, panel.values):
            yield (float(x), float(y)), str(group)


def _turn_table(panel: Panel, colour: str) -> list[dict[str, str]]:
    """Return the marked turns as rows of a table: a text for each column.

    If the colours stand for groups of channels, a column has the groups of the two channels of the
    turn, such as ``1, 2``, or ``1`` if both are in this group.
    """
    # The group of the channel from one switch to another; of parallel channels, of the first.
    group_of: dict[tuple[int, int], float] = {}
    topology = panel.topology
    ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
    for source_and_target, value in zip(ends, panel.values.tolist(), strict=True):
        group_of.setdefault(source_and_target, value)
    rows = []
    for turn in panel.turns:
        before, switch, after = panel.turn_names(turn)
        both_ways = "yes" if turn.both_ways else "no"
        row = {"switch": switch, "from": before, "to": after, "and back": both_ways}
        if panel.shows_groups:
            groups = (group_of[turn.before, turn.switch], group_of[turn.switch, turn.after])
            row[label(colour)] = ", ".join(dict.fromkeys(f"{number:g}" for number in groups))
        rows.append(row)
    return rows


def _make_axes(panels: list[Panel]) -> tuple[Figure, list[Axes], float]:
    """Return a figure, an axis of equal size for each picture, and the inches of a picture's unit.

    As many axes stand in a row as make the figure about as wide as it is high.
    """
    # 1. Width and height of the largest picture, in units.
    boxes = [panel.picture.box for panel in panels]
    width = max(right - left for left, right, _, _ in boxes)
    height = max(top - bottom for _, _, bottom, top in boxes)
    # 2. Columns and rows of pictures: the quotient of width and height is closest to 1. The
    #    logarithm makes twice as wide as high as bad as twice as high as wide.
    rows_for = {columns: -(-len(panels) // columns) for columns in range(1, len(panels) + 1)}
    columns = min(rows_for, key=lambda n: abs(np.log(n * width / (rows_for[n] * height))))
    rows = rows_for[columns]
    # 3. The size: pictures have room above them for a title of two lines (0.75 inches), the figure
    #    for its keys (0.8 inches).
    figure_width = FIGURE_WIDTH if columns == 1 else 1.5 * FIGURE_WIDTH
    unit = min(MAX_UNIT, figure_width / (columns * width))
    figure = NotebookFigure(
        figsize=(max(columns * width * unit, 4.5), rows * (height * unit + 0.75) + 0.8),
        layout="constrained",
    )
    axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for unused in axes[len(panels) :]:
        unused.set_axis_off()
    return figure, axes[: len(panels)], unit


def _draw_channels(
    axis: Axes,
    panel: Panel,
    *,
    svg_id: str,
    unit: float,
    colour: str,
    top: float,
    as_image: bool,
) -> list[str]:
    """Draw the channels of a picture; return the tooltips of their lines in the order of drawing.

    Parameters
    ----------
    axis : Axes
    panel : Panel
    svg_id : str
        Id of the lines in SVG files.
    unit : float
        Inches of a unit of the picture.
    colour : str
        Column of the values.
    top : float
        Value at the upper end of the colour scale.
    as_image : bool
        Whether files have an image instead of lines.
    """
    picture, values, styles = panel.picture, panel.values, panel.styles(top)
    line_channel = np.array(picture.line_channel, dtype=np.int64)
    # ascending: later lines cover earlier ones, and the busiest channels are on top
    drawing_order = np.argsort(values[line_channel], kind="stable")
    channels = line_channel[drawing_order]
    lines = LineCollection(
        [picture.lines[line] for line in drawing_order],
        colors=styles.colours[channels],
        # large networks have a smaller unit, and lines that are thinner by as much
        linewidths=styles.widths[channels] * unit / MAX_UNIT,
        capstyle="round",
        joinstyle="round",
        gid=svg_id,
        zorder=2,
        rasterized=as_image,
    )
    axis.add_collection(lines)
    topology = panel.topology
    return [
        f"{topology.channel_name(int(channel))}: {label(colour)} {number_text(colour, value)}"
        for channel, value in zip(channels, values[channels], strict=True)
    ]


def _draw_switches(axis: Axes, panel: Panel, unit: float, *, as_image: bool) -> None:
    """Draw switches and texts of a picture, and its ticks, such as coordinates.

    The texts are one in each switch (unless files have an image), the names of groups of switches,
    and the numbers of groups of channels.
    """
    picture = panel.picture
    left, right, bottom, top = picture.box
    axis.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    diameter = 2 * RADIUS * 72 * unit  # in points, of which an inch has 72; `s` is its square
    x, y = picture.switches.T
    axis.scatter(x, y, s=diameter**2, color="white", edgecolor=FAINT, zorder=3, rasterized=as_image)
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": INK}
    marks = () if as_image else zip(picture.switches, picture.marks, strict=True)
    for (x, y), mark in marks:
        axis.text(x, y, mark, zorder=4, fontsize=0.5 * diameter, **style)
    for x, y, name in picture.captions:
        axis.text(x, y, name, zorder=4, fontsize=0.75 * diameter, **style)
    border = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    for (x, y), number in _group_labels(panel):
        axis.text(x, y, number, zorder=6, fontsize=0.75 * diameter, bbox=border, **style)
    axis.grid(visible=False)
    axis.spines[:].set_visible(False)
    axis.tick_params(length=0, labelcolor=FAINT, labelsize=9)
    x_ticks, y_ticks = picture.block_ticks
    axis.set_xticks([position for position, _ in x_ticks], [text for _, text in x_ticks])
    axis.set_yticks([position for position, _ in y_ticks], [text for _, text in y_ticks])
    axis.set_title(f"{panel.title}\n{panel.note}", color=INK)


def _draw_failed_parts(
    axis: Axes, picture: Picture, *, svg_id: str, unit: float, as_image: bool
) -> None:
    """Draw failed links and switches dashed; `svg_id` is the id of the links in SVG files."""
    style = {**_FAILED_STYLE, "zorder": 1, "rasterized": as_image}
    lines = [line for _, line in picture.failed_links]
    if lines:
        axis.add_collection(LineCollection(lines, gid=svg_id, label="failed link", **style))
    if len(picture.failed_switches):
        x, y = picture.failed_switches.T
        diameter = 2 * RADIUS * 72 * unit  # in points; see `_draw_switches`
        axis.scatter(
            x,
            y,
            s=diameter**2,
            facecolor="none",
            edgecolor=FAINT,
            linestyle="--",
            linewidth=0.8,
            rasterized=as_image,
            label="failed switch",
            gid=f"switches-{svg_id}",
        )


def _draw_turns(axis: Axes, panel: Panel, *, svg_id: str, unit: float) -> list[str]:
    """Draw the arcs of turns with a white border; return their tooltips.

    The arcs have the id `svg_id` in SVG files; tooltips are in the order of the turns.
    """
    arcs = turn_arcs(panel.topology, panel.picture, panel.turns)
    # the border first, which the arcs cover but for its edges
    for colour, width, collection_id in (
        ("white", BORDER_WIDTH, f"border-{svg_id}"),
        (INK, TURN_WIDTH, svg_id),
    ):
        axis.add_collection(
            LineCollection(
                arcs,
                colors=colour,
                linewidths=width * unit / MAX_UNIT,
                capstyle="round",
                joinstyle="round",
                gid=collection_id,
                zorder=5,
            )
        )
    return [
        f"prohibited: {', '.join(panel.turn_names(turn))}" + (" and back" if turn.both_ways else "")
        for turn in panel.turns
    ]


def _channel_values(request: FigureRequest, frame: pd.DataFrame, run: int) -> pd.DataFrame:
    """Return a row for each channel of a run, for the data of the figure.

    The columns that identify the run come first, such as topology and routing, then those of the
    channel, and the value that its colour stands for last.
    """
    row_set, colour = request.row_set, request.colour
    channels = channels_of(request, run)
    channel_columns = [*channels.columns.drop(colour), colour]
    identity = {
        column: frame[column][run] for column in row_set.identity if column not in channel_columns
    }
    # Names in `frame` stand for all pooled runs. The picture shows one of them, so the names of the
    # network and the routing are those of this run.
    record = row_set.records[run]
    identity |= {"topology": record.topology, "routing": record.routing}
    return channels[channel_columns].assign(**identity)[[*identity, *channel_columns]]
