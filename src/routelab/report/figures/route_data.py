"""Routes and cycles of network pictures, as compact data for the page's scripts."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from routelab.api import RouteTable, Topology

DIGITS = string.digits + string.ascii_letters
"""Digits of the numbers of outgoing channels in `route_text`."""
MAX_ROUTE_TEXT = 500_000
"""Characters of routes in a figure; the page leaves out those of further pictures."""

MAX_PACKED_ROUTES = 6_000_000
"""Characters of the routes of a large picture, before they are compressed."""
SHARE = 9
"""Characters of a share at most."""

_STEP = re.compile(r"(.*) vc \d+ waits for .*")


@dataclass(frozen=True)
class PanelRoutes:
    """The routes of one picture.

    Attributes
    ----------
    text : str
        See `route_text`; empty if the page has no routes.
    per_terminal : bool
        Whether the destinations are terminals.
    note : str
        Why the page has no routes, or nothing.
    cycle : tuple of (int, str)
        Channel and description of each step of the cycle that refutes the table.
    """

    text: str = ""
    per_terminal: bool = False
    note: str = ""
    cycle: tuple[tuple[int, str], ...] = ()

    @property
    def data(self) -> dict[str, Any]:
        """The part that a script reads."""
        return {"perTerminal": self.per_terminal, "routes": self.text}


def graph_data(topology: Topology) -> dict[str, Any]:
    """Return the switches, channels and terminals of a network for a script."""
    return {
        "switches": list(topology.switch_names),
        "source": topology.channel_source.tolist(),
        "target": topology.channel_target.tolist(),
        "terminals": topology.terminal_switch.tolist(),
        "hosts": list(topology.terminal_names),
        "width": _width(topology),
    }


def route_text(table: RouteTable) -> str:
    """Return all routes: pairs are separated by commas, paths of a pair by bars.

    A hop is the number of its channel among those that leave its switch, in ascending order: one
    or two `DIGITS`. Paths whose shares differ end with a colon and the share. A pair without a
    path, and one of a switch to itself, has an empty text.
    """
    topology = table.topology
    start, channel = topology.outgoing
    slot = np.empty(topology.num_channels, dtype=np.int64)
    slot[channel] = np.arange(topology.num_channels) - np.repeat(start[:-1], np.diff(start))
    width = _width(topology)
    codes = [_number(int(one), width) for one in slot]
    hops = [codes[one] for one in table.hop_channel.tolist()]
    ends = table.path_start.tolist()
    paths = ["".join(hops[a:b]) for a, b in pairwise(ends)]
    pairs = table.pair_start.tolist()
    return ",".join(
        "|".join(_with_shares(paths[a:b], table.path_weight[a:b].tolist()))
        for a, b in pairwise(pairs)
    )


def estimate_size(table: RouteTable) -> int:
    """Return about how many characters `route_text` has, without making it."""
    separators = max(len(table.pair_start), len(table.path_weight))
    shares = SHARE * int(np.count_nonzero(table.path_weight < 1))
    return len(table.hop_channel) * _width(table.topology) + separators + shares


def cycle_steps(topology: Topology, text: str) -> tuple[tuple[int, str], ...]:
    """Return channel and description of each step of a cycle.

    Parameters
    ----------
    topology : Topology
    text : str
        The fact ``deadlock_cycle``; see `routelab.deadlock.Verdict.describe_cycle`.
    """
    channels: dict[str, int] = {}
    for channel, port in enumerate(topology.source_port.tolist()):
        name = topology.channel_name(channel)
        channels.setdefault(name, channel)
        channels[f"{name} port {port}"] = channel
    steps = ((_STEP.fullmatch(line), line) for line in text.splitlines())
    return tuple((channels[found[1]], line) for found, line in steps if found)


def _with_shares(paths: list[str], shares: list[float]) -> Iterator[str]:
    alike = max(shares, default=1.0) - min(shares, default=1.0) < 1e-9
    for path, share in zip(paths, shares, strict=True):
        yield path if alike or not path else f"{path}:{share:.6g}"


def _width(topology: Topology) -> int:
    """Return the digits of the number of an outgoing channel."""
    most = np.diff(topology.outgoing[0]).max(initial=0)
    return 1 if most <= len(DIGITS) else 2


def _number(value: int, width: int) -> str:
    high, low = divmod(value, len(DIGITS))
    return DIGITS[low] if width == 1 else DIGITS[high] + DIGITS[low]
