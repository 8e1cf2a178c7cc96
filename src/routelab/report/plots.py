"""Pictures of a single command: latency against load, channel loads, times of a workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from routelab.api import Column, InputError
from routelab.results.atomic import check_file_writable

if TYPE_CHECKING:
    from routelab.report.figures.drawing import Drawing

SUFFIXES = ("svg", "png", "pdf", "csv")
"""Formats of plot files; ``csv`` has the numbers of the picture."""

LATENCY = "latency_mean"
"""Column on the vertical axis of latency-load curves."""

PLACE = "--plot: "
"""Prefix of messages about a plot."""


def check_plot(file: Path | None) -> None:
    """Check, before any work, that a plot can be written to a file, if one is requested.

    Raises
    ------
    InputError
        If the format is unknown or the file cannot be written.
    """
    if file is None:
        return
    if file.suffix[1:] not in SUFFIXES:
        suffixes = ", ".join(f".{suffix}" for suffix in SUFFIXES)
        raise InputError(f"{PLACE}{file}: unknown format; name a file that ends with {suffixes}")
    check_file_writable(file)


def plot_latency(title: str, curves: Mapping[str, Sequence[Mapping[str, Any]]], file: Path) -> None:
    """Draw the latency-load curve of each routing.

    Parameters
    ----------
    title : str
    curves : mapping
        Rows of each routing, one for each offered load, with the columns of ``curve.csv``.
    file : path
        Its suffix is one of `SUFFIXES`.

    Raises
    ------
    InputError
        If there are too many routings for one picture.
    """
    import pandas as pd

    from routelab.report.figures.drawing import house_style
    from routelab.report.figures.kinds.curve import curve_drawing
    from routelab.report.figures.request import FigureRequest
    from routelab.report.rows.routes import RouteRows
    from routelab.study import Figure as FigureSpec

    # 1. A row for each point. A band shows the interval of a latency, from `low` to `high`; if a
    #    latency has none, both are the latency itself.
    ends = f"{LATENCY}_low", f"{LATENCY}_high"
    rows = [
        (name, row["load"], *(row.get(column) for column in (LATENCY, *ends)), row.get("state"))
        for name, curve in curves.items()
        for row in curve
        if row.get("load")
    ]
    data = pd.DataFrame(rows, columns=["routing", "load", LATENCY, *ends, "state"])
    numbers = [LATENCY, *ends]
    data[numbers] = data[numbers].astype(np.float64)
    for end in ends:
        data[end] = data[end].fillna(data[LATENCY])
    # 2. The curves are drawn like a figure that a study declares. Such a figure reads the rows of
    #    the study's runs; here it gets its data instead, so it has no rows.
    spec = FigureSpec(kind="curve", of="loads", x="load", y=LATENCY, hue="routing")
    request = FigureRequest(spec, RouteRows([]), place=PLACE)
    with house_style():
        drawing = curve_drawing(request, data)
    _write(drawing, title, file)


def plot_channel_loads(
    title: str, loads: Mapping[str, npt.NDArray[np.float64]], file: Path
) -> None:
    """Draw the loads of all channels in descending order, a line for each routing.

    Parameters
    ----------
    title : str
    loads : mapping
        Load of each channel, by routing; see `routelab.metrics.relative_loads`.
    file : path
        Its suffix is one of `SUFFIXES`.

    Raises
    ------
    InputError
        If there are too many routings for one picture.
    """
    import pandas as pd

    from routelab.report.figures.drawing import house_style
    from routelab.report.figures.kinds.ranked import ranked_drawing
    from routelab.report.figures.observations import COUNT
    from routelab.report.figures.request import LOAD, FigureRequest
    from routelab.report.rows.routes import RouteRows
    from routelab.study import Figure as FigureSpec

    # each row stands for one channel
    channels = pd.concat(
        [pd.DataFrame({"routing": name, LOAD: values, COUNT: 1}) for name, values in loads.items()]
    )
    # The loads are drawn like a figure that a study declares. Such a figure reads the rows of the
    # study's runs; here it gets its data instead, so it has no rows.
    spec = FigureSpec(kind="ranked", of="channels", y=LOAD, hue="routing")
    request = FigureRequest(spec, RouteRows([]), place=PLACE)
    with house_style():
        drawing = ranked_drawing(request, channels, noun="channels")
    _write(drawing, title, file)


def plot_merit(title: str, column: Column, values: Mapping[str, float], file: Path) -> None:
    """Draw one value of each routing as a bar.

    Parameters
    ----------
    title : str
    column : Column
        The column of the values.
    values : mapping
        The value of each routing, by its name.
    file : path
        Its suffix is one of `SUFFIXES`.
    """
    import pandas as pd
    from matplotlib.figure import Figure

    from routelab.report.figures.drawing import Drawing, house_style
    from routelab.report.figures.styles import PALETTE

    data = pd.DataFrame({"routing": list(values), column.name: list(values.values())})
    with house_style():
        figure = Figure(figsize=(6, 1.2 + 0.4 * len(values)), layout="constrained")
        axis = figure.subplots()
        bars = axis.barh(list(values), list(values.values()), color=PALETTE[0])
        axis.bar_label(bars, fmt="%.4g", padding=3)
        axis.invert_yaxis()  # the first routing on top
        axis.margins(x=0.15)  # room for the numbers at the ends of the bars
        axis.grid(axis="y", visible=False)
        axis.set_xlabel(column.label)
    _write(Drawing(figure, data, f"{column.label} of each routing."), title, file)


def plot_cycle(title: str, steps: Sequence[tuple[str, str, str]], file: Path) -> None:
    """Draw a cycle of dependencies: resources in a circle, with an arrow to what each waits for.

    Parameters
    ----------
    title : str
    steps : sequence of (str, str, str)
        A resource, the one that it waits for, and a route that causes it;
        see `routelab.deadlock.Verdict.cycle_steps`.
    file : path
        Its suffix is one of `SUFFIXES`.
    """
    import pandas as pd
    from matplotlib.figure import Figure

    from routelab.report.figures.drawing import Drawing, house_style
    from routelab.report.figures.styles import FAINT, INK, PALETTE

    data = pd.DataFrame(list(steps), columns=["resource", "waits for", "route"])
    # Resources stand clockwise from the top on a circle of radius 1, at equal distances.
    step_angle = 2 * np.pi / len(steps)
    angles = np.pi / 2 - 2 * np.pi * np.arange(len(steps)) / len(steps)
    # The middle of an arrow, a chord of the circle, is cos(step_angle / 2) from the centre. The
    # text of the route that causes it is a little further inside.
    text_radius = 0.82 * np.cos(step_angle / 2)
    with house_style():
        side = max(4.5, 0.5 * len(steps))
        figure = Figure(figsize=(side + 2, side), layout="constrained")
        axis = figure.subplots()
        axis.set(xlim=(-1.5, 1.5), ylim=(-1.25, 1.25), aspect="equal")
        axis.set_axis_off()
        for (resource, _, route), angle in zip(steps, angles, strict=True):
            next_angle, middle_angle = angle - step_angle, angle - step_angle / 2
            # An arrow from this resource to the next one. It is 18 points shorter at both ends,
            # where the boxes with the names are.
            axis.annotate(
                "",
                xy=(np.cos(next_angle), np.sin(next_angle)),
                xytext=(np.cos(angle), np.sin(angle)),
                arrowprops={"arrowstyle": "-|>", "color": PALETTE[1], "shrinkA": 18, "shrinkB": 18},
            )
            axis.text(
                text_radius * np.cos(middle_angle),
                text_radius * np.sin(middle_angle),
                route.removeprefix("route "),
                color=FAINT,
                fontsize=8,
                ha="center",
                va="center",
            )
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": INK}
            axis.text(np.cos(angle), np.sin(angle), resource, ha="center", va="center", bbox=box)
    lines = "; ".join(
        f"{resource} waits for {next_resource}" for resource, next_resource, _ in steps
    )
    _write(Drawing(figure, data, f"Cycle of dependencies: {lines}."), title, file)


def _write(drawing: Drawing, title: str, file: Path) -> None:
    """Give a drawing its title and write it."""
    from routelab.report.figures.drawing import house_style, write_drawing

    with house_style():
        if drawing.figure.legends:
            # the legend stands at the top, where a title of the figure would cover its first line
            drawing.figure.legends[0].set_title(title)
        else:
            drawing.figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    write_drawing(drawing, file)
