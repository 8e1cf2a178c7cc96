"""The check of tables, and the proof that it suffices.

1. Build the channel dependency graph from all consecutive hops of all paths (`dependency_graph`).
2. Find its strongly connected components. An edge inside a component lies on a cycle, which is
   harmless only along a complete ring under bubble flow control.
3. With a harmful edge: report a short cycle, and a route that causes each of its edges.
4. Without: rank the resources in topological order. The rank is the certificate:
   `certificate.write_certificate` writes it, and `instances/check.py --certificate` checks it
   without routelab.

Model
-----
A *resource* is one virtual channel of one channel, with its own buffer at the channel's far end.
A *dependency* (a, b) is a pair of resources that some path uses one after the other: the packet at
the head of a may wait for room in b. All consecutive hops of all paths count, continuations
along a ring included. A packet at its target is always consumed. Buffers are counted in packets
of the largest size.

A table is *free of deadlock* if no reachable state holds packets that can never move again. When
injection stops, the number of remaining hops is finite, so the network comes to rest; hence it is
enough that **in every reachable state with packets in it, some packet can move**. (A packet in
transfer has room for all its flits, so transfers end; consider states without any.)

Criterion
---------
*Plain* flow control (a packet moves if there is room): the graph of dependencies is acyclic.

*Bubble* flow control (into a ring, by injection, a turn or a change of virtual channel, only with
two free slots in the buffer that is entered; otherwise with one): every strongly connected
component with a cycle is part of one complete unidirectional ring on one virtual channel. This
holds if and only if every dependency inside a component leads from a channel to its successor in a
complete ring, on the same virtual channel.

Both have one certificate: an integer rank for each resource. Every dependency leads to a higher
rank or, under bubble, from a channel to its successor in a complete ring at equal rank.

Why it suffices
---------------
Bubble keeps a free slot in each ring. An entry finds two free slots in one buffer of the ring and
leaves one. A move along the ring takes a slot and gives one back. Leaving gives one back. Each
buffer is filled over one channel, so two packets do not enter it at the same time; and a resource
is in at most one ring. So a ring that begins empty always has a free slot somewhere.

Take a reachable state with packets in it. Order the components topologically and show, from the
last backwards, that a component with packets, behind which all later ones are empty, has a packet
that can move. (Induction: either a later component holds packets, and one of them can move, or
all of them are empty.)

- The component is one resource without a dependency on itself. Its head packet is at its target,
  or wants a resource of a later component. That one's buffer is empty and thus has two free slots,
  enough for any move.
- The component lies inside one complete ring. Every switch of the ring is left by one channel of
  it, so a cycle inside has to go all the way round: the component *is* the ring. If the head packet
  of a buffer is at its target or wants a later component, it can move as above. If none does, all
  heads want to continue. Some buffer of the ring has a free slot; walk back from there to the first
  buffer that is not empty: its successor has a free slot, and its head can move along the ring.

A buffer needs room for two packets, because otherwise no packet could ever enter a ring. The proof
needs virtual cut-through. Under wormhole switching a packet at rest has flits in several buffers
of the ring, and the slots of the argument do not exist. For acyclic graphs only the first
case occurs, and it also holds under wormhole switching with any buffer (Dally and Seitz, IEEE
Trans. Comput. C-36, 1987). A ring that lacks a channel is a line, even if its claim says otherwise:
complete rings are verified (`complete_rings`).

It does *not* suffice that the dependencies without the continuations are acyclic: a chain of turns
may go from ring to ring and use continuations in between.

Bubble flow control: V. Puente et al., The adaptive bubble router, J. Parallel Distrib. Comput. 61
(2001), doi 10.1006/jpdc.2001.1746.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routelab.api import FlowControl, InputError, RouteTable, Topology, frozen_array
from routelab.api.topology import Int64Array
from routelab.api.verdicts import Status
from routelab.deadlock import declared_flow_control as declared
from routelab.deadlock.verdict import Ring, Switching, Verdict, used_numbers
from routelab.kernels.dependency import (
    component_ranks,
    dependency_graph,
    example_paths,
    short_cycle,
    strong_components,
    used_resources,
)
from routelab.toolkit.rings import complete_rings

CYCLE_BUDGET = 50_000_000
"""Largest number of dependencies to visit for a short cycle: less than a second."""

_PLAIN = (
    "packets follow the table's paths on the table's virtual channels",
    "every virtual channel has a buffer of its own",
    "packets at their target are always consumed",
)
_RING_ENTRY = (
    "a packet enters a ring (by injection, a turn or a change of virtual channel) only if the "
    "buffer that it enters has 2 free slots; to move on within the ring it needs 1"
)
BUBBLE_PRECONDITIONS = (
    "switching is virtual cut-through",
    "a buffer holds at least 2 packets of the largest size",
    _RING_ENTRY,
    "a ring that lacks a channel is a line and gives no bubble",
)


def check_table(
    table: RouteTable,
    flow_control: str | None = None,
    *,
    packets_per_buffer: int = 2,
    switching: Switching = "virtual-cut-through",
) -> Verdict:
    """Prove a table free of deadlock, or find a cycle of dependencies.

    No claim of a plugin, a table or a topology is trusted: rings are verified, and all
    dependencies are taken from the paths. The argument is in this module's docstring.

    Parameters
    ----------
    table : RouteTable
        Table with virtual channels; all hops of all paths of a pair count.
    flow_control : {"plain", "bubble", "declared"}, optional
        Default: the flow control that the table declares. ``declared``: that which the network
        declares for each channel, with the size of its buffers; see `declared_flow_control`.
    packets_per_buffer : int
        Packets of the largest size that fit into the buffer of one virtual channel.
    switching : {"virtual-cut-through", "wormhole"}

    Returns
    -------
    Verdict
        ``cycle`` means that the criterion fails, not that packets must deadlock.

    Raises
    ------
    InputError
        If an option has an invalid value, or declared flow control differs at the ends of a cable.
    """
    option = flow_control or table.flow_control
    _require_valid_options(option, packets_per_buffer, switching)
    rules = _flow_rules(table, option, packets_per_buffer, switching)
    # Virtual channels are renumbered without gaps, because all arrays below have an entry for each:
    # a table that uses number 32767 alone gets one entry per channel, not 32,768.
    vc_numbers = used_numbers(table.hop_vc)
    vcs = len(vc_numbers)
    if vcs < table.virtual_channels:
        table = table.with_vcs(np.searchsorted(vc_numbers, table.hop_vc))
    preconditions = _preconditions(rules.flow, option)
    if rules.obstacle:  # the criterion does not apply, for example bubbles under wormhole switching
        return Verdict(
            status=rules.obstacle_status,
            flow_control=rules.flow,
            reason=rules.obstacle,
            preconditions=preconditions,
            vc_numbers=vc_numbers,
        )
    # 1. The dependency graph, in CSR form: packets in resource r may wait for each resource of
    #    awaited[first_edge[r]:first_edge[r + 1]].
    first_edge, awaited = dependency_graph(
        table.path_start, table.hop_channel, table.hop_vc, table.topology.num_channels, vcs
    )
    # 2. An edge lies on a cycle if its ends are in the same strongly connected component. It is
    #    harmful, except along a complete ring that keeps a bubble. Edge e leads from held[e] to
    #    awaited[e]; resource r is virtual channel r % vcs of channel r // vcs.
    component = strong_components(first_edge, awaited)
    held = np.repeat(np.arange(len(first_edge) - 1, dtype=np.int32), np.diff(first_edge))
    is_on_cycle = component[held] == component[awaited]
    next_in_ring = ring_successors(table.topology, rules.rings, vcs)
    is_harmful = is_on_cycle & (next_in_ring[held] != awaited)
    dependencies = frozen_array(np.column_stack((held, awaited)), np.int32)
    # 3. A short cycle, and for each of its edges a pair of switches with a path that has it:
    #    examples[r] is the index of a path on which successor[r] follows resource r.
    if is_harmful.any():
        cycle = short_cycle(first_edge, awaited, component, is_harmful, CYCLE_BUDGET)
        successor = np.full(len(component), -1, dtype=np.int32)
        successor[cycle] = np.roll(cycle, -1)
        examples = example_paths(table.path_start, table.hop_channel, table.hop_vc, successor, vcs)
        pairs = table.path_pair[examples[cycle]].tolist()
        status, why = (
            declared.explain_cycle(table.topology, cycle // vcs)
            if option == "declared"
            else _explain_cycle(table.topology, rules.flow)
        )
        return Verdict(
            status=status,
            flow_control=rules.flow,
            reason=f"{len(cycle)} resources wait for each other in a cycle{why}",
            preconditions=preconditions,
            vc_numbers=vc_numbers,
            dependencies=dependencies,
            cycle=tuple((r // vcs, vc_numbers[r % vcs]) for r in cycle.tolist()),
            cycle_routes=tuple(table.pair_switches(pair) for pair in pairs),
        )
    # 4. A proof: a rank that grows along every edge between components.
    used = used_resources(table.hop_channel, table.hop_vc, table.topology.num_channels, vcs)
    rank = np.where(used, component_ranks(first_edge, awaited, component), -1)
    # The rings whose bubbles the proof needs. No edge on a cycle is harmful here, so each of them
    # leads to the next channel of a complete ring, and a cycle goes all the way round. So a ring is
    # part of cycles with all of its channels or none, and the first one, ring[0], shows which.
    is_in_cycle = np.zeros(len(component), dtype=np.bool_)
    is_in_cycle[held[is_on_cycle]] = True
    cyclic_rings = tuple(
        Ring(vc, tuple(ring))
        for ring in rules.rings
        for v, vc in enumerate(vc_numbers)
        if is_in_cycle[ring[0] * vcs + v]
    )
    return Verdict(
        status="proven",
        flow_control=rules.flow,
        reason=f"every cycle of dependencies is a complete ring ({len(cyclic_rings)} of them)"
        if cyclic_rings
        else "the dependencies are acyclic",
        preconditions=preconditions,
        vc_numbers=vc_numbers,
        dependencies=dependencies,
        rank=frozen_array(rank.reshape(-1, vcs), np.int32),
        rings=cyclic_rings,
    )


def _require_valid_options(flow_control: str, packets_per_buffer: int, switching: str) -> None:
    """Refuse options that do not exist."""
    errors = []
    if flow_control not in ("plain", "bubble", "declared"):
        errors.append(f"flow_control is {flow_control!r}, expected 'plain', 'bubble' or 'declared'")
    if switching not in ("virtual-cut-through", "wormhole"):
        errors.append(f"switching is {switching!r}, expected 'virtual-cut-through' or 'wormhole'")
    if packets_per_buffer < 1:
        errors.append(f"packets_per_buffer is {packets_per_buffer}, expected at least 1")
    if errors:
        raise InputError("deadlock check: " + "; ".join(errors))


class FlowRules(NamedTuple):
    """The criterion of a check.

    Attributes
    ----------
    flow : {"plain", "bubble"}
        Which criterion of the module's docstring applies.
    rings : list of list of int
        Channels of the rings that keep a bubble.
    obstacle : str
        Why the criterion does not apply; empty if it does.
    obstacle_status : Status
        The verdict if there is an obstacle.
    """

    flow: FlowControl
    rings: list[list[int]]
    obstacle: str = ""
    obstacle_status: Status = "unproven"


def _flow_rules(
    table: RouteTable, option: str, packets_per_buffer: int, switching: str
) -> FlowRules:
    """Return the criterion for a table, and why it does not apply, if so.

    With option ``declared``, it is the bubble criterion if some used channel keeps a bubble, and
    only rings all of whose channels do count as rings.
    """
    topology = table.topology
    if option == "plain":
        return FlowRules("plain", [])
    if option == "declared":
        used = np.zeros(topology.num_channels, np.bool_)
        used[table.hop_channel] = True
        status, obstacle = declared.find_obstacle(topology, used, switching)
        flow: FlowControl = "bubble" if (topology.channel_bubble[used] == 1).any() else "plain"
        return FlowRules(flow, declared.rings_with_bubble(topology), obstacle, status)
    obstacle = ""
    if switching != "virtual-cut-through":
        obstacle = f"bubble flow control needs virtual cut-through; the switching is {switching}"
    elif packets_per_buffer < 2:
        obstacle = (
            "bubble flow control needs buffers of at least 2 packets: with "
            f"{packets_per_buffer} no packet may ever enter a ring"
        )
    return FlowRules("bubble", complete_rings(topology), obstacle)


def _preconditions(flow: FlowControl, option: str) -> tuple[str, ...]:
    """Return what the hardware must guarantee for a verdict to hold."""
    declaration = (declared.PRECONDITION,) if option == "declared" else ()
    return _PLAIN + declaration + (BUBBLE_PRECONDITIONS if flow == "bubble" else ())


def ring_successors(topology: Topology, rings: list[list[int]], vcs: int) -> Int64Array:
    """Return for each resource the next one along its complete ring; −1 if it is in none.

    Resource ``channel * vcs + vc``; a ring stays on its virtual channel.
    """
    successor = np.full((topology.num_channels, vcs), -1, dtype=np.int64)
    for ring in rings:
        next_channels = np.roll(ring, -1)
        successor[ring] = next_channels[:, np.newaxis] * vcs + np.arange(vcs)
    return successor.reshape(-1)


def _explain_cycle(topology: Topology, flow: FlowControl) -> tuple[Status, str]:
    """Return the verdict on a harmful cycle, and the end of the sentence that reports it.

    For the same flow control everywhere; `declared_flow_control.explain_cycle` has the other case.
    """
    if flow == "plain":
        return "cycle", ""
    # A network with directions or rings, such as a mesh, has no other rings than it names. (Both
    # are −1 for a channel without any.)
    names_rings = max(topology.channel_ring.max(), topology.channel_direction.max()) >= 0
    if names_rings:
        return "cycle", " that is not one complete ring"
    # A plain graph from a file does not say whether its routers keep bubbles, and where.
    why = (
        ", and the network does not say which channels are a ring with a bubble; name a torus with "
        "a list of routes (`routelab export routes`), a result of `routelab route`, or a file of "
        "links with flow_control, buffer and ring"
    )
    return "not enough input", why
