"""Which parts of a study do not go together: asked of the plugins, before anything runs."""

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
from routelab.stages.instances import Instance
from routelab.stages.parts import Parts, is_hop_by_hop
from routelab.stages.programs import part_of

MOST_SWITCHES = 1024
"""Switches of the largest network that is built to ask plugins about it."""

CPU_SECONDS = 20.0
"""CPU time after which no further network of a study is asked about."""


@dataclass(frozen=True)
class Misfit:
    """Networks of a study that a part of it does not go with.

    Attributes
    ----------
    place : str
        Where the study names the part.
    name : str
        The part.
    networks : tuple of str
        Those that it does not go with.
    asked : int
        Networks that were asked about.
    reason : str
        Of the first of these networks.
    """

    place: str
    name: str
    networks: tuple[str, ...]
    asked: int
    reason: str

    @property
    def never_fits(self) -> bool:
        """Whether it goes with none of the study's networks."""
        return len(self.networks) == self.asked

    def __str__(self) -> str:
        if self.never_fits:
            return f"{self.place}{self.name} goes with no network of this study: {self.reason}"
        more = f" and {len(self.networks) - 1} more" if len(self.networks) > 1 else ""
        return f"{self.place}{self.name} does not go with {self.networks[0]}{more}: {self.reason}"


def misfits(parts: Parts) -> list[Misfit]:
    """Ask traffic and hop-by-hop routings which networks of a study they do not go with.

    Routings are asked with the virtual channels of all settings: one that goes with some of them
    fits. Networks beyond `MOST_SWITCHES` are left out, and so are those that are left after
    `CPU_SECONDS`.
    """
    questions = [*_traffic_questions(parts), *_routing_questions(parts)]
    if not questions:
        return []
    refused: list[list[tuple[str, str]]] = [[] for _ in questions]
    asked = 0
    began = time.process_time()
    for id_, topology in parts.topologies.items():
        if asked and time.process_time() - began > CPU_SECONDS:
            break
        network = _built(topology)
        if network is None:
            continue
        asked += 1
        for reasons, (_, _, ask) in zip(refused, questions, strict=True):
            if reason := ask(network):
                reasons.append((id_, reason))
    return [
        Misfit(place, name, tuple(id_ for id_, _ in reasons), asked, reasons[0][1])
        for reasons, (place, name, _) in zip(refused, questions, strict=True)
        if reasons
    ]


_Question = tuple[str, str, Callable[[Topology], str | None]]


def _traffic_questions(parts: Parts) -> Iterator[_Question]:
    place = parts.study.place("traffic")
    for id_, instance in parts.traffic.items():
        for plugin in instance.plugins:
            if isinstance(plugin, TrafficPlugin):
                yield place, id_, _asking(plugin, plugin.supports)


def _routing_questions(parts: Parts) -> Iterator[_Question]:
    place = parts.study.place("routings")
    settings = [one.parameters for one in parts.study.settings]
    channels = sorted({vcs for one in settings if (vcs := getattr(one, "vcs", 0))})
    for id_, instance in parts.routings.items():
        if channels and is_hop_by_hop(instance):
            yield place, id_, _with_channels(instance, channels)


def _with_channels(instance: Instance, channels: Sequence[int]) -> Callable[[Topology], str | None]:
    """Ask a routing with each number of virtual channels, until it goes with one."""
    part = part_of(load_routing(instance.text))
    plugin = next(one for one in instance.plugins if isinstance(one, HopRoutingPlugin))

    def supports(network: Topology) -> str | None:
        reason = None
        for vcs in reversed(channels):
            reason = part.supports(network, vcs)
            if reason is None:
                return None
        return reason

    return _asking(plugin, supports)


def _asking(
    plugin: TrafficPlugin | HopRoutingPlugin, supports: Callable[[Topology], str | None]
) -> Callable[[Topology], str | None]:
    """Ask a plugin; whatever else it raises is a matter of the run."""

    def ask(network: Topology) -> str | None:
        def reason() -> str | None:
            try:
                return supports(network)
            except UnsupportedError as error:
                return str(error)

        ending = contain(reason, [plugin])
        return ending.result if ending.status == "ok" else None

    return ask


def _built(instance: Instance) -> Topology | None:
    """The network of an instance; None if it is too large or cannot be built."""
    for plugin in instance.plugins:
        if isinstance(plugin, TopologyPlugin):
            try:
                ending = contain(plugin.build, [plugin])
            except RoutelabError:
                return None
            network = ending.result if ending.status == "ok" else None
            if isinstance(network, Topology) and network.num_switches <= MOST_SWITCHES:
                return network
    return None
