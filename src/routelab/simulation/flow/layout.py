"""Arrays of the flow engine from a schedule, paths and a machine.

The *tape* of a schedule is the order of the blocks that every rank runs. Messages between the same
terminals on the same path are one *bundle*; bundles share *resources*: channels, injections,
ejections and memories of terminals. `routelab.simulation.flow.kernels.layout` describes all arrays.
"""

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

_MAX_ROWS = 2**31 - 1
"""Largest number of bundles, or of crossings: rows of the engine refer to them by 32 bits."""

_INITIAL_ROOM = 1024
"""Least initial length of `messages` and `ring`, which `more_messages` and `larger_ring` double."""


def initial_state(
    schedule: Schedule, paths: Paths, machine: Machine, seed: int, steady_rounds: int
) -> tuple[at.FlowState, PairPaths]:
    """Return the state of the engine before the first operation, and the path of each bundle.

    Parameters
    ----------
    schedule : Schedule
    paths : Paths
    machine : Machine
    seed : int
        Seed of the choice among several paths of a pair.
    steady_rounds : int
        Number of last rounds that represent those that are not simulated.
    """
    # 1. The program: what ranks do, block after block on the tape. Slots number all messages of the
    #    run: for the tape 0 1 0, and blocks with 5 and 2 messages, the first slots are 0, 5 and 7.
    ranks, tape = schedule.ranks, np.array(schedule.tape, np.int32)
    operations, block_start, block_messages, sources, targets = _operations(
        schedule, paths, machine
    )
    first_slot = np.concatenate(([0], np.cumsum(block_messages[tape]))).astype(np.int64)
    phase, timestamp_indices = _phases(schedule, steady_rounds)
    max_requests = _max_open_requests(schedule)
    # 2. The network: only pairs of terminals that communicate have bundles.
    pair_paths = paths.between(sources, targets)
    bundles, crossings, resources = _network(paths, machine, pair_paths)
    # 3. Room for messages. A slot's index in the ring is the slot modulo the size, so the size is a
    #    power of two. The ring must hold the messages of all blocks from the slowest rank to the
    #    fastest one: at first those of any four blocks; `larger_ring` doubles it.
    least_ring_size = int(max(4 * block_messages.max(initial=0), _INITIAL_ROOM))
    ring_size = 1 << (least_ring_size - 1).bit_length()  # rounded up to a power of two
    num_messages = _INITIAL_ROOM + at.BURST  # the kernel stops with fewer than BURST free rows
    # 4. All ranks are ready, and on no block of the tape yet. Stacks are filled from above, so that
    #    rank 0 and message 0 are on top.
    ints = np.zeros(at.INTS, np.int64)
    ints[at.S_RANKS] = ranks
    ints[at.S_HANDSHAKE], ints[at.S_SEED] = machine.handshake, seed
    ints[at.NUM_FREE], ints[at.NUM_READY] = num_messages, ranks
    reals = np.zeros(at.REALS)
    # No event belongs to the first time step yet, not even one at time 0.
    reals[at.STEP_END] = -1.0
    reals[at.OVERHEAD], reals[at.EAGER_BYTES] = machine.overhead, machine.eager_bytes
    initial_ranks = np.zeros(ranks, at.RANK)
    initial_ranks["tape_index"] = -1
    num_bundles, num_resources = len(bundles), len(resources)
    flow = at.FlowState(
        ints=ints,
        reals=reals,
        operations=operations,
        block_start=block_start,
        tape=tape,
        first_slot=first_slot,
        phase=phase,
        timestamp_indices=timestamp_indices,
        timestamps=np.zeros((len(timestamp_indices), ranks)),
        num_ranks_past=np.zeros(len(tape), np.int32),
        ranks=initial_ranks,
        ready_ranks=np.arange(ranks - 1, -1, -1, dtype=np.int32),
        request_start=np.concatenate(([0], np.cumsum(max_requests))).astype(np.int64),
        requests=np.zeros(int(max_requests.sum()), np.int32),
        ring=np.full(ring_size, -1, np.int32),
        messages=np.zeros(num_messages, at.MESSAGE),
        free_messages=np.arange(num_messages - 1, -1, -1, dtype=np.int32),
        event_time=np.zeros(num_messages + ranks),
        event=np.zeros(num_messages + ranks, np.int32),
        pair_start=pair_paths.start.copy(),
        bundles=bundles,
        finish_heap=np.zeros(num_bundles, np.int32),
        crossings=crossings,
        resources=resources,
        members=np.zeros(len(crossings), at.MEMBER),
        changed_bundles=np.zeros(num_bundles, np.int32),
        freed_resources=np.zeros(len(crossings), np.int32),
        affected_bundles=np.zeros(num_bundles, np.int32),
        affected_resources=np.zeros(num_resources, np.int32),
        share_heap=np.zeros(num_resources),
        share_resource=np.zeros(num_resources, np.int32),
        sent_bytes=np.zeros((num_bundles, at.PHASES)),
        sent_messages=np.zeros((num_bundles, at.PHASES), np.int64),
    )
    return flow, pair_paths


def _operations(
    schedule: Schedule, paths: Paths, machine: Machine
) -> tuple[NDArray[Any], Int64Array, Int64Array, Int64Array, Int64Array]:
    """Return the operations of all blocks in the engine's form, and the pairs of terminals in use.

    Returns
    -------
    operations : OPERATION array
    block_start : int64 array, shape (blocks, ranks + 1)
        First operation of each rank in each block; last column: the end of the block.
    block_messages : int64 array, shape (blocks,)
        Number of messages in each block.
    sources, targets : int64 array, shape (pairs,)
        Terminals of the pairs to which the field ``pair`` of sends refers.
    """
    blocks, num_terminals = schedule.blocks, paths.topology.num_terminals
    sizes = np.array([len(block.kind) for block in blocks], np.int64)
    start = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    operations = np.zeros(start[-1], at.OPERATION)
    block_start = np.zeros((len(blocks), schedule.ranks + 1), np.int64)
    block_messages = np.zeros(len(blocks), np.int64)
    terminal = paths.terminal.astype(np.int64)
    block_sends = []
    # 1. The operations of each block. Its messages are numbered by their receives, and a send has
    #    the number of its receive.
    for number, block in enumerate(blocks):
        block_start[number] = start[number] + block.start
        rows = operations[start[number] : start[number + 1]]
        rows["amount"], rows["kind"], rows["peer"] = block.amount, block.kind, block.peer
        computes = block.kind == COMPUTE
        # Seconds instead of operations; without a rate, computations take no time.
        rate = machine.compute_rate
        rows["amount"][computes] = block.amount[computes] / rate if rate else 0.0
        receives = np.flatnonzero((block.kind == RECV) | (block.kind == IRECV))
        sends = np.flatnonzero((block.kind == SEND) | (block.kind == ISEND))
        block_messages[number] = len(receives)
        rows["message_number"][receives] = np.arange(len(receives))
        rows["message_number"][sends] = rows["message_number"][block.receive_of[sends]]
        source, target = terminal[block.rank_of()[sends]], terminal[block.peer[sends]]
        block_sends.append((rows, sends, source * num_terminals + target))
    # 2. Pairs of terminals, numbered among those in use: an array of all pairs may be too large.
    block_pairs = [np.unique(pair) for _, _, pair in block_sends]
    no_pairs = np.zeros(0, np.int64)  # of a program without blocks
    used_pairs = np.unique(np.concatenate([no_pairs, *block_pairs]))
    for rows, sends, pair in block_sends:
        rows["pair"][sends] = np.searchsorted(used_pairs, pair)
    sources, targets = used_pairs // num_terminals, used_pairs % num_terminals
    return operations, block_start, block_messages, sources, targets


def _network(
    paths: Paths, machine: Machine, pair_paths: PairPaths
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return bundles, the resources that they cross, and all resources.

    There is a bundle for each path in `pair_paths`. Resources are numbered: channels, then
    injections, ejections and memories of terminals. A path through two channels of terminals that
    have all limits crosses injection, channel, channel, ejection; one inside a terminal crosses its
    memory. Bundles do not cross resources without a limit.
    """
    topology = paths.topology
    channels, terminals = topology.num_channels, topology.num_terminals
    num_bundles = len(pair_paths.source)
    # numbers of the first injection, ejection and memory
    injection, ejection, memory = channels, channels + terminals, channels + 2 * terminals
    # 1. How many resources each bundle crosses. Bandwidth 0 means no limit.
    inside, hops = pair_paths.source == pair_paths.target, np.diff(pair_paths.hop_start)
    injected = ~inside & (machine.injection_bandwidth > 0)
    ejected = ~inside & (machine.ejection_bandwidth > 0)
    copied = inside & (machine.memory_bandwidth > 0)
    length = hops + injected + ejected + copied
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int64)
    if max(start[-1], num_bundles) > _MAX_ROWS:
        raise UnsupportedError(
            f"the flow engine: {num_bundles} paths with {start[-1]} channels between the ranks are "
            "too many; use fewer ranks, or more ranks per terminal"
        )
    # 2. Which ones: an injection first, an ejection last, channels between them; or one memory.
    #    Bundle b's are start[b]:start[b + 1]. Its channels begin one later if it has an injection
    #    (True counts as 1).
    crossings = np.zeros(start[-1], at.CROSSING)
    resource = crossings["resource"]
    first_crossing, last_crossing = start[:-1], start[1:] - 1  # of each bundle
    resource[first_crossing[injected]] = injection + pair_paths.source[injected]
    resource[first_crossing[copied]] = memory + pair_paths.source[copied]
    resource[last_crossing[ejected]] = ejection + pair_paths.target[ejected]
    bundle_of_hop = np.repeat(np.arange(num_bundles), hops)
    hop_number = np.arange(len(bundle_of_hop)) - pair_paths.hop_start[bundle_of_hop]
    first_channel = first_crossing[bundle_of_hop] + injected[bundle_of_hop]
    resource[first_channel + hop_number] = pair_paths.hop_channel
    bundles = np.zeros(num_bundles, at.BUNDLE)
    bundles["first_crossing"], bundles["num_crossings"] = first_crossing, length
    bundles["cumulative_share"] = pair_paths.cumulative_share
    bundles["latency"] = np.where(
        inside, machine.memory_latency, machine.latency + hops * machine.hop_latency
    )
    for name in ("bottleneck", "heap_index", "head", "tail"):
        bundles[name] = -1  # none
    # 3. Resources. The members of each have room for all bundles that cross it, because any of them
    #    may have messages.
    resources = np.zeros(channels + 3 * terminals, at.RESOURCE)
    resources["capacity"] = np.concatenate(
        (
            topology.channel_capacity * machine.link_bandwidth,
            np.full(terminals, machine.injection_bandwidth),
            np.full(terminals, machine.ejection_bandwidth),
            np.full(terminals, machine.memory_bandwidth),
        )
    )
    max_members = np.bincount(resource, minlength=len(resources))
    resources["first_member"] = np.concatenate(([0], np.cumsum(max_members)))[:-1]
    return bundles, crossings, resources


def _phases(schedule: Schedule, steady_rounds: int) -> tuple[NDArray[np.int8], Int64Array]:
    """Return how messages of each index on the tape are counted, and where times are recorded.

    Returns
    -------
    phase : int8 array, shape (L,)
        OUTSIDE, TIMED or REPEATED, for each index on the tape.
    timestamp_indices : int64 array
        Ascending indices on the tape. The time at which a rank reaches each of them is recorded;
        the last one, the length of the tape, is the end of the program.
    """
    phase = np.full(len(schedule.tape), at.OUTSIDE, np.int8)
    phase[slice(*schedule.timed)] = at.TIMED
    timestamp_indices = {*schedule.timed, len(schedule.tape)}
    # If rounds are not simulated, the last simulated ones, which are timed, represent them.
    if schedule.total_rounds > schedule.rounds:
        begin, end = int(schedule.round_start[-1 - steady_rounds]), int(schedule.round_start[-1])
        phase[begin:end] = at.REPEATED
        timestamp_indices |= {begin, end}
    return phase, np.array(sorted(timestamp_indices), np.int64)


def _max_open_requests(schedule: Schedule) -> Int64Array:
    """Return an upper bound on the open requests of each rank; int64, shape (ranks,).

    It is the largest number of requests that a block opens, because a block waits for all of them.
    """
    requests = np.zeros(schedule.ranks, np.int64)
    for block in schedule.blocks:
        opens_request = (block.kind == ISEND) | (block.kind == IRECV)
        requests = np.maximum(
            requests, np.bincount(block.rank_of()[opens_request], minlength=schedule.ranks)
        )
    return requests
