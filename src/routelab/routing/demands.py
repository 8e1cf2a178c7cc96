"""What the terminals of a network send: the answers of traffic plugins, checked."""

from __future__ import annotations

from routelab.api import Demand, Messages, PluginError, Topology, TrafficPlugin
from routelab.registry.requirements import source_line


def demand_of(traffic: TrafficPlugin, topology: Topology, seed: int) -> Demand:
    """Return the demand of a pattern on a network.

    Raises
    ------
    PluginError
        If it is not a demand, is invalid or has another number of terminals.
    """
    demand = traffic.demand(topology, seed)
    if not isinstance(demand, Demand):
        raise PluginError(
            f"{traffic.name}: demand() returned {demand!r}, expected a Demand"
            f"{source_line(traffic.demand)}"
        )
    _require_size(traffic, "demand", len(demand.rate), topology)
    try:
        # a plugin may have made it without `create`, which checks the values
        return Demand.create(**vars(demand))
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def list_messages(traffic: TrafficPlugin, topology: Topology, seed: int) -> Messages | None:
    """Return the messages that a pattern lists; None if the engine draws them from its demand.

    Raises
    ------
    PluginError
        If they are not messages, are invalid or of another number of terminals.
    """
    messages = traffic.messages(topology, seed)
    if messages is None:
        return None
    if not isinstance(messages, Messages):
        raise PluginError(
            f"{traffic.name}: messages() returned {messages!r}, expected Messages or None"
        )
    _require_size(traffic, "messages", len(messages.start) - 1, topology)
    try:
        return Messages.create(messages.start, messages.target)
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def _require_size(traffic: TrafficPlugin, kind: str, terminals: int, topology: Topology) -> None:
    """Refuse a demand or messages (`kind`) of another number of terminals than the network's."""
    if terminals != topology.num_terminals:
        raise PluginError(
            f"{traffic.name}: {kind} of {terminals} terminals, but the network has "
            f"{topology.num_terminals}"
        )
