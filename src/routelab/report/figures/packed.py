"""Large network pictures for the page: compressed data that the script draws on a canvas."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import Topology
from routelab.report.figures.inline import svg_points
from routelab.report.figures.route_data import graph_data
from routelab.report.labels import number_text
from routelab.report.network_picture import Picture

MAX_PACKED = 1_000_000
"""Characters of the data of a figure; above it, the page shows the figure's file."""


def pack(data: Mapping[str, Any]) -> str:
    """Return data as text that `unpack` of the page's script reads: JSON, zlib and Base64."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()


def network_json(topology: Topology, picture: Picture) -> dict[str, Any]:
    """Return a network and its drawing.

    Returns
    -------
    dict
        The keys of `routelab.report.figures.route_data.graph_data`. Also ``directions`` (names) and
        ``direction`` (number of the name of each channel, or -1); for switches ``places`` (x and y)
        and ``marks`` (texts in them); ``lines`` (number of lines of each channel), ``sizes``
        (points of each line) and ``points`` (x and y). The first point of a line is relative to the
        switch that the channel leaves, the others to the point before.
    """
    places = np.array(svg_points(picture.switches)).reshape(-1, 2)
    count = np.bincount(picture.line_channel, minlength=topology.num_channels)
    points: list[int] = []
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        corners = np.array(svg_points(line))
        before = np.vstack([places[topology.channel_source[channel]], corners[:-1]])
        points += (corners - before).ravel().tolist()
    return {
        **graph_data(topology),
        "directions": [direction.name for direction in topology.directions],
        "direction": topology.channel_direction.tolist(),
        "places": places.ravel().tolist(),
        "marks": list(picture.marks) if any(picture.marks) else [],
        "lines": count.tolist(),
        "sizes": [len(line) for line in picture.lines],
        "points": points,
    }


def values_json(values: NDArray[np.float64], classes: Sequence[str]) -> dict[str, Any]:
    """Return the values of all channels.

    Parameters
    ----------
    values : float64 array, shape (C,)
    classes : sequence of str, length C
        Equal for equal values; see `routelab.report.figures.channel_looks.ChannelLooks`.

    Returns
    -------
    dict
        ``texts`` and ``looks`` of the distinct values, ascending, and ``at``: the number of the
        value of each channel.
    """
    distinct, first, at = np.unique(values, return_index=True, return_inverse=True)
    return {
        "texts": [number_text("", value) for value in distinct],
        "looks": [classes[channel] for channel in first.tolist()],
        "at": at.ravel().tolist(),
    }
