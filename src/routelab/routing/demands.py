"""What the terminals of a network send: the answers of traffic plugins, checked."""

from __future__ import annotations

from routelab.api import Demand, Messages, PluginError, Topology, TrafficPlugin


def demand_of(traffic: TrafficPlugin, topology: Topology, seed: int) -> Demand:
    """Return the demand of a pattern on a network.

    Raises
    ------
    PluginError
        If it is not a demand, is invalid or has another number of terminals.
    """
    made = traffic.demand(topology, seed)
    if not isinstance(made, Demand):
        raise PluginError(f"{traffic.name}: demand() returned {made!r}, expected a Demand")
    _same_size(traffic, "demand", len(made.rate), topology)
    try:
        # a demand without `create` was not checked
        return Demand.create(**vars(made))
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def list_messages(traffic: TrafficPlugin, topology: Topology, seed: int) -> Messages | None:
    """Return the messages that a pattern lists; None if the engine draws them from its demand.

    Raises
    ------
    PluginError
        As for `demand_of`.
    """
    made = traffic.messages(topology, seed)
    if made is None:
        return None
    if not isinstance(made, Messages):
        raise PluginError(
            f"{traffic.name}: messages() returned {made!r}, expected Messages or None"
        )
    _same_size(traffic, "messages", len(made.start) - 1, topology)
    try:
        return Messages.create(made.start, made.target)
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def _same_size(traffic: TrafficPlugin, what: str, found: int, topology: Topology) -> None:
    if found != topology.num_terminals:
        raise PluginError(
            f"{traffic.name}: {what} of {found} terminals, but the network has "
            f"{topology.num_terminals}"
        )
