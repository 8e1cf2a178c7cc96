"""simgrid: a platform of SimGrid with the routes of a table.

Hosts are the terminals in order of rank. They have the names of the terminals if all have one
without spaces, otherwise ``t0``, ``t1``, ... Links are directed channels
(``c<number>_<from>_<to>``), the memory of each host (``memory0``), and, if the machine limits them,
its connections into and out of the network (``in0``, ``out0``). Every ordered pair of hosts has a
separate route, and a link with the latency of its messages (``latency0_1``). The format is that of
the SimGrid documentation, "The XML reference" and "Modeling Hints", version 4.1 of its DTD;
Casanova, Giersch, Legrand, Quinson and Suter, *Versatile, Scalable, and Accurate Simulation of
Distributed Applications and Platforms*, JPDC 74(10), 2014.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal
from xml.etree import ElementTree as ET
from xml.sax.saxutils import quoteattr

import numpy as np

from routelab.api import (
    ExportPlugin,
    InputError,
    MachineSpeeds,
    Parameters,
    RoutelabError,
    RouteTable,
    Topology,
    parameter,
)
from routelab_plugins import works

FILE = "platform.xml"
UNLIMITED = 1e18
"""Speed without a limit, because SimGrid needs a number."""

_PER_TERMINAL = "routes-per-terminal"
"""Property of a platform whose hosts at one switch have separate routes."""

_SPACES = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
"""Escapes in attributes of XML, where a reader takes these characters for blanks."""

_CHANNEL = re.compile(r"c(?P<channel>\d+)_(?P<source>\d+)_(?P<target>\d+)")


class SimGridParameters(Parameters):
    """Latencies and cores on the platform."""

    latency: Literal["per-link", "per-route"] = parameter(
        "per-link",
        description="Latency of a route: on its links (SimGrid gives flows on long routes a "
        "smaller share of a link), or equal for all routes (shares are max-min fair)",
    )
    cores: int = parameter(
        1, ge=1, le=1_000_000, description="Ranks that can compute at full speed on a host"
    )


class SimGrid(ExportPlugin):
    """Write a table as one file, and read it back.

    The file has latencies and speeds. `read` ignores the latencies, and turns the speeds of the
    channels into capacities relative to the fastest one.
    """

    name = "simgrid"
    summary = "Platform of SimGrid: hosts, one-way links and a route for every pair of hosts"
    citations = (works.CASANOVA2014("the simulator that reads the platform"),)
    Parameters = SimGridParameters

    def supports(self, table: RouteTable) -> str | None:
        """Require one route per pair, as in platforms."""
        if np.diff(table.pair_start).max(initial=0) > 1:
            return "pairs have several paths, and SimGrid has one route from a host to another"
        return None

    def export(self, table: RouteTable, machine: MachineSpeeds) -> dict[str, str]:
        """Write ``platform.xml``."""
        lines = [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            '<platform version="4.1">',
            ' <zone id="network" routing="Full">',
            *_properties(table),
            *self._hosts(table.topology, machine),
            *self._links(table, machine),
            *self._routes(table, machine),
            " </zone>",
            "</platform>",
        ]
        return {FILE: "\n".join(lines) + "\n"}

    def _hosts(self, topology: Topology, machine: MachineSpeeds) -> Iterator[str]:
        """Yield each terminal as a host with its switch as a property."""
        speed = f"{machine.compute_rate or UNLIMITED!r}f"  # in SimGrid's unit f, flop/s
        for name, switch in zip(
            topology.host_names, topology.terminal_switch.tolist(), strict=True
        ):
            yield (
                f'  <host id={quoteattr(name)} speed="{speed}" core="{self.parameters.cores}">'
                f'<prop id="switch" value="{switch}"/></host>'
            )

    def _links(self, table: RouteTable, machine: MachineSpeeds) -> Iterator[str]:
        """Yield the links: channels, the limits and the memory of each host, and latencies."""
        topology = table.topology
        hop_latency = machine.hop_latency if self._per_link else 0.0
        channels = zip(
            topology.channel_source.tolist(),
            topology.channel_target.tolist(),
            topology.channel_capacity.tolist(),
            strict=True,
        )
        for channel, (source, target, capacity) in enumerate(channels):
            name = f"c{channel}_{source}_{target}"
            yield _link(name, capacity * machine.link_bandwidth, hop_latency)
        memory = machine.memory_bandwidth
        for terminal in range(topology.num_terminals):
            for prefix, bandwidth in _host_limits(machine):
                yield _link(f"{prefix}{terminal}", bandwidth, 0.0)
            # memory without a limit (0) needs no sharing
            yield _link(f"memory{terminal}", memory, machine.memory_latency, is_shared=memory > 0)
        # Each route to another host has a link without a limit, for the latency of a message; with
        # latency=per-route, also for that of the mean number of hops. With one such link for all
        # routes, SimGrid would reshare all flows at every event, also those without a common
        # channel.
        latency = machine.latency
        if not self._per_link:
            lengths = [len(hops) for _, _, hops in _host_routes(table)]
            latency += machine.hop_latency * (float(np.mean(lengths)) if lengths else 0.0)
        for source, target, _ in _host_routes(table):
            yield _link(f"latency{source}_{target}", 0.0, latency, is_shared=False)

    def _routes(self, table: RouteTable, machine: MachineSpeeds) -> Iterator[str]:
        """Yield a route for each host to itself, and for each pair of hosts of the table."""
        topology = table.topology
        ends = zip(topology.channel_source.tolist(), topology.channel_target.tolist(), strict=True)
        channel_links = [f'<link_ctn id="c{c}_{s}_{t}"/>' for c, (s, t) in enumerate(ends)]
        limits = dict(_host_limits(machine))
        host_names = [quoteattr(name) for name in topology.host_names]
        for terminal, name in enumerate(host_names):
            yield _route(name, name, f'<link_ctn id="memory{terminal}"/>')
        for source, target, channels in _host_routes(table):
            first = f'<link_ctn id="in{source}"/>' if "in" in limits else ""
            hops = "".join(channel_links[channel] for channel in channels)
            last = f'<link_ctn id="out{target}"/>' if "out" in limits else ""
            links = f'{first}<link_ctn id="latency{source}_{target}"/>{hops}{last}'
            yield _route(host_names[source], host_names[target], links)

    @property
    def _per_link(self) -> bool:
        """Whether each hop adds latency; otherwise all routes have the same latency."""
        return bool(self.parameters.latency == "per-link")

    def read(self, files: Mapping[str, str]) -> RouteTable:
        """Read switches, terminals, channels with their relative capacities, and routes."""
        if FILE not in files:
            raise InputError(f"simgrid: {FILE} not found")
        try:
            zone = ET.fromstring(files[FILE]).find("zone")
            if zone is None:
                raise InputError("it has no zone")
            return _read_table(zone)
        except (ET.ParseError, RoutelabError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"simgrid: {FILE} cannot be read: {error}") from error


def _properties(table: RouteTable) -> Iterator[str]:
    """Yield the names of switches, and whether the hosts of a switch have separate routes."""
    for switch, name in enumerate(table.topology.switch_names):
        yield f'  <prop id="switch{switch}" value={quoteattr(name, _SPACES)}/>'
    if table.per_terminal:
        yield f'  <prop id="{_PER_TERMINAL}" value="yes"/>'


def _host_limits(machine: MachineSpeeds) -> Iterator[tuple[str, float]]:
    """Yield the limits between a host and its switch: ``in`` or ``out``, and bytes per second."""
    if machine.injection_bandwidth:
        yield "in", machine.injection_bandwidth
    if machine.ejection_bandwidth:
        yield "out", machine.ejection_bandwidth


def _link(name: str, bandwidth: float, latency: float, *, is_shared: bool = True) -> str:
    """Return a link; bandwidth 0 stands for no limit.

    The flows on a shared link divide its bandwidth; without sharing (FATPIPE) each may have all.
    """
    policy = "SHARED" if is_shared else "FATPIPE"
    return (
        f'  <link id="{name}" bandwidth="{float(bandwidth or UNLIMITED)!r}Bps" '
        f'latency="{float(latency)!r}s" sharing_policy="{policy}"/>'
    )


def _route(source: str, target: str, links: str) -> str:
    """Return a one-way route; `source` and `target` are quoted names of hosts."""
    return f'  <route src={source} dst={target} symmetrical="NO">{links}</route>'


def _host_routes(table: RouteTable) -> Iterator[tuple[int, int, list[int]]]:
    """Iterate over source, target and channels of ordered pairs of terminals with a route."""
    pair_start = table.pair_start.tolist()
    path_start = table.path_start.tolist()
    channels = table.hop_channel.tolist()
    terminals = np.arange(table.topology.num_terminals)
    for source in terminals.tolist():
        pair_to = table.pair_between(np.full_like(terminals, source), terminals)
        for target, pair in enumerate(pair_to.tolist()):
            path = pair_start[pair]  # the only one: `SimGrid.supports` refuses several
            has_route = path < pair_start[pair + 1]
            if source != target and has_route:
                yield source, target, channels[path_start[path] : path_start[path + 1]]


def _read_table(zone: ET.Element) -> RouteTable:
    """Return the route table of a zone that `SimGrid` wrote."""
    properties = {prop.attrib["id"]: prop.attrib["value"] for prop in zone.findall("prop")}
    per_terminal = properties.pop(_PER_TERMINAL, "no") == "yes"
    num_switches = len(properties)  # each of the others is the name of a switch
    hosts = {host.attrib["id"]: host for host in zone.findall("host")}
    default_names = [f"t{terminal}" for terminal in range(len(hosts))]
    ends: dict[int, tuple[int, int]] = {}
    bandwidth: dict[int, float] = {}
    for link in zone.findall("link"):
        match = _CHANNEL.fullmatch(link.attrib["id"])
        if match:
            channel = int(match["channel"])
            ends[channel] = int(match["source"]), int(match["target"])
            bandwidth[channel] = float(link.attrib["bandwidth"].removesuffix("Bps"))
    channels = range(len(ends))
    # The file has bytes per second, but not the unit of capacities: the fastest channel gets 1.
    fastest = max(bandwidth.values(), default=1.0)
    topology = Topology.create(
        family="simgrid",
        num_switches=num_switches,
        switch_names=[properties[f"switch{switch}"] for switch in range(num_switches)],
        terminal_switch=[_switch_of(host) for host in hosts.values()],
        terminal_names=() if list(hosts) == default_names else list(hosts),
        channel_source=[ends[channel][0] for channel in channels],
        channel_target=[ends[channel][1] for channel in channels],
        channel_capacity=[bandwidth[channel] / fastest for channel in channels],
    )
    return _read_routes(topology, zone, per_terminal=per_terminal)


def _switch_of(host: ET.Element) -> int:
    for prop in host.findall("prop"):
        if prop.attrib["id"] == "switch":
            return int(prop.attrib["value"])
    raise InputError(f"host {host.attrib['id']} has no switch")


def _read_routes(topology: Topology, zone: ET.Element, *, per_terminal: bool) -> RouteTable:
    """Return the table of a zone's routes on its network."""
    # Pairs are numbered row by row: from each endpoint, to each terminal or endpoint. Here are the
    # row and the column of each terminal.
    row = topology.terminal_endpoint
    column = np.arange(topology.num_terminals) if per_terminal else row
    num_columns = topology.num_terminals if per_terminal else len(topology.endpoints)
    terminal_of_name = {name: terminal for terminal, name in enumerate(topology.host_names)}
    # A route within a switch has no channels, and the file has none for a switch with one host.
    channels_of_pair: dict[int, list[int]] = {
        int(row[t]) * num_columns + int(column[t]): [] for t in range(topology.num_terminals)
    }
    for route in zone.findall("route"):
        source, target = (terminal_of_name[route.attrib[end]] for end in ("src", "dst"))
        if source == target:
            continue
        matches = (_CHANNEL.fullmatch(hop.attrib["id"]) for hop in route.findall("link_ctn"))
        channels = [int(match["channel"]) for match in matches if match]
        pair = int(row[source]) * num_columns + int(column[target])
        if channels_of_pair.setdefault(pair, channels) != channels:
            raise InputError(
                f"the route from {route.attrib['src']} to {route.attrib['dst']} differs from that "
                "of other hosts of the same switches"
            )
    lengths = np.full(len(topology.endpoints) * num_columns, -1)
    lengths[list(channels_of_pair)] = [len(channels) for channels in channels_of_pair.values()]
    hops = [channel for pair in sorted(channels_of_pair) for channel in channels_of_pair[pair]]
    return RouteTable.from_lengths(
        topology, lengths, np.array(hops, dtype=np.int32), per_terminal=per_terminal
    )
