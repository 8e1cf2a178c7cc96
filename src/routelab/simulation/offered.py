"""What a traffic plugin offers, looked at before compiled code reads it."""

from __future__ import annotations

from routelab.api import Demand, Messages, PluginError, Topology, TrafficPlugin


def demand_of(traffic: TrafficPlugin, topology: Topology, seed: int) -> Demand:
    """The demand of a pattern on a network.

    Raises
    ------
    PluginError
        If it is none, is malformed or is of another number of terminals.
    """
    made = traffic.demand(topology, seed)
    if not isinstance(made, Demand):
        raise PluginError(f"{traffic.name}: demand() returned {made!r}, expected a Demand")
    _same_size(traffic, "demand", len(made.rate), topology)
    try:
        # made by hand, it was not checked
        return Demand.create(**vars(made))
    except PluginError as error:
        raise PluginError(f"{traffic.name}: {error}") from error


def listed_by(traffic: TrafficPlugin, topology: Topology, seed: int) -> Messages | None:
    """The messages that a pattern lists; None if they are to be drawn from its demand.

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
            f"{traffic.name}: {what} of {found} terminals, the network has {topology.num_terminals}"
        )
