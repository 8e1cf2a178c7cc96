"""Prepare a routing for the packet engine, with the verdict of the deadlock checker."""

from __future__ import annotations

from typing import Any

from routelab.api import EngineCase, HopProgram, RouteTable, needed_classes
from routelab.registry.requirements import require_support
from routelab.routing.table_program import table_program
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.layout import class_rows, unsupported_reason
from routelab.simulation.packet.router import Router


def make_packet_program(
    case: EngineCase, router: Router, proof_states: int = 0
) -> tuple[HopProgram, RouteTable | None, dict[str, Any]]:
    """Return the program of a routing, and the verdict of the deadlock checker on these routers.

    A routing of whole paths becomes a program that follows its table.

    Parameters
    ----------
    case : EngineCase
    router : Router
    proof_states : int
        Largest number of states that the check of a hop-by-hop algorithm examines; 0: the
        checker's own limit.

    Returns
    -------
    program : HopProgram
    table : RouteTable or None
        Table of the program; None for a hop-by-hop algorithm.
    facts : dict
        ``deadlock`` (the checker's status), ``deadlock_reason``, ``deadlock_cycle`` (empty: none),
        ``deadlock_proof`` (its kind), ``deadlock_coverage`` (states of a hop-by-hop algorithm that
        were checked, possibly on a smaller network; empty: all routes), ``flow_control``,
        ``virtual_channels`` (needed), ``virtual_channels_used`` and ``virtual_channels_unused``.

    Raises
    ------
    UnsupportedError
        If the routing does not apply to the network or to these routers; the text is the reason.
    PluginError
        If a plugin breaks its contract.
    """
    routing, table = case.routing, None
    if routing.hop_by_hop:
        program = routing.prepare(case.network, router.vcs)
    else:
        table = routing.table(case.network)
        program = table_program(table)
    require_support(routing.name, unsupported_reason(program, router))
    verdict = case.check_deadlock(
        router.vcs,
        switching=router.switching,
        # a buffer under wormhole switching may be shorter than a packet
        packets_per_buffer=max(router.buffer_flits // router.packet_flits, 1),
        max_states=proof_states or None,
    )
    return program, table, {**verdict, **_virtual_channel_facts(program, router)}


def penalty_warning(program: HopProgram, router: Router) -> str:
    """Return a warning if the detour penalty exceeds what a queue can hold; otherwise "".

    A packet that waits for its best candidate takes a hop with the penalty only if the queues of
    all hops without it are at least as long as the penalty. So it never does if no queue can be so
    long.
    """
    # Under the ranking "room" packets do not wait for the best candidate, and take a hop with the
    # penalty if no other has room. Without `by_occupancy`, the length of queues does not count.
    if program.ranking == "room" or not program.by_occupancy:
        return ""
    max_vcs = int(class_rows(program, router.vcs)[:, at.VC_COUNT].max())
    unit_flits = router.unit_flits
    # in units: all virtual channels of the largest class, in buffers and output FIFOs
    longest_queue = max_vcs * (router.capacity + router.fifo_units)
    # The penalty in units. `+ unit_flits // 2` rounds to the nearest, as routing functions do.
    penalty_units = (program.detour_penalty + unit_flits // 2) // unit_flits
    if penalty_units <= longest_queue:
        return ""
    return (
        f"the penalty of {program.detour_penalty} flits is larger than the longest queue, "
        f"{longest_queue * unit_flits} flits: packets never choose hops with it instead of hops "
        "without penalty. Increase buffer_flits or output_buffer_flits, or lower the penalty"
    )


def _virtual_channel_facts(program: HopProgram, router: Router) -> dict[str, Any]:
    """Return the facts on flow control and on needed, used and unused virtual channels."""
    used = int(class_rows(program, router.vcs)[:, at.VC_COUNT].sum())
    return {
        "flow_control": "bubble" if program.bubble else "plain",
        "virtual_channels": needed_classes(program),
        "virtual_channels_used": used,
        "virtual_channels_unused": router.vcs - used,
    }
