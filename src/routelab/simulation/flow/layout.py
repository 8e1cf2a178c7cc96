"""Arrays of the flow engine from a schedule, paths and a machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.api import UnsupportedError
from routelab.api.blocks import COMPUTE, IRECV, ISEND, RECV, SEND
from routelab.api.topology import Int64Array
from routelab.simulation.flow.kernels import layout as at
from routelab.simulation.flow.paths import PairPaths, Paths
from routelab.simulation.flow.schedule import Schedule
from routelab.toolkit.machine import Machine

_LARGEST = 2**31 - 1
"""Largest number of bundles, or of crossings: rows of the engine refer to them by 32 bits."""

_INITIAL_ROOM = 1024
"""Messages in transit, and slots, that fit at first; the room grows on demand."""


def lay_out(
    schedule: Schedule, paths: Paths, machine: Machine, seed: int, steady_rounds: int
) -> tuple[at.FlowState, PairPaths]:
    """Return the initial state of the engine, and the ways of its bundles.

    Parameters
    ----------
    steady_rounds : int
        Number of last rounds that represent those that are not simulated.
    """
    # 1. The program: what ranks do, block after block on the tape. A message has a slot from its
    #    first end to its second one; those of a place on the tape follow those before it.
    ranks, tape = schedule.ranks, np.array(schedule.tape, np.int32)
    operations, block_start, per_block, sources, targets = _operations(schedule, paths, machine)
    tape_slot = np.concatenate(([0], np.cumsum(per_block[tape]))).astype(np.int64)
    part, timestamp_places = _parts(schedule, steady_rounds)
    requests = _most_requests(schedule)
    # 2. The network: only pairs of terminals that communicate have bundles.
    ways = paths.between(sources, targets)
    bundles, crossings, resources = _network(paths, machine, ways)
    # 3. Room for messages. Slots are taken modulo the ring, a power of two, which grows when ranks
    #    are too many blocks apart.
    ring_size = 1 << int(max(4 * per_block.max(initial=0), _INITIAL_ROOM) - 1).bit_length()
    num_messages = _INITIAL_ROOM + at.BURST
    # 4. The state before the first operation: all ranks are ready, on no place of the tape yet.
    ints = np.zeros(at.INTS, np.int64)
    ints[at.S_RANKS] = ranks
    ints[at.S_HANDSHAKE], ints[at.S_SEED] = machine.handshake, seed
    ints[at.FREE], ints[at.READY_RANKS] = num_messages, ranks
    reals = np.zeros(at.REALS)
    reals[at.UNTIL] = -1.0
    reals[at.OVERHEAD], reals[at.EAGER] = machine.overhead, machine.eager_bytes
    initial_ranks = np.zeros(ranks, at.RANK)
    initial_ranks["place"] = -1
    num_bundles, num_resources = len(bundles), len(resources)
    flow = at.FlowState(
        ints=ints,
        reals=reals,
        operations=operations,
        block_start=block_start,
        tape=tape,
        tape_slot=tape_slot,
        part=part,
        timestamp_places=timestamp_places,
        timestamps=np.zeros((len(timestamp_places), ranks)),
        left=np.zeros(len(tape), np.int32),
        ranks=initial_ranks,
        ready=np.arange(ranks - 1, -1, -1, dtype=np.int32),
        request_start=np.concatenate(([0], np.cumsum(requests))).astype(np.int64),
        requests=np.zeros(int(requests.sum()), np.int32),
        ring=np.full(ring_size, -1, np.int32),
        messages=np.zeros(num_messages, at.MESSAGE),
        free=np.arange(num_messages - 1, -1, -1, dtype=np.int32),
        event_time=np.zeros(num_messages + ranks),
        event=np.zeros(num_messages + ranks, np.int32),
        pair_start=ways.start.copy(),
        bundles=bundles,
        finishes=np.zeros(num_bundles, np.int32),
        crossings=crossings,
        resources=resources,
        members=np.zeros(len(crossings), at.MEMBER),
        changed=np.zeros(num_bundles, np.int32),
        freed=np.zeros(len(crossings), np.int32),
        affected_bundles=np.zeros(num_bundles, np.int32),
        affected_resources=np.zeros(num_resources, np.int32),
        level=np.zeros(num_resources),
        at_level=np.zeros(num_resources, np.int32),
        sent_bytes=np.zeros((num_bundles, 3)),
        sent=np.zeros((num_bundles, 3), np.int64),
    )
    return flow, ways


def _operations(
    schedule: Schedule, paths: Paths, machine: Machine
) -> tuple[NDArray[Any], Int64Array, Int64Array, Int64Array, Int64Array]:
    """Return operations, their places, messages by block, and communicating terminals.

    Places are the first operation of each rank in each block; the terminals are sources and
    targets of the pairs that sends refer to.
    """
    blocks, terminals = schedule.blocks, paths.topology.num_terminals
    sizes = np.array([len(block.kind) for block in blocks], np.int64)
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    operations = np.zeros(start[-1], at.OPERATION)
    block_start = np.zeros((len(blocks), schedule.ranks + 1), np.int64)
    messages = np.zeros(len(blocks), np.int64)
    terminal = paths.terminal.astype(np.int64)
    block_sends = []
    # 1. The operations of each block. Receives number its messages, and a send has the number of
    #    its receive.
    for number, block in enumerate(blocks):
        block_start[number] = start[number] + block.start
        rows = operations[start[number] : start[number + 1]]
        rows["amount"], rows["kind"], rows["peer"] = block.amount, block.kind, block.peer
        computes = block.kind == COMPUTE
        rate = machine.compute_rate
        rows["amount"][computes] = block.amount[computes] / rate if rate else 0.0
        receives = np.flatnonzero((block.kind == RECV) | (block.kind == IRECV))
        sends = np.flatnonzero((block.kind == SEND) | (block.kind == ISEND))
        messages[number] = len(receives)
        rows["slot"][receives] = np.arange(len(receives))
        rows["slot"][sends] = rows["slot"][block.receive_of[sends]]
        pair = terminal[block.rank_of()[sends]] * terminals + terminal[block.peer[sends]]
        block_sends.append((rows, sends, pair))
    # 2. Pairs of terminals, numbered among those in use: of all pairs there may be too many.
    used = np.unique(np.concatenate([np.unique(pair) for *_, pair in block_sends] or [start[:0]]))
    for rows, sends, pair in block_sends:
        rows["pair"][sends] = np.searchsorted(used, pair)
    return operations, block_start, messages, used // terminals, used % terminals


def _network(
    paths: Paths, machine: Machine, ways: PairPaths
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return bundles, the resources that they cross, and all resources.

    Resources are channels, then injections, ejections and memories of terminals; bundles do not
    cross resources without a limit.
    """
    topology = paths.topology
    channels, terminals, count = topology.num_channels, topology.num_terminals, len(ways.source)
    injection, ejection, memory = channels, channels + terminals, channels + 2 * terminals
    # 1. How many resources each bundle crosses.
    inside, hops = ways.source == ways.target, np.diff(ways.hop_start)
    enters = ~inside & (machine.injection_bandwidth > 0)
    leaves = ~inside & (machine.ejection_bandwidth > 0)
    copies = inside & (machine.memory_bandwidth > 0)
    length = hops + enters + leaves + copies
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    if max(start[-1], count) > _LARGEST:
        raise UnsupportedError(
            f"the flow engine: {count} paths with {start[-1]} channels between the ranks are too "
            "many; use fewer ranks, or more ranks per terminal"
        )
    # 2. Which ones: an injection first, an ejection last, channels between them; or one memory.
    crossings = np.zeros(start[-1], at.CROSSING)
    resource = crossings["resource"]
    resource[start[:-1][enters]] = injection + ways.source[enters]
    resource[start[:-1][copies]] = memory + ways.source[copies]
    resource[start[1:][leaves] - 1] = ejection + ways.target[leaves]
    way_of_hop = np.repeat(np.arange(count), hops)
    hop_number = np.arange(len(way_of_hop)) - ways.hop_start[way_of_hop]
    resource[start[way_of_hop] + enters[way_of_hop] + hop_number] = ways.hop_channel
    bundles = np.zeros(count, at.BUNDLE)
    bundles["first"], bundles["crossings"] = start[:-1], length
    bundles["upto"] = ways.upto
    bundles["delay"] = np.where(
        inside, machine.memory_latency, machine.latency + hops * machine.hop_latency
    )
    for name in ("limit", "queue", "head", "tail"):
        bundles[name] = -1
    # 3. Resources. Each has room for all bundles that cross it: any of them may have messages.
    resources = np.zeros(channels + 3 * terminals, at.RESOURCE)
    resources["capacity"] = np.concatenate(
        (
            topology.channel_capacity * machine.link_bandwidth,
            np.full(terminals, machine.injection_bandwidth),
            np.full(terminals, machine.ejection_bandwidth),
            np.full(terminals, machine.memory_bandwidth),
        )
    )
    users = np.bincount(resource, minlength=len(resources))
    resources["first"] = np.concatenate(([0], np.cumsum(users)))[:-1]
    return bundles, crossings, resources


def _parts(schedule: Schedule, steady_rounds: int) -> tuple[NDArray[np.int8], Int64Array]:
    """Return the part of each place on the tape, and the places whose times are recorded."""
    part = np.full(len(schedule.tape), at.OUTSIDE, np.int8)
    part[slice(*schedule.timed)] = at.TIMED
    timestamp_places = {*schedule.timed, len(schedule.tape)}
    if schedule.total_rounds > schedule.rounds:
        begin, end = int(schedule.round_start[-1 - steady_rounds]), int(schedule.round_start[-1])
        part[begin:end] = at.REPEATED
        timestamp_places |= {begin, end}
    return part, np.array(sorted(timestamp_places), np.int64)


def _most_requests(schedule: Schedule) -> Int64Array:
    """Return the largest number of open requests of each rank; int64, shape (ranks,)."""
    requests = np.zeros(schedule.ranks, np.int64)
    for block in schedule.blocks:
        asks = (block.kind == ISEND) | (block.kind == IRECV)
        requests = np.maximum(
            requests, np.bincount(block.rank_of()[asks], minlength=schedule.ranks)
        )
    return requests
