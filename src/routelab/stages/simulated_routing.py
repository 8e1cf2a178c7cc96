"""A routing made ready for the packet engine, with what the checker says about it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from routelab._progress import tell
from routelab.api import (
    HopProgram,
    RouteTable,
    RoutingPart,
    Topology,
    UnsupportedError,
    needed_classes,
)
from routelab.deadlock import check
from routelab.deadlock.hop_by_hop import check_hop_routing
from routelab.deadlock.verdict import Switching
from routelab.registry.instances import Routing
from routelab.simulation.layout import class_rows, refusal
from routelab.simulation.router import Router
from routelab.simulation.tables import table_program
from routelab.stages.chain import apply_routing
from routelab.stages.kept_proofs import KeptProofs
from routelab.stages.programs import part_of


@dataclass(frozen=True, eq=False)
class Prepared:
    """A routing as a program of the packet engine.

    Attributes
    ----------
    program : HopProgram
    table : RouteTable or None
        What the program follows; None for a hop-by-hop algorithm.
    facts : dict
        ``deadlock`` (the checker's status), ``deadlock_reason``, ``deadlock_cycle`` (empty: none),
        ``deadlock_proof`` (its kind), ``deadlock_coverage`` (which states of a hop-by-hop algorithm
        were looked at, maybe on a smaller network; empty: all routes), ``flow_control``,
        ``virtual_channels`` (needed), ``virtual_channels_used``, ``virtual_channels_unused`` and
        ``routing_seconds``.
    """

    program: HopProgram
    table: RouteTable | None
    facts: dict[str, Any]


def prepare(
    topology: Topology,
    routing: Routing | RouteTable,
    router: Router,
    proofs: KeptProofs | None = None,
) -> Prepared:
    """Make a program of a routing and judge it under the routers' flow control.

    Parameters
    ----------
    topology : Topology
    routing : Routing or RouteTable
        By its parts, or as a table that was read.
    router : Router
    proofs : KeptProofs, optional
        Where what the checker said of a hop-by-hop algorithm on this network is kept, and found
        again.

    Raises
    ------
    UnsupportedError
        If the routing does not apply to the network or to routers like these; the text is the
        reason.
    PluginError
        If a plugin breaks its contract.
    """
    if isinstance(routing, RouteTable):
        return _tabled(routing, "the table", router, 0.0)
    if routing.hops is None:
        routed = apply_routing(topology, routing)
        return _tabled(routed.table, routing.name, router, routed.seconds)
    return _hop_by_hop(topology, routing, router, proofs)


def _tabled(table: RouteTable, name: str, router: Router, seconds: float) -> Prepared:
    program = _fitting(table_program(table), name, router)
    tell(name, "proof")
    verdict = check(table, packets_per_buffer=_packets(router), switching=router.switching)
    judged = {
        "deadlock": verdict.status,
        "deadlock_proof": "bubble" if verdict.flow_control == "bubble" else "acyclic",
        "deadlock_reason": verdict.reason,
        "deadlock_coverage": "",
        "deadlock_cycle": "\n".join(verdict.describe_cycle(table.topology)),
    }
    return Prepared(
        program, table, judged | _channels(program, router) | {"routing_seconds": seconds}
    )


def _hop_by_hop(
    topology: Topology, routing: Routing, router: Router, proofs: KeptProofs | None
) -> Prepared:
    tell(routing.name, "routing")
    part = part_of(routing)
    began = time.perf_counter()
    program = part.prepare(topology, router.vcs)
    seconds = time.perf_counter() - began
    _fitting(program, routing.name, router)
    tell(routing.name, "proof")
    options = (router.vcs, router.switching, _packets(router))

    def judged() -> dict[str, str]:
        return _judged(part, topology, options)

    found = judged() if proofs is None else proofs.find_or_make(routing, options, judged)
    return Prepared(
        program, None, found | _channels(program, router) | {"routing_seconds": seconds}
    )


def _judged(
    part: RoutingPart, topology: Topology, options: tuple[int, Switching, int]
) -> dict[str, str]:
    """What the checker says with so many virtual channels, switched so, of so many packets."""
    virtual_channels, switching, packets = options
    verdict = check_hop_routing(
        part,
        topology,
        virtual_channels,
        switching=switching,
        packets_per_buffer=packets,
        # the next packet may follow as soon as a tail has crossed the channel
        shared_buffers=True,
    )
    return {
        "deadlock": verdict.status,
        "deadlock_proof": verdict.proof,
        "deadlock_reason": verdict.reason,
        "deadlock_coverage": verdict.coverage,
        "deadlock_cycle": "\n".join(verdict.describe_cycle()),
    }


def _packets(router: Router) -> int:
    return max(router.buffer_flits // router.packet_flits, 1)


def _fitting(program: HopProgram, name: str, router: Router) -> HopProgram:
    """A program, if routers like these can run it."""
    reason = refusal(program, router)
    if reason is not None:
        raise UnsupportedError(f"{name}: {reason}")
    return program


def _channels(program: HopProgram, router: Router) -> dict[str, Any]:
    used = int(class_rows(program, router.vcs)[:, 1].sum())
    return {
        "flow_control": "bubble" if program.bubble else "plain",
        "virtual_channels": needed_classes(program),
        "virtual_channels_used": used,
        "virtual_channels_unused": router.vcs - used,
    }
