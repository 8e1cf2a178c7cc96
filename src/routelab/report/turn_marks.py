"""Marks of turns in pictures of networks: arcs round a switch, from one link to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from routelab.api import Topology
from routelab.report.network_picture import BARB_BACK, BARB_OUT, RADIUS, Picture, Points

Turn = tuple[int, int, int]
"""Switches: a packet from the first turns at the second into the link to the third."""

INNERMOST_RADIUS, RADIUS_STEP = RADIUS + 0.16, 0.13
"""Radius of the innermost arc round a switch, and distance between arcs."""
ANGLE_STEP = np.pi / 16
"""Largest angle between two points of an arc."""
MIN_GAP = 0.2
"""Smallest angle between two arcs of one radius."""


@dataclass(frozen=True)
class MarkedTurn:
    """A turn, or a turn and the opposite one.

    Attributes
    ----------
    before, switch, after : int
        Switches: a packet from `before` turns at `switch` into the link to `after`.
    both_ways : bool
        Whether the mark also stands for the opposite turn, from `after` to `before`.
    """

    before: int
    switch: int
    after: int
    both_ways: bool


def pair_turns(turns: Iterable[Turn]) -> tuple[MarkedTurn, ...]:
    """Join opposite turns into one mark; the marks of a switch follow each other.

    Turns (0, 1, 2), (2, 1, 0) and (4, 1, 3): two marks, (0, 1, 2) both ways and (4, 1, 3).
    """
    distinct_turns = set(turns)
    marks = []
    # sorted by the switch in the middle
    for before, switch, after in sorted(distinct_turns, key=lambda turn: (turn[1], turn)):
        has_opposite = (after, switch, before) in distinct_turns
        # of two opposite turns, the one from the switch with the smaller number stands for both
        if before < after or not has_opposite:
            marks.append(MarkedTurn(before, switch, after, both_ways=has_opposite))
    return tuple(marks)


def turn_arcs(
    topology: Topology, picture: Picture, turns: Iterable[MarkedTurn]
) -> tuple[Points, ...]:
    """Return a polyline for each turn; one that is marked in one direction ends with a barb.

    Arcs take the shorter way round their switch. Those that would overlap have different radii.
    """
    angles = _link_angles(topology, picture)
    # The spans (least and largest angle) of the arcs at a switch, by radius, the innermost first.
    spans_at: dict[int, list[list[tuple[float, float]]]] = {}
    arcs = []
    for turn in turns:
        # 1. The angle from one link to the other, positive if counterclockwise; in [−π, π), which
        #    is the shorter way.
        start_angle = angles[turn.switch, turn.before]
        sweep = (angles[turn.switch, turn.after] - start_angle + np.pi) % (2 * np.pi) - np.pi
        span = (
            (start_angle, start_angle + sweep) if sweep > 0 else (start_angle + sweep, start_angle)
        )
        # 2. The smallest radius with room for the arc, or else a new one outside all others.
        spans_by_radius = spans_at.setdefault(turn.switch, [])
        free_radii = (i for i, spans in enumerate(spans_by_radius) if _is_free(span, spans))
        radius_number = next(free_radii, len(spans_by_radius))
        if radius_number == len(spans_by_radius):
            spans_by_radius.append([])
        spans_by_radius[radius_number].append(span)
        # 3. The arc, and a barb at the outside of its end.
        arc_angles = start_angle + np.linspace(0, sweep, 2 + int(abs(sweep) / ANGLE_STEP))
        radius = INNERMOST_RADIUS + RADIUS_STEP * radius_number
        arc = picture.switches[turn.switch] + radius * _unit_vectors(arc_angles)
        if not turn.both_ways:
            outwards = _unit_vectors(arc_angles[-1:])
            # the tangent at the end: a quarter turn to the left, or to the right if clockwise
            forwards = np.sign(sweep) * np.column_stack([-outwards[:, 1], outwards[:, 0]])
            # slightly smaller than the barb of a channel
            barb_end = arc[-1:] - 0.7 * BARB_BACK * forwards + 0.9 * BARB_OUT * outwards
            arc = np.vstack([arc, barb_end])
        arcs.append(arc)
    return tuple(arcs)


def _link_angles(topology: Topology, picture: Picture) -> dict[tuple[int, int], float]:
    """Return the angle at which a link leaves a switch, by this switch and the link's other one.

    The lines are measured, because a link that is drawn as an arc or in two lines does not leave in
    the direction of its other switch. Parallel links have the angle of the first one.
    """
    angles: dict[tuple[int, int], float] = {}
    channel_lines: list[list[Points]] = [[] for _ in range(topology.num_channels)]
    for line, channel in zip(picture.lines, picture.line_channel, strict=True):
        channel_lines[channel].append(line)
    for channel, lines in enumerate(channel_lines):
        source = int(topology.channel_source[channel])
        target = int(topology.channel_target[channel])
        # A channel that is cut leaves with its first line and arrives with its second one.
        leaving, arriving = lines[0], lines[-1]
        # the last point is the end of the barb, and no point of the channel
        before_tip, tip, _ = arriving[-3:]
        for ends, direction in (
            ((source, target), leaving[1] - leaving[0]),
            ((target, source), before_tip - tip),
        ):
            angles.setdefault(ends, float(np.arctan2(direction[1], direction[0])))
    return angles


def _is_free(span: tuple[float, float], spans: Iterable[tuple[float, float]]) -> bool:
    """Return whether an arc keeps a distance of `MIN_GAP` from other arcs of its radius."""
    for start, end in spans:
        # Angles that differ by a full turn are equal: −90° to −30° is the arc 270° to 330°.
        for full_turn in (-2 * np.pi, 0, 2 * np.pi):
            if span[0] < end + full_turn + MIN_GAP and start + full_turn - MIN_GAP < span[1]:
                return False
    return True


def _unit_vectors(angles: Points) -> Points:
    """Return a row (x, y) of length 1 for each angle."""
    return np.column_stack([np.cos(angles), np.sin(angles)])
