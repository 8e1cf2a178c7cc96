"""Counts of arriving packets.

Bins of histograms are exact below EXACT cycles; above, STEPS bins for each doubling:

    0 … 4095            4096 bins of 1 cycle
    4096 … 8191         64 bins of 64 cycles
    8192 … 16383        64 bins of 128 cycles …
"""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at

EXACT, STEPS = 4096, 64

LATENCY, NETWORK, MESSAGES, IN_ORDER = range(4)
"""Rows of `histograms`."""


@inline
def bin_of(cycles, num_bins):
    """Return the bin of a histogram for a number of cycles; the last bin has all that is longer."""
    if cycles < EXACT:
        return cycles
    # The doubling from EXACT << k to twice that has STEPS bins of equal width: 4096 to 8191 is
    # doubling 0, with bins of 64 cycles.
    doubling, width = 0, EXACT // STEPS
    while cycles >= (EXACT << (doubling + 1)):
        doubling += 1
        width *= 2
    bin_number = EXACT + doubling * STEPS + (cycles - (EXACT << doubling)) // width
    return min(bin_number, num_bins - 1)


@inline
def _record(engine, histogram, cycles):
    """Add a latency to its histogram, its sum and its maximum."""
    engine.histograms[histogram, bin_of(cycles, engine.histograms.shape[1])] += 1
    engine.totals[at.SUM_LATENCY + histogram] += cycles
    if cycles > engine.totals[at.MAX_LATENCY + histogram]:
        engine.totals[at.MAX_LATENCY + histogram] = cycles


@inline
def count_ejection(engine, packet, when):
    """Count a packet whose tail reaches its terminal in cycle `when`, and free its row.

    A message of one packet arrives with it, and is not counted separately.
    """
    packets, totals, by_terminal = engine.packets, engine.totals, engine.by_terminal
    setting = engine.setting
    source, target = packets[u(packet)].source_terminal, packets[u(packet)].target_terminal
    latency = when - packets[u(packet)].generated_at
    flits = setting[at.S_UNITS_PER_PACKET] * setting[at.S_UNIT_FLITS]
    by_terminal[source, at.DELIVERED] += 1
    by_terminal[source, at.LATENCY_BY_SOURCE] += latency
    by_terminal[target, at.EJECTED] += flits
    by_terminal[target, at.LATENCY_BY_TARGET] += latency
    by_terminal[target, at.RECEIVED] += 1
    by_terminal[target, at.LAST_ARRIVAL] = when
    totals[at.SUM_EJECTED_PACKETS] += 1
    _record(engine, LATENCY, latency)
    _record(engine, NETWORK, when - packets[u(packet)].injected_at)
    engine.hops[min(packets[u(packet)].hops, at.HOP_BINS - 1)] += 1
    if setting[at.S_MESSAGE_PACKETS] == 1:
        totals[at.DONE_MESSAGES] += 1
    else:
        _count_message(engine, packet, when)
    totals[at.IN_NETWORK] -= 1
    engine.free_packets[totals[at.NUM_FREE_PACKETS]] = packet
    totals[at.NUM_FREE_PACKETS] += 1


@inline
def _count_message(engine, packet, when):
    """Count a packet's arrival for its message, and the message itself if it is complete."""
    messages, totals, arrived = engine.messages, engine.totals, engine.arrived
    message = engine.packets[u(packet)].message
    size = engine.setting[at.S_MESSAGE_PACKETS]
    generated_at = messages[u(message)].generated_at
    messages[u(message)].arrived += 1
    if engine.setting[at.S_IN_ORDER] != 0:
        sequence = engine.packets[u(packet)].sequence
        arrived[message, sequence >> 6] |= np.uint64(1) << np.uint64(sequence & 63)
        expected = messages[u(message)].expected
        # Packets that arrived earlier, but had to wait for this one, are delivered with it. If an
        # earlier packet is still missing, the loop delivers nothing.
        while expected < size and (
            arrived[message, expected >> 6] >> np.uint64(expected & 63)
        ) & np.uint64(1) != np.uint64(0):
            _record(engine, IN_ORDER, when - generated_at)
            expected += 1
        messages[u(message)].expected = expected
    if messages[u(message)].arrived == size:
        _record(engine, MESSAGES, when - generated_at)
        totals[at.DONE_MESSAGES] += 1
        for word in range(arrived.shape[1]):
            arrived[message, word] = np.uint64(0)
        engine.free_messages[totals[at.NUM_FREE_MESSAGES]] = message
        totals[at.NUM_FREE_MESSAGES] += 1
