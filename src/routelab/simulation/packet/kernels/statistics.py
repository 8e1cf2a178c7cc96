"""Counts of arriving packets."""

from __future__ import annotations

import numpy as np

from routelab.kernels.bits import u
from routelab.kernels.jit import inline
from routelab.simulation.packet.kernels import layout as at

EXACT, STEPS = 4096, 64

LATENCY, NETWORK, MESSAGES, IN_ORDER = range(4)


@inline
def bin_of(cycles, bins):
    """Return the bin of a histogram for a number of cycles."""
    if cycles < EXACT:
        return cycles
    doubling, width = 0, EXACT // STEPS
    while cycles >= (EXACT << (doubling + 1)):
        doubling += 1
        width *= 2
    place = EXACT + doubling * STEPS + (cycles - (EXACT << doubling)) // width
    return min(place, bins - 1)


@inline
def _record(engine, histogram, cycles):
    engine.histograms[histogram, bin_of(cycles, engine.histograms.shape[1])] += 1
    engine.totals[at.SUM_LATENCY + histogram] += cycles
    if cycles > engine.totals[at.MAX_LATENCY + histogram]:
        engine.totals[at.MAX_LATENCY + histogram] = cycles


@inline
def count_ejection(engine, packet, when):
    """Count a packet whose tail reaches its terminal in cycle `when`; free its row."""
    packets, totals, by_terminal = engine.packets, engine.totals, engine.by_terminal
    setting = engine.setting
    source, target = packets[u(packet)].terminal, packets[u(packet)].drop
    latency = when - packets[u(packet)].born
    flits = setting[at.S_UNITS] * setting[at.S_UNIT_FLITS]
    by_terminal[source, at.DELIVERED] += 1
    by_terminal[source, at.BY_SOURCE] += latency
    by_terminal[target, at.EJECTED] += flits
    by_terminal[target, at.BY_TARGET] += latency
    by_terminal[target, at.RECEIVED] += 1
    by_terminal[target, at.FINISHED] = when
    totals[at.SUM_EJECTED_PACKETS] += 1
    _record(engine, LATENCY, latency)
    _record(engine, NETWORK, when - packets[u(packet)].entered)
    engine.hops[min(packets[u(packet)].hops, at.HOP_BINS - 1)] += 1
    if setting[at.S_MESSAGE_PACKETS] == 1:
        totals[at.DONE_MESSAGES] += 1
    else:
        _count_message(engine, packet, when)
    totals[at.IN_NETWORK] -= 1
    engine.free_packets[totals[at.FREE_PACKETS]] = packet
    totals[at.FREE_PACKETS] += 1


@inline
def _count_message(engine, packet, when):
    """Count a packet's arrival for its message, and the message itself if it is complete."""
    messages, totals, arrived = engine.messages, engine.totals, engine.arrived
    message = engine.packets[u(packet)].message
    size = engine.setting[at.S_MESSAGE_PACKETS]
    born = messages[u(message)].born
    messages[u(message)].arrived += 1
    if engine.setting[at.S_IN_ORDER] != 0:
        number = engine.packets[u(packet)].sequence
        arrived[message, number >> 6] |= np.uint64(1) << np.uint64(number & 63)
        expected = messages[u(message)].expected
        # all packets that waited for this one are delivered with it
        while expected < size and (
            arrived[message, expected >> 6] >> np.uint64(expected & 63)
        ) & np.uint64(1) != np.uint64(0):
            _record(engine, IN_ORDER, when - born)
            expected += 1
        messages[u(message)].expected = expected
    if messages[u(message)].arrived == size:
        _record(engine, MESSAGES, when - born)
        totals[at.DONE_MESSAGES] += 1
        for word in range(arrived.shape[1]):
            arrived[message, word] = np.uint64(0)
        engine.free_messages[totals[at.FREE_MESSAGES]] = message
        totals[at.FREE_MESSAGES] += 1
