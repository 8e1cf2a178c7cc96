"""Prove hop-by-hop algorithms free of deadlock, by the kind of proof that they declare.

1. Find the reachable states of packets: `reachable_states`, or `fixed_states` for large networks.
2. Report violations of the algorithm's contract, dead ends and missing virtual channels
   (`verdict_from_states`).
3. Build the channel dependency graph of the criterion (``dependency_edges`` of the states).
4. Search a cycle that is no complete ring; without one, rank the resources in topological order
   (`_verdict_from_dependencies`).

Model
-----
A *resource* is a class of virtual channels of a channel. A packet at the front of a buffer has
*candidates*, which are resources. The functions of an algorithm are called in every *state* that a
packet can reach, for every pair of switches with terminals, or of terminals if the program is
`by_terminal`. A state is the packet's switch, the resource that it came over, and every column of
the packet that functions may read: target, waypoint, phase, hops and those of the algorithm. So the
checker does not rely on claims of the algorithm (`reachable_states`).

A program may declare that its candidates are `fixed` (`HopProgram`). Then a state is a source, a
target, a phase, a switch and a class, and each is examined once: large networks can be explored
(`fixed_states`). The declaration is verified in a sample of the states. Packets that came over
different channels on the same class are in the same state, so the dependencies are those of all
channels that lead to the state: the same as if channels were distinguished, because candidates do
not depend on them. With waypoints, both phases are explored separately. Any switch that may be a
waypoint is assumed to be one for every pair. Any last resource of phase 0 into it then depends on
any first resource of phase 1 out of it. This may refuse an algorithm, but never proves a wrong one.

If, in addition, each hop uses the class behind that of the hop before, dependencies need not be
collected: the class is the rank. Candidates then do not depend on the class either, and a state is
examined for all its classes together. Both are verified, the first in each state, the second in
one of 16; a violation leads to the search above.

On a network with too many states, pairs are examined in drawn order up to a limit of states. What
they show to be wrong is wrong; if nothing is, the verdict is ``unproven``, because a proof needs
all states.

Random draws by `pick` and similar functions are enumerated: all combinations of outcomes are tried,
up to `MAX_CALLS_PER_STATE`; with more, there is no proof. The state of the queues is sampled:
empty, full and partly filled buffers, channels and virtual channels, and flits that wait inside
switches. Fixed candidates depend on neither, which samples of both verify.

A search examines what the answers of equal calls are, so they must be equal: functions have no
*hidden state*. Rows of other packets and the memory for answers hold arbitrary numbers before a
call, and what a call leaves there is examined (`routelab.deadlock.kernels.guards`). Code that uses
anything but arguments, constants, NumPy's operations on arrays, mathematics and `routelab.kernels`
is found (`program_code.find_hidden_state`); the verdict is then ``proven if declared`` at most.
Queues, random words and the packet's row are arguments with any value. What other packets' rows and
unwritten rows of `out` hold is hidden state. Answers that depend on it are sought in a sample of
the calls: those with equal arguments must agree, whatever numbers are there.

(a, b) is a *dependency* if a packet that came over resource a may have b among its candidates, in
any outcome.

Three rules may change the candidates that a packet waits for:

- *Ranking.* Under ``room`` a packet moves as soon as one of its candidates has room. Under
  ``best`` it waits for one of them. Under ``best-or-escape`` it waits for one of them, but moves
  as soon as an escape has room.
- *Later calls.* If hop is called again while a packet waits, the candidates of one call replace
  those of the call before. If hop changes the packet, this is a new state at the same switch,
  which is explored in turn. The candidates of all calls count as dependencies.
- *Waypoints.* Inject or hop may set one, and hop may change it in phase 0. The candidates of that
  call are resources of phase 0, as all before them; those of phase 1 follow behind the waypoint.
  The dependency from the last resource of phase 0 to the first one of phase 1 counts as any
  other. A waypoint that changes repeatedly keeps the packet in phase 0, whose resources may then
  form a cycle; the search finds it, because the new target is part of the state.

Criteria
--------
``acyclic``: the dependencies are acyclic.

``bubble``: every strongly connected component of the dependencies that has a cycle is part of one
complete ring on one class, and that class is one of the program's `bubble`.

``duato``: in every answer in every state some candidate is an escape (penalty from `ESCAPE` on).
It applies to the rankings ``room`` and ``best-or-escape``. E are the resources that are escape
candidates anywhere. The following dependencies, all within E, are acyclic, or every cyclic
component lies inside one complete ring as above.

- Virtual cut-through: (a, b) for a in E and b an escape candidate of a packet that came over a,
  whether as an escape or not.
- Wormhole: (a, b) for a in E and b an escape candidate of a packet that came over a, now or
  earlier, *and has taken no escape candidate since*: its tail may still be in a. These are the
  direct, indirect and cross dependencies of Duato's extended graph.

``recovery`` and ``none`` claim nothing that could be proven.

Why they suffice
----------------
Suppose that from some cycle on no packet moves. Then only the random draws of functions change, and
the columns that they write into waiting packets. So it is enough to find one packet that moves the
next time that it is examined, for *any* candidates at that time. Each proof below finds a packet
all of whose candidates, or all of whose escape candidates, have room, in every outcome. It makes no
difference then whether candidates are stored or computed again: those of every later call are among
the dependencies, too.

``acyclic`` and ``bubble`` are the criteria of `table_checker`, and the argument is the same. Take
the last component that holds packets. A head packet in it has at least one candidate, and every
candidate is either a later resource, whose buffer is empty, or the next one of the same ring. A
ring under bubble flow control always keeps a free slot, so in it some head has only candidates
with room. As *all* candidates of this head have room, so does its best one: the argument holds for
all rankings.

``acyclic`` under wormhole switching: of all heads at the front of a buffer take the one whose
buffer has the highest rank. If it cannot move, a candidate of it is held, or filled, by packets
that have come over it. The foremost of these has its head at the front of that buffer or, over
resources of still higher rank, of another: a higher rank than the highest (Dally and Seitz, IEEE
Trans. Comput. C-36, 1987, doi 10.1109/TC.1987.1676939). It may be any of its candidates, so this,
too, holds for all rankings.

``duato`` under virtual cut-through: packets at rest lie in one buffer each. If some lie in E, take
the last component of E with packets. In it there is, as above, a head packet all of whose escape
candidates have room: each is later (empty: two free slots, enough for any move) or next in the
same ring. Under ``room`` and ``best-or-escape`` this packet moves, over an escape or another
candidate. That its other candidates are taken, and packets elsewhere blocked, does not matter. If
no packets lie in E, any head packet has an escape candidate, and its buffer is empty. Packets that
enter a ring as ordinary candidates do so under the same bubble rule, so rings keep their free
slot. (J. Duato, IEEE Trans. Parallel Distrib. Syst. 7, 1996, doi 10.1109/71.532115; escapes under
bubble: V. Puente et al., J. Parallel Distrib. Comput. 61, 2001, doi 10.1006/jpdc.2001.1746.)

Under ``best`` a packet does not take an escape that has room while it waits for another candidate,
and such packets may wait for each other in a cycle. ``duato`` proves nothing then.

``duato`` under wormhole switching: a packet holds the buffers that its flits lie in. Suppose that
all are blocked, and take the escape candidate b of highest rank that any head has at this moment.
b is held by a packet that came over b, and whose head has an escape candidate c at this moment. If
that packet has taken no escape since b, (b, c) is a dependency. Otherwise it has taken e1, e2, …
ek, and (b, e1), (e1, e2), … (ek, c) are dependencies, because it takes no escape between each and
the next. In both cases c has a higher rank than b, which is a contradiction. This requires a head
at the front of every buffer with flits that belong to it. So **a virtual channel is given to a
packet only when its buffer is empty**. Where a buffer may hold flits of several packets, a head
may stand behind another packet's tail, where no escape helps, and two packets can stand behind
each other. Then only ``acyclic`` is a proof. Bubble flow control does not work with wormhole
switching. (J. Duato, IEEE Trans. Parallel Distrib. Syst. 4, 1993, doi 10.1109/71.250114, and 6,
1995, doi 10.1109/71.473515.)

*Lanes.* With V virtual channels and k classes, class c is V // k virtual channels, and a packet
takes any of them; along a ring under bubble it stays in its lane. Map every virtual channel to its
class: a dependency between virtual channels becomes one between their classes. So a rank of
classes ranks virtual channels, too. An acyclic graph stays acyclic, and a component inside a ring
on one class becomes one ring for each lane, as no packet changes lanes within it. A change of
lanes elsewhere is an entry with two free slots like any other. So a proof for one lane holds for
any number of lanes.

The criteria do not exclude starvation: ``max_hops`` bounds a walk, and the router's priority
decides which packet waits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from routelab.api import (
    HopProgram,
    InputError,
    Proof,
    RoutingPart,
    Topology,
    frozen_array,
)
from routelab.api.topology import Int32Array
from routelab.deadlock.fixed_states import MAX_CALLS, FixedStates, explore_fixed
from routelab.deadlock.hop_verdict import HopVerdict
from routelab.deadlock.program_code import (
    find_hidden_state,
    has_unscripted_draws,
    reads_queues,
)
from routelab.deadlock.reachable_states import (
    MAX_DEPENDENCIES,
    MAX_STATES,
    ReachableStates,
    explore_states,
)
from routelab.deadlock.small_network import small_network
from routelab.deadlock.table_checker import BUBBLE_PRECONDITIONS, CYCLE_BUDGET, ring_successors
from routelab.deadlock.verdict import Ring, Switching
from routelab.kernels.dependency import component_ranks, short_cycle, strong_components
from routelab.toolkit.rings import complete_rings

_RANKING_PRECONDITIONS = {
    "room": "a packet moves when one of its candidates has room",
    "best": "a packet moves when the candidate that it chose has room",
    "best-or-escape": "a packet moves when the candidate that it chose, or an escape, has room",
}
_ALWAYS = (
    "every virtual channel has a buffer of its own",
    "packets at their destination are always consumed",
)
_SMALL_NETWORK_SIZES = (64, 25)
"""Largest numbers of switches of the small networks to try in place of a large one."""
_UNPROVEN = {
    "recovery": "deadlocks may form, and are resolved at run time: nothing to prove",
    "none": "it claims no proof",
}
_CUT_THROUGH = "a packet moves only into room for all of it"
_EMPTY_FIRST = "a virtual channel is given to a packet only when its buffer is empty"


class RouterOptions(NamedTuple):
    """What a check assumes of the routers; the parameters of `check_hops` with these names."""

    switching: Switching = "virtual-cut-through"
    packets_per_buffer: int = 2
    shared_buffers: bool = False


def check_hop_routing(
    routing: RoutingPart,
    topology: Topology,
    virtual_channels: int,
    *,
    switching: Switching = "virtual-cut-through",
    packets_per_buffer: int = 2,
    shared_buffers: bool = False,
    max_states: int | None = None,
) -> HopVerdict:
    """Check a routing on a network of any size.

    If there are too many states, pairs are examined in drawn order as far as the limit of states
    allows. Without a fault in them the verdict is ``unproven``, and the same algorithm is also
    checked on a small network of the same kind, if possible (`small_network`); the reason and
    ``small`` hold that verdict.

    Parameters
    ----------
    routing : RoutingPart
        A routing that supports `topology`; one with a table runs as a program, too.
    topology : Topology
    virtual_channels : int
        Virtual channels of each channel.
    switching, packets_per_buffer, shared_buffers, max_states
        Assumptions about the routers, and the limit of states; see `check_hops`.
    """
    options = RouterOptions(switching, packets_per_buffer, shared_buffers)
    program = routing.prepare(topology, virtual_channels)
    verdict = _check_program(
        program,
        topology,
        routing.proof,
        options,
        virtual_channels=virtual_channels,
        max_states=max_states,
    )
    if not verdict.partial:
        return verdict
    # Too many states. Take the first small network that the routing supports, and of which all
    # states can be examined.
    for max_switches in _SMALL_NETWORK_SIZES:
        small = small_network(topology, max_switches)
        if small is None or small.num_switches >= topology.num_switches:
            continue
        is_supported = routing.supports(small, virtual_channels) is None
        if not is_supported:
            continue
        program = routing.prepare(small, virtual_channels)
        small_verdict = _check_program(
            program,
            small,
            routing.proof,
            options,
            virtual_channels=virtual_channels,
            max_states=max_states,
        )
        if not small_verdict.partial:
            return _add_small_verdict(verdict, small_verdict)
    return verdict


def _add_small_verdict(verdict: HopVerdict, small: HopVerdict) -> HopVerdict:
    """Add the verdict on a small network to that on one with too many states."""
    dims = "x".join(map(str, small.topology.attributes["dims"]))
    shape = f"{small.topology.family} {dims}"
    return replace(
        verdict,
        reason=f"{verdict.reason}; the verdict on a {shape} is {small.status}: {small.reason}",
        coverage=f"{verdict.coverage}; {shape}: {small.coverage}",
        small=small,
    )


def check_hops(
    program: HopProgram,
    topology: Topology,
    proof: Proof,
    *,
    switching: Switching = "virtual-cut-through",
    packets_per_buffer: int = 2,
    shared_buffers: bool = False,
    virtual_channels: int | None = None,
    max_states: int | None = None,
) -> HopVerdict:
    """Prove a hop-by-hop algorithm free of deadlock, or find a cycle.

    Parameters
    ----------
    program : HopProgram
        Prepared for `topology`.
    topology : Topology
    proof : {"acyclic", "bubble", "duato", "recovery", "none"}
        The kind of proof to look for.
    switching : {"virtual-cut-through", "wormhole"}
        Packets of one flit always use virtual cut-through.
    packets_per_buffer : int
        Packets of the largest size that fit into the buffer of one virtual channel.
    shared_buffers : bool
        Under wormhole switching: a buffer may hold flits of several packets.
    virtual_channels : int, optional
        Virtual channels of the program (default: as many as it needs).
    max_states : int, optional
        Number of states at which the search stops (default: 4 million, and 500 million for programs
        with `fixed` candidates). What it has found then counts: a fault is
        ``broken`` or ``cycle``, and without any the verdict is ``unproven``.

    Returns
    -------
    HopVerdict

    Raises
    ------
    InputError
        If an option has a value that does not exist.
    """
    options = RouterOptions(switching, packets_per_buffer, shared_buffers)
    return _check_program(
        program,
        topology,
        proof,
        options,
        virtual_channels=virtual_channels,
        max_states=max_states,
    )


def _check_program(
    program: HopProgram,
    topology: Topology,
    proof: Proof,
    options: RouterOptions,
    *,
    virtual_channels: int | None,
    max_states: int | None,
) -> HopVerdict:
    """Search the states of a program, and return the verdict on them.

    Fixed candidates, if the program declares them, allow the faster search by legs.
    """
    _require_valid_options(proof, options)
    escapes = proof == "duato"
    # Under wormhole switching, `duato` needs the indirect dependencies of the extended graph. They
    # depend on a packet's earlier hops, which `explore_fixed` does not know. With shared buffers
    # escapes prove nothing (`_find_obstacle`), so the graph would be of no use.
    indirect = escapes and options.switching == "wormhole" and not options.shared_buffers
    exploration: ReachableStates | FixedStates
    if program.fixed and not indirect:
        limit = MAX_CALLS if max_states is None else max_states
        exploration = explore_fixed(
            program, topology, virtual_channels, escapes=escapes, max_states=limit
        )
    else:
        limit = MAX_STATES if max_states is None else max_states
        exploration = explore_states(
            program,
            topology,
            virtual_channels,
            escapes=escapes,
            indirect=indirect,
            max_states=limit,
        )
    return verdict_from_states(exploration, proof, options)


def _require_valid_options(proof: str, options: RouterOptions) -> None:
    """Refuse options that do not exist."""
    switching, packets_per_buffer = options.switching, options.packets_per_buffer
    errors = []
    if proof not in get_args(Proof):
        errors.append(f"proof is {proof!r}, expected one of {', '.join(get_args(Proof))}")
    if switching not in get_args(Switching):
        errors.append(f"switching is {switching!r}, expected 'virtual-cut-through' or 'wormhole'")
    if packets_per_buffer < 1:
        errors.append(f"packets_per_buffer is {packets_per_buffer}, expected at least 1")
    if errors:
        raise InputError("deadlock check: " + "; ".join(errors))


def verdict_from_states(
    exploration: ReachableStates | FixedStates,
    proof: Proof,
    options: RouterOptions = RouterOptions(),  # noqa: B008, it is immutable
) -> HopVerdict:
    """Derive the verdict from the states of a program.

    Parameters
    ----------
    exploration : ReachableStates or FixedStates
        For ``duato`` under wormhole switching, a ReachableStates with Duato's extended graph.
    proof : str
    options : RouterOptions
    """
    # Fields of every verdict on the program; each step below adds what it finds.
    facts: dict[str, Any] = {
        "proof": proof,
        "switching": options.switching,
        "topology": exploration.topology,
        "classes": exploration.classes,
        "coverage": exploration.coverage,
        "problems": tuple(exploration.problems.values()),
        "allowed_routes": exploration.allowed_routes,
    }
    if exploration.problems:
        problem = next(iter(exploration.problems.values()))
        return HopVerdict("broken", reason=f"the contract is broken: {problem}", **facts)
    if exploration.allowed_routes.obstacle:
        return HopVerdict("broken", reason=exploration.allowed_routes.obstacle, **facts)
    if proof in ("recovery", "none"):
        return HopVerdict("unproven", reason=_UNPROVEN[proof], **facts)
    obstacle = _find_obstacle(exploration, proof, options)
    if obstacle:
        return HopVerdict("unproven", reason=obstacle, **facts)
    if proof == "duato" and exploration.without_escape:
        state = exploration.without_escape
        return HopVerdict("unproven", reason=f"no candidate is an escape: {state}", **facts)
    facts["preconditions"] = _preconditions(exploration, proof, options.switching)
    return _verdict_from_dependencies(exploration, facts)


def _find_obstacle(
    exploration: ReachableStates | FixedStates, proof: Proof, options: RouterOptions
) -> str:
    """Return why the kind of proof does not apply; empty if it does."""
    switching, packets_per_buffer, shared_buffers = options
    if proof == "duato" and exploration.program.ranking == "best":
        return (
            "a packet waits for its best candidate, whether an escape has room or not; the ranking "
            "best-or-escape takes the escape"
        )
    keeps_bubbles = _keeps_bubbles(exploration)
    if keeps_bubbles and switching == "wormhole":
        return "bubble flow control needs virtual cut-through; the switching is wormhole"
    if keeps_bubbles and packets_per_buffer < 2:
        return (
            "bubble flow control needs buffers of at least 2 packets: with "
            f"{packets_per_buffer} no packet may ever enter a ring"
        )
    if proof == "duato" and switching == "wormhole" and shared_buffers:
        return (
            "under wormhole switching an escape helps only a head at the front of its buffer, and "
            "here it may stand behind another packet's tail"
        )
    return ""


def _keeps_bubbles(exploration: ReachableStates | FixedStates) -> bool:
    """Return whether the program keeps a bubble in some ring: a mesh has none to keep it in."""
    return bool(exploration.program.bubble and complete_rings(exploration.topology))


def _preconditions(
    exploration: ReachableStates | FixedStates, proof: Proof, switching: Switching
) -> tuple[str, ...]:
    """Return what the hardware must guarantee for a verdict by this kind of proof to hold."""
    always = (_RANKING_PRECONDITIONS[exploration.program.ranking], *_ALWAYS)
    if _keeps_bubbles(exploration) and proof != "acyclic":
        # these include virtual cut-through, under which `duato` needs no more
        return always + BUBBLE_PRECONDITIONS
    if proof != "duato":
        # `acyclic` holds for any switching
        return always
    return (*always, _CUT_THROUGH if switching == "virtual-cut-through" else _EMPTY_FIRST)


def _verdict_from_dependencies(
    exploration: ReachableStates | FixedStates, facts: dict[str, Any]
) -> HopVerdict:
    """Return the verdict on the dependency graph: it has a harmful cycle, or each resource a rank.

    The steps are those of `check_table`. `facts` has the fields of `HopVerdict` that are known so
    far.
    """
    topology, classes = exploration.topology, exploration.classes
    if (
        isinstance(exploration, ReachableStates)
        and exploration.num_extended_dependencies > MAX_DEPENDENCIES
    ):
        count = exploration.num_extended_dependencies
        reason = f"there are {count:,} dependencies of escapes, too many"
        return HopVerdict("unproven", reason=reason, partial=True, **facts)
    # 1. Every hop uses a higher class: the class is the rank, without a graph.
    is_vertex = exploration.criterion_resources(facts["proof"])
    if exploration.ascending and exploration.complete:
        rank = np.where(is_vertex.reshape(-1, classes), np.arange(classes), -1)
        facts["rank"] = frozen_array(rank, np.int32)
        return _verdict_without_cycle(exploration, "every hop uses a higher class", facts)
    # 2. The dependency graph, as lists of the resources that packets in each resource wait for.
    #    In CSR form: packets in resource r may wait for awaited[first_edge[r]:first_edge[r + 1]].
    held, awaited = (
        resources_of_edges.astype(np.int32)
        for resources_of_edges in exploration.dependency_edges(facts["proof"])
    )
    num_edges = np.bincount(held, minlength=len(is_vertex))
    first_edge = np.concatenate(([0], np.cumsum(num_edges))).astype(np.int64)
    # 3. An edge lies on a cycle if its ends are in the same strongly connected component. It is
    #    harmful, except along a complete ring on a class that keeps a bubble.
    component = strong_components(first_edge, awaited)
    is_on_cycle = component[held] == component[awaited]
    rings = complete_rings(topology) if facts["proof"] != "acyclic" else []
    keeps_bubble = np.isin(np.arange(len(is_vertex)) % classes, exploration.program.bubble)
    next_in_ring = ring_successors(topology, rings, classes)
    along_ring = keeps_bubble[held] & (next_in_ring[held] == awaited)
    facts["dependencies"] = frozen_array(np.column_stack((held, awaited)), np.int32)
    is_harmful = is_on_cycle & ~along_ring
    if is_harmful.any():
        cycle = short_cycle(first_edge, awaited, component, is_harmful, CYCLE_BUDGET)
        return _cycle_verdict(exploration, cycle, facts)
    # A cycle in some states is one, but without a cycle a proof needs all states.
    if not exploration.complete:
        reason = (
            f"no fault in {exploration.examined_part}; there are too many states to examine all"
        )
        return HopVerdict("unproven", reason=reason, partial=True, **facts)
    # 4. No harmful cycle: the certificate is a rank that grows along every edge between components.
    rank = np.where(is_vertex, component_ranks(first_edge, awaited, component), -1)
    # The rings whose bubbles the proof needs. A cycle that remains is a whole ring, so the first
    # channel of a ring shows whether the ring is a cycle.
    is_in_cycle = np.zeros(len(component), dtype=np.bool_)
    is_in_cycle[held[is_on_cycle]] = True
    cyclic_rings = tuple(
        Ring(vc, tuple(ring))
        for ring in rings
        for vc in range(classes)
        if is_in_cycle[ring[0] * classes + vc]
    )
    subject = "the dependencies" + (" of escapes" if facts["proof"] == "duato" else "")
    reason = (
        f"every cycle of {subject} is a complete ring under bubble ({len(cyclic_rings)} of them)"
        if cyclic_rings
        else f"{subject} are acyclic"
    )
    facts["rank"] = frozen_array(rank.reshape(-1, classes), np.int32)
    facts["rings"] = cyclic_rings
    return _verdict_without_cycle(exploration, reason, facts)


def _verdict_without_cycle(
    exploration: ReachableStates | FixedStates, reason: str, facts: dict[str, Any]
) -> HopVerdict:
    """Return the verdict if there is no cycle: proven, proven if declared, or unproven.

    ``proven if declared`` holds under assumptions that only a sample of calls supports; the reason
    lists them, and the number of these calls.
    """
    assumptions = []
    if isinstance(exploration, FixedStates):
        sampled_calls = exploration.num_verified_calls
        assumptions.append("candidates are fixed as declared")
        if exploration.waypoint_text:
            assumptions.append(f"waypoints are {exploration.waypoint_text}")
    elif exploration.open_question:
        reason = f"no fault was found, and no proof: {exploration.open_question}"
        # without the rank and the rings that `_verdict_from_dependencies` has found
        return HopVerdict("unproven", reason=reason, **{**facts, "rank": None, "rings": ()})
    else:
        sampled_calls = exploration.num_sampled_calls
        if reads_queues(exploration.program):
            assumptions.append("queues decide only what `either` and penalties show")
        if has_unscripted_draws(exploration.program):
            assumptions.append("draws that are not tried decide nothing")
    hidden_state = find_hidden_state(exploration.program)
    if hidden_state:
        assumptions.append(f"{hidden_state} decides nothing")
    if not assumptions:
        return HopVerdict("proven", reason=reason, **facts)
    reason = f"{reason}, if {' and '.join(assumptions)} ({sampled_calls:,} calls agree)"
    return HopVerdict("proven if declared", reason=reason, **facts)


def _cycle_verdict(
    exploration: ReachableStates | FixedStates, resources: Int32Array, facts: dict[str, Any]
) -> HopVerdict:
    """Return the verdict with a cycle: packets in each resource may wait for the next one."""
    successors = np.roll(resources, -1)
    pairs = exploration.example_pairs(resources, successors)
    kind = "escapes" if facts["proof"] == "duato" else "resources"
    # under bubble flow control, a complete ring would be harmless
    restriction = " that is not one complete ring" if exploration.program.bubble else ""
    cycle = [divmod(int(resource), exploration.classes) for resource in resources]
    return HopVerdict(
        "cycle",
        reason=f"{len(resources)} {kind} wait for each other in a cycle{restriction}",
        cycle=tuple(cycle),
        cycle_routes=tuple((int(source), int(target)) for source, target in pairs),
        **facts,
    )
