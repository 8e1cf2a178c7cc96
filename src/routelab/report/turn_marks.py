"""Marks of turns in pictures of networks: arcs round a switch, from one link to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from routelab.api import Topology
from routelab.report.network_picture import BARB_BACK, BARB_OUT, RADIUS, Picture, Points

Turn = tuple[int, int, int]

INNERMOST, SPACING = RADIUS + 0.16, 0.13
"""Radius of the innermost arc round a switch, and distance between arcs."""
STEP = np.pi / 16
"""Largest angle between two points of an arc."""


@dataclass(frozen=True)
class MarkedTurn:
    """A turn, or a turn and the opposite one.

    Attributes
    ----------
    before, switch, after : int
        Switches: a packet from the first turns at the second into the link to the third.
    both_ways : bool
        Whether the opposite turn is marked, too.
    """

    before: int
    switch: int
    after: int
    both_ways: bool


def pair_turns(turns: Iterable[Turn]) -> tuple[MarkedTurn, ...]:
    """Join opposite turns; the result is in ascending order of switches at which packets turn."""
    distinct_turns = set(turns)
    return tuple(
        MarkedTurn(a, b, c, (c, b, a) in distinct_turns)
        for b, a, c in sorted((b, a, c) for a, b, c in distinct_turns)
        if a < c or (c, b, a) not in distinct_turns
    )


def turn_arcs(
    topology: Topology, picture: Picture, turns: Iterable[MarkedTurn]
) -> tuple[Points, ...]:
    """Return a polyline for each turn; one that is marked in one direction ends with a barb.

    Arcs take the shorter way round their switch, and those that would overlap different radii.
    """
    angles = _link_angles(topology, picture)
    rings_at: dict[int, list[list[tuple[float, float]]]] = {}
    arcs = []
    for turn in turns:
        start_angle = angles[turn.switch, turn.before]
        sweep = (angles[turn.switch, turn.after] - start_angle + np.pi) % (2 * np.pi) - np.pi
        span = (
            (start_angle, start_angle + sweep) if sweep > 0 else (start_angle + sweep, start_angle)
        )
        rings = rings_at.setdefault(turn.switch, [])
        ring = next((r for r, spans in enumerate(rings) if _is_free(span, spans)), len(rings))
        if ring == len(rings):
            rings.append([])
        rings[ring].append(span)
        along = start_angle + np.linspace(0, sweep, 2 + int(abs(sweep) / STEP))
        radius = INNERMOST + SPACING * ring
        arc = picture.switches[turn.switch] + radius * _direction(along)
        if not turn.both_ways:
            side = _direction(along[-1:])
            backwards = np.sign(sweep) * np.column_stack([-side[:, 1], side[:, 0]])
            arc = np.vstack([arc, arc[-1:] - 0.7 * BARB_BACK * backwards + 0.9 * BARB_OUT * side])
        arcs.append(arc)
    return tuple(arcs)


def _link_angles(topology: Topology, picture: Picture) -> dict[tuple[int, int], float]:
    """Return the angle at which the link to another switch leaves a switch, by both."""
    angles: dict[tuple[int, int], float] = {}
    lines: list[list[Points]] = [[] for _ in range(topology.num_channels)]
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        lines[channel].append(line)
    for channel, channel_lines in enumerate(lines):
        source = int(topology.channel_source[channel])
        target = int(topology.channel_target[channel])
        # the last point of a line is its barb
        for ends, way in (
            ((source, target), channel_lines[0][1] - channel_lines[0][0]),
            ((target, source), channel_lines[-1][-3] - channel_lines[-1][-2]),
        ):
            angles.setdefault(ends, float(np.arctan2(way[1], way[0])))
    return angles


def _is_free(span: tuple[float, float], spans: Iterable[tuple[float, float]]) -> bool:
    """Return whether an arc neither overlaps nor touches others of its radius."""
    gap = 0.2
    for start, end in spans:
        for shift in (-2 * np.pi, 0, 2 * np.pi):
            if span[0] < end + shift + gap and start + shift - gap < span[1]:
                return False
    return True


def _direction(angles: Points) -> Points:
    return np.column_stack([np.cos(angles), np.sin(angles)])
