"""Find networks of a study that its traffic or routings do not support, before anything runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from routelab.api import (
    HopRoutingPlugin,
    RoutelabError,
    Topology,
    TopologyPlugin,
    TrafficPlugin,
    UnsupportedError,
)
from routelab.jobs.blame import contain
from routelab.registry.instances import load_routing
from routelab.stages.parts.instances import Instance
from routelab.stages.parts.parts import Parts, is_hop_by_hop
from routelab.stages.programs import part_of

MOST_SWITCHES = 1024
"""Switches of the largest network that is checked."""

CPU_SECONDS = 20.0
"""CPU time after which no further network of a study is checked."""


@dataclass(frozen=True)
class Misfit:
    """A part of a study, and the networks of the study that it does not support.

    Attributes
    ----------
    place : str
        Where the study names the part.
    name : str
        The part.
    networks : tuple of str
        Networks that the part does not support.
    checked : int
        Number of networks that were checked.
    reason : str
        Reason for the first of these networks.
    """

    place: str
    name: str
    networks: tuple[str, ...]
    checked: int
    reason: str

    @property
    def never_fits(self) -> bool:
        """Whether the part supports none of the study's networks."""
        return len(self.networks) == self.checked

    def __str__(self) -> str:
        if self.never_fits:
            return f"{self.place}{self.name} supports no network of this study: {self.reason}"
        more = f" and {len(self.networks) - 1} more" if len(self.networks) > 1 else ""
        return f"{self.place}{self.name} does not support {self.networks[0]}{more}: {self.reason}"


def misfits(parts: Parts) -> list[Misfit]:
    """List the networks of a study that its traffic and hop-by-hop routings do not support.

    A routing is checked with the virtual channels of all settings and needs to support a network
    with one of them. Networks that it does not run on, by its ``on``, do not count. Networks of
    more than `MOST_SWITCHES` switches are skipped, and so are those that remain after
    `CPU_SECONDS`.
    """
    traffic = list(_traffic_questions(parts))
    questions = [*traffic, *_routing_questions(parts)]
    if not questions:
        return []
    refused: list[list[tuple[str, str]]] = [[] for _ in questions]
    tries = [0] * len(questions)
    pairs = set(parts.pairs)
    checked = 0
    began = time.process_time()
    for id_, topology in parts.topologies.items():
        if checked and time.process_time() - began > CPU_SECONDS:
            break
        network = _build_small(topology)
        if network is None:
            continue
        checked += 1
        for number, (_, name, ask) in enumerate(questions):
            if number >= len(traffic) and (id_, name) not in pairs:
                continue
            tries[number] += 1
            if reason := ask(network):
                refused[number].append((id_, reason))
    return [
        Misfit(place, name, tuple(id_ for id_, _ in reasons), number, reasons[0][1])
        for reasons, number, (place, name, _) in zip(refused, tries, questions, strict=True)
        if reasons
    ]


_Question = tuple[str, str, Callable[[Topology], str | None]]


def _traffic_questions(parts: Parts) -> Iterator[_Question]:
    place = parts.study.place("traffic")
    for id_, instance in parts.traffic.items():
        for plugin in instance.plugins:
            if isinstance(plugin, TrafficPlugin):
                yield place, id_, _question(plugin, plugin.supports)


def _routing_questions(parts: Parts) -> Iterator[_Question]:
    place = parts.study.place("routings")
    settings = [one.parameters for one in parts.study.settings]
    channels = sorted({vcs for one in settings if (vcs := getattr(one, "vcs", 0))})
    for id_, instance in parts.routings.items():
        if channels and is_hop_by_hop(instance):
            yield place, id_, _with_channels(instance, channels)


def _with_channels(instance: Instance, channels: Sequence[int]) -> Callable[[Topology], str | None]:
    """Ask a routing with each number of virtual channels, until it accepts one."""
    part = part_of(load_routing(instance.text))
    plugin = next(one for one in instance.plugins if isinstance(one, HopRoutingPlugin))

    def supports(network: Topology) -> str | None:
        reason = None
        for vcs in reversed(channels):
            reason = part.supports(network, vcs)
            if reason is None:
                return None
        return reason

    return _question(plugin, supports)


def _question(
    plugin: TrafficPlugin | HopRoutingPlugin, supports: Callable[[Topology], str | None]
) -> Callable[[Topology], str | None]:
    """Return a function that asks a plugin; other errors are left to the run."""

    def ask(network: Topology) -> str | None:
        def reason() -> str | None:
            try:
                return supports(network)
            except UnsupportedError as error:
                return str(error)

        ending = contain(reason)
        return ending.result if ending.status == "ok" else None

    return ask


def _build_small(instance: Instance) -> Topology | None:
    """Build the network of an instance; None if it is too large or cannot be built."""
    for plugin in instance.plugins:
        if isinstance(plugin, TopologyPlugin):
            try:
                ending = contain(plugin.build)
            except RoutelabError:
                return None
            network = ending.result if ending.status == "ok" else None
            if isinstance(network, Topology) and network.num_switches <= MOST_SWITCHES:
                return network
    return None
