"""The room of every buffer and FIFO of a packet simulation, and the flows of a flow simulation."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at


@njit
def count_units(addresses, now, delay):
    """Return credits, buffered units, units in transit, credits in transit per queue; (Q, 4).

    Parameters
    ----------
    addresses : int64 array
        Those of the engine's arrays (`array_addresses`).
    delay : int
        Router delay: time of a unit in its buffer before it may leave.
    """
    engine = engine_at(addresses)
    queues, slots, capacity = engine.queues, engine.slots, engine.setting[at.S_CAPACITY]
    has_fifos = engine.setting[at.S_FIFO_UNITS] != 0
    counts = np.zeros((len(queues), 4), np.int64)
    for queue in range(len(queues)):
        counts[queue, 0] = engine.room[queue].credits
        if has_fifos and engine.inputs[queues[queue].port].upstream_switch >= 0:
            counts[queue, 0] = engine.fifos[queue].credits
        for k in range(queues[queue].count):
            slot = (queues[queue].front + k) % capacity
            ready = queues[queue].ready if k == 0 else slots[queue * capacity + slot].ready
            there = ready - delay < now
            counts[queue, 1 if there else 2] += 1
        word, bit = queue >> 6, np.uint64(queue & 63)
        for row in range(engine.credits.shape[0]):
            counts[queue, 3] += np.int64((engine.credits[row, word] >> bit) & np.uint64(1))
    return counts


def audit(simulation):
    """Return the use of every buffer's room: shape (C, V, 4), in units.

    Free and known upstream, taken by units in the buffer, taken by units on the channel, and
    free but not yet known upstream. The four add up to the buffer's capacity.
    """
    router = simulation.router
    counts = count_units(simulation._addresses, simulation.now, router.router_delay)
    return counts.reshape(-1, router.vcs, 4)[simulation._ports.of_channel]


def audit_fifos(simulation):
    """Return the use of every output FIFO: shape (C, V, 3), in units.

    Free, taken by units that wait for the channel, and by the unit that the channel sends. The
    three add up to the size of a FIFO, 0 without FIFOs.
    """
    engine, vcs = simulation._engine, simulation.router.vcs
    queues = (simulation._ports.of_channel[:, None] * vcs + np.arange(vcs)).reshape(-1)
    counts = np.zeros((len(queues), 3), np.int64)
    if simulation.router.fifo_units:
        counts[:, 0] = engine.space["credits"][queues]
        counts[:, 1] = engine.fifos["count"][queues]
        counts[:, 2] = np.isin(queues, engine.links["sending_queue"])
    return counts.reshape(-1, vcs, 3)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Bundles of messages that flow at one moment.

    Messages of each bundle, bytes per second of each message, resources that each bundle crosses,
    and the capacity of all resources in bytes per second.
    """

    count: np.ndarray
    rate: np.ndarray
    resources: list
    capacity: np.ndarray


def snapshot(simulation):
    """Return the bundles that flow now."""
    flow = simulation._flow
    bundles = flow.bundles[flow.bundles["num_messages"] > 0]
    crossings = flow.crossings["resource"]
    return Snapshot(
        bundles["num_messages"].astype(np.int64),
        bundles["rate"].copy(),
        [
            crossings[bundle["first_crossing"] :][: bundle["num_crossings"]].astype(np.int64)
            for bundle in bundles
        ],
        flow.resources["capacity"].copy(),
    )
