"""What a failure of each cable and switch would cost, before and after rerouting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from routelab._progress import tell
from routelab.api import InputError, RouteTable, Topology, UnsupportedError
from routelab.metrics import channel_loads, pairs, reachable_pairs, relative_loads
from routelab.registry.instances import Routing
from routelab.stages.chain import reroute
from routelab.stages.infiniband.inputs import FabricTables
from routelab.stages.infiniband.losses import pairs_over_links, pairs_over_switches
from routelab.stages.infiniband.walk import host_routes
from routelab.toolkit.infiniband import (
    addresses_of,
    complete,
    destination_ports,
    destination_switches,
    forwarding_problem,
)

DATA_LANES = 15
"""Most virtual lanes that routes may use."""


@dataclass(frozen=True)
class Failure:
    """A failure and its cost; see `routelab.stages.infiniband.columns.WHAT_IF`."""

    kind: str
    failure: str
    routing: str
    lost_pairs: int
    unreachable_pairs: int | None = None
    max_load: float | None = None
    changed_entries: int | None = None
    reason: str = ""

    @property
    def row(self) -> tuple[Any, ...]:
        """Values in the order of the columns."""
        return tuple(vars(self).values())


def costs_of_failures(
    tables: FabricTables, routing: Routing, cable: str | None, switch: str | None
) -> list[Failure]:
    """Return the cost of failures, the worst first.

    The first row is the fabric without a failure, with new tables.

    Parameters
    ----------
    tables : FabricTables
    routing : Routing
        Reroutes the fabric after each failure.
    cable, switch : str or None
        ``all``; or a port at an end of the cable (``SWITCH:PORT``), or the name of a switch.

    Raises
    ------
    InputError
        If the cable or switch does not exist, or neither is named. If the routing does not apply
        to the fabric without a failure, or no forwarding tables can hold its routes.
    """
    chosen = list(_failures(tables, cable, switch))
    if not chosen:
        raise InputError("name the failures: --cable all or SWITCH:PORT, --switch all or NAME")
    tell("what-if", "no failure")
    whole = _cost(tables, routing, Failure("none", "", routing.name, 0), {})
    if whole.reason:
        raise InputError(f"--routing {routing.name}: {whole.reason}")
    table = host_routes(tables)
    over_links, over_switches = pairs_over_links(table), pairs_over_switches(table)
    found = []
    for place, (kind, number) in enumerate(chosen, 1):
        if kind == "cable":
            name, lost = tables.cable_name(number), int(over_links[number])
            gone: dict[str, Any] = {"channels": tables.topology.links[number].tolist()}
        else:
            name, lost = tables.topology.switch_names[number], int(over_switches[number])
            gone = {"switches": [number]}
        tell("what-if", f"{place} of {len(chosen)}: {name}")
        found.append(_cost(tables, routing, Failure(kind, name, routing.name, lost), gone))
    found.sort(key=lambda one: (-one.lost_pairs, -(one.max_load or 0), one.failure))
    tell("what-if", "ok", ended=True)
    return [whole, *found]


def _failures(
    tables: FabricTables, cable: str | None, switch: str | None
) -> Iterator[tuple[str, int]]:
    topology = tables.topology
    if cable == "all":
        yield from (("cable", link) for link in range(len(topology.links)))
    elif cable is not None:
        ends = [[tables.out_port(channel) for channel in link] for link in topology.links.tolist()]
        match = [link for link, names in enumerate(ends) if cable in (*names, " - ".join(names))]
        if not match:
            raise InputError(
                f"--cable {cable}: no cable between switches has this port; write SWITCH:PORT, "
                f"such as {ends[0][0] if ends else 's0:1'}"
            )
        yield "cable", match[0]
    if switch == "all":
        yield from (("switch", number) for number in range(topology.num_switches))
    elif switch is not None:
        if switch not in topology.switch_names:
            raise InputError(f"--switch {switch}: the fabric has no switch of this name")
        yield "switch", topology.switch_names.index(switch)


def _cost(
    tables: FabricTables, routing: Routing, failure: Failure, gone: dict[str, Any]
) -> Failure:
    """Return a failure with its cost after rerouting."""
    try:
        left = tables.topology.without(**gone) if gone else tables.topology
        table = reroute(routing, left)
        problem = forwarding_problem(table)
        if problem is not None:
            raise UnsupportedError(problem)
        changed = _changed_entries(tables, table)
    except (InputError, UnsupportedError) as error:
        return replace(failure, reason=str(error))
    loads = relative_loads(left, channel_loads(table))
    return replace(
        failure,
        unreachable_pairs=pairs(left) - reachable_pairs(table),
        max_load=float(loads.max(initial=0)),
        changed_entries=changed,
    )


def _changed_entries(tables: FabricTables, table: RouteTable) -> int:
    """Count the entries of remaining switches for remaining LIDs that a table changes."""
    left = table.topology
    new = _ports(table)
    switch = _places(tables.addresses.switch_guids, left.switch_guids)
    ends = _places(tables.addresses.guids, (*left.terminal_guids, *left.switch_guids))
    return int(np.count_nonzero(new != tables.entries.ports[np.ix_(switch, ends)]))


def _ports(table: RouteTable) -> np.ndarray:
    """Return the ports of a table's entries; int64, shape (S, T + S)."""
    left: Topology = table.topology
    addresses, steps = addresses_of(left), complete(table, DATA_LANES).steps
    ports = np.append(addresses.channel_port, -1)[steps]
    ends = destination_switches(left)
    ports[ends, np.arange(len(ends))] = destination_ports(left, addresses)
    return ports


def _places(guids: tuple[str, ...], chosen: tuple[str, ...]) -> list[int]:
    place = {guid: number for number, guid in enumerate(guids)}
    return [place[guid] for guid in chosen]
