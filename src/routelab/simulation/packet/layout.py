"""Arrays of the engine for a network, an algorithm and traffic.

port      a channel, or a terminal's injection, at the switch that it enters; ports of a switch
          are consecutive
queue     a virtual channel of a port, with a buffer: port * V + virtual channel
output    the same channel at its sender, with the number of the port; ejections follow
class     consecutive virtual channels of a channel, which a candidate names: any may be taken
unit      what moves as a whole: a packet under virtual cut-through, a flit under wormhole switching
wheel     rows of bits by cycle: row ``cycle mod rows`` has the queues, ports or terminals that are
          to be examined in a cycle
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from routelab.api import (
    HopProgram,
    InputError,
    Ranking,
    Topology,
    class_lanes,
    needed_classes,
    run_tables,
)
from routelab.api.topology import Float64Array, Int64Array
from routelab.kernels import hops
from routelab.kernels.table_hops import follow
from routelab.routing.table_program import require_network
from routelab.simulation.packet.counts import BINS
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import Engine
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import ClosedLoop, OfferedTraffic
from routelab.toolkit.rings import complete_rings

Array = NDArray[Any]

MOST_CYCLES = 10_000
"""Largest delay of a channel: more would make the wheels of events very large."""

SPARE = 64
"""Additional rows for candidates, so that an excess of candidates is detected."""

_NEAR_QUEUES = 4096
"""Number of queues up to which the caches near a processor hold most data of cycles."""

_ROUTER_STREAM, _SOURCE_STREAM, _TIE_STREAM = range(3)
"""Random streams of a seed: of routers and routing, of terminals, of ties (`tie_word`)."""

SOURCE_WHEEL = 1024
"""Cycles that terminals are scheduled ahead; those due later are also examined in between."""


class Ports:
    """Numbers of the ports: switch after switch, its incoming channels, then its injections.

    Attributes
    ----------
    start : int64 array, shape (S + 1,)
        Switch s has the ports ``start[s]`` to ``start[s + 1] - 1``.
    of_channel : int64 array, shape (C,)
        Port that each channel enters.
    of_terminal : int64 array, shape (T,)
        Port of each terminal's injection.
    """

    def __init__(self, topology: Topology) -> None:
        # The switch of each channel, then of each terminal. The sort by switch is stable, so at
        # each switch the channels still come first.
        switch = np.concatenate((topology.channel_target, topology.terminal_switch))
        order = np.argsort(switch, kind="stable")
        # The port of a channel or terminal is its position in this order.
        port = np.empty(len(order), dtype=np.int64)
        port[order] = np.arange(len(order))
        self.of_channel: Int64Array = port[: topology.num_channels]
        self.of_terminal: Int64Array = port[topology.num_channels :]
        self.start: Int64Array = np.concatenate(
            ([0], np.cumsum(np.bincount(switch, minlength=topology.num_switches)))
        ).astype(np.int64)

    @property
    def count(self) -> int:
        """Number of all ports."""
        return int(self.start[-1])


def class_rows(program: HopProgram, vcs: int) -> NDArray[np.int32]:
    """Return which virtual channels each class has, in routers with `vcs` virtual channels.

    Returns
    -------
    int32 array, shape (classes of all phases, 3)
        First virtual channel, number of virtual channels, and 1 if under bubble flow control
        (columns FIRST_VC, VC_COUNT, UNDER_BUBBLE).
    """
    bubble = np.isin(np.arange(needed_classes(program)), program.bubble)
    return np.column_stack((class_lanes(program, vcs), bubble)).astype(np.int32)


def unsupported_reason(program: HopProgram, router: Router) -> str | None:
    """Return why these routers cannot run a program; None if they can."""
    classes = needed_classes(program)
    if classes > router.vcs:
        return (
            f"it needs {classes} virtual channels, but the routers have {router.vcs}; raise vcs to "
            f"{classes}"
        )
    if not program.bubble:
        return None
    # A packet that enters a ring needs room for two packets, and leaves one of them empty.
    if router.switching != "virtual-cut-through":
        return "bubble flow control needs virtual cut-through; the switching is wormhole"
    if router.capacity < 2:
        return (
            "bubble flow control needs buffers of two packets: raise buffer_flits to "
            f"{2 * router.packet_flits}"
        )
    if router.fifo_units == 1:  # 0: no output queues
        return (
            "bubble flow control needs output queues of two packets: raise output_buffer_flits to "
            f"{2 * router.packet_flits}, or set it to 0"
        )
    return None


def build_arrays(
    topology: Topology,
    program: HopProgram,
    router: Router,
    traffic: OfferedTraffic,
    seed: int,
) -> tuple[Engine, Ports]:
    """Build the arrays of a simulation before its first cycle: an empty network, nothing scheduled.

    Raises
    ------
    InputError
        If the program or the buffers are too large.
    """
    # 1. Ports, and the length of the wheels.
    ports = Ports(topology)
    num_queues = ports.count * router.vcs
    _require_addressable(topology, program, router, num_queues)
    inputs, outputs = _port_rows(topology, router, ports)
    wheel_rows = _count_wheel_rows(inputs, outputs, router)
    queue_words, terminal_words = _num_words(num_queues), _num_words(topology.num_terminals)
    # 2. Queues. The classes have consecutive virtual channels, from 0 on; those that no class has
    #    are in class −1. `room` is the memory of `run_tables` with names for its columns, so
    #    routing functions see every change of it.
    vc_classes = class_rows(program, router.vcs)
    class_sizes = vc_classes[:, at.VC_COUNT]
    class_of = np.full(router.vcs, -1, np.int32)
    class_of[: class_sizes.sum()] = np.repeat(np.arange(len(vc_classes)), class_sizes)
    queue_rows = _rows(num_queues, at.QUEUE)
    queue_rows["port"] = np.repeat(np.arange(ports.count), router.vcs)
    queue_extra = np.zeros(num_queues, at.QUEUE_EXTRA)
    queue_extra["next_waiter"] = -1  # none
    run_arrays = run_tables(
        program,
        topology,
        router.vcs,
        capacity=router.capacity,
        unit_flits=router.unit_flits,
        packet_flits=router.packet_flits,
        first_row=ports.of_channel * router.vcs,
        buffers=num_queues,
        unit_cycles=outputs["unit_cycles"][ports.of_channel],
    )
    # the kernels are compiled for a read-only array
    run_arrays.tables.setflags(write=False)
    room = run_arrays.queues.view(at.ROOM).reshape(-1)
    fifos = _fifo_arrays(router, ports, room, wheel_rows)
    # 3. Packets: at most as many as buffers and FIFOs hold units, and one that each terminal is
    #    injecting. Each may be of another message; messages of one packet need no rows.
    num_terminals = topology.num_terminals
    max_packets = num_queues * (router.capacity + router.fifo_units) + num_terminals
    max_messages = max_packets if traffic.message_packets > 1 else 1
    packets = _rows(max_packets, at.PACKET)
    # 4. All arrays (`Engine` describes them). Arrays that these settings do not need have one row,
    #    because kernels expect all of them.
    i32, i64, u64 = np.int32, np.int64, np.uint64
    max_candidates = program.candidates
    engine = Engine(
        setting=_settings(program, router, traffic, wheel_rows, ports, seed),
        classes=vc_classes,
        tables=run_arrays.tables,
        reals=np.array(program.reals),
        queues=queue_rows,
        senders=_sender_rows(topology, router, ports),
        room=room,
        visible_queues=run_arrays.queues,
        queue_extra=queue_extra,
        inputs=inputs,
        outputs=outputs,
        slots=_rows(num_queues * router.capacity, at.SLOT),
        units_received=np.zeros(num_queues, i32),
        awaited_channel=np.zeros(num_queues if program.waiting else 1, i32),
        first_tried=np.zeros(num_queues if program.again else 1, i32),
        class_of=class_of,
        candidates=np.zeros(num_queues * max_candidates if max_candidates > 1 else 1, at.CANDIDATE),
        packets=packets,
        states=packets.view(i32).reshape(-1, hops.PACKET_COLUMNS),
        free_packets=np.zeros(max_packets, i32),
        terminals=_terminal_rows(topology, ports, traffic),
        messages=np.zeros(max_messages, at.MESSAGE),
        free_messages=np.zeros(max_messages, i32),
        arrived=np.zeros((max_messages, _num_words(traffic.message_packets)), u64),
        switch_ports=ports.start.astype(i32),
        port_of_channel=ports.of_channel.astype(i32),
        scheduled=np.zeros((wheel_rows, queue_words), u64),
        credits=np.zeros((wheel_rows, queue_words), u64),
        sources=np.zeros((SOURCE_WHEEL, terminal_words), u64),
        stalled=np.zeros(queue_words, u64),
        num_stalled=np.zeros(topology.num_switches, i32),
        watched_bits=np.zeros(topology.num_switches, u64),
        active=_rows(num_queues + 1, at.ACTIVE_QUEUE),  # and a row that may be overwritten
        proposals=_rows(ports.count, at.PROPOSAL),
        hop_out=np.zeros((max_candidates + SPARE, 3), i32),
        random=_streams(seed, 1, _ROUTER_STREAM)[:, :1].copy(),
        source_random=_streams(seed, num_terminals, _SOURCE_STREAM),
        counted=np.zeros((num_terminals, 2), i32),
        entry_cycles=np.zeros((num_terminals, max(router.injection_queue, 1)), i32),
        by_terminal=np.zeros((num_terminals, 8), i64),
        totals=np.zeros(at.TOTALS, i64),
        histograms=np.zeros((4, BINS), i64),
        hops=np.zeros(at.HOP_BINS, i64),
        watches=_rows(num_queues, at.WATCH),
        **fifos,
        **_sources(traffic, router),
    )
    engine.by_terminal[:, at.LAST_ARRIVAL] = -1  # none yet
    return engine, ports


def _require_addressable(
    topology: Topology, program: HopProgram, router: Router, num_queues: int
) -> None:
    """Raise InputError if the engine's integers are too small, or a table is of another network."""
    if program.candidates > at.MAX_CANDIDATES:
        raise InputError(
            f"the routing gives up to {program.candidates} candidates, the engine's limit is "
            f"{at.MAX_CANDIDATES}"
        )
    if program.hop is follow:  # the program of a route table
        require_network(program, topology)
    units = max(router.capacity, router.fifo_units)
    # the index of a unit among all slots of buffers, or of FIFOs, has 32 bits
    if num_queues * units >= 2**31:
        name = "buffer_flits" if router.capacity >= router.fifo_units else "output_buffer_flits"
        raise InputError(
            f"{num_queues} buffers of {units} units are more than the engine can address; lower "
            f"{name}"
        )


def _fifo_arrays(router: Router, ports: Ports, room: Array, wheel_rows: int) -> dict[str, Array]:
    """Return the arrays of output FIFOs. Updates `room`: adds their room to that of the buffers.

    A FIFO has the number of the queue behind it. Injections have no FIFO. Without FIFOs at all,
    `space` is `room`: a unit that crosses the switch goes to the buffer.
    """
    fifo_units, num_queues = router.fifo_units, ports.count * router.vcs
    space = room[:num_queues]
    if fifo_units:
        # the queues of channels; row c has those of channel c
        queues = ports.of_channel[:, None] * router.vcs + np.arange(router.vcs)
        space = _rows(num_queues, at.ROOM)
        space["capacity"][queues] = space["credits"][queues] = fifo_units
        room["capacity"][queues] += fifo_units
        room["credits"][queues] += fifo_units
    fifos = _rows(num_queues if fifo_units else 1, at.FIFO)
    fifos["credits"] = router.capacity  # of the buffer behind the channel, which is empty
    links = np.zeros(ports.count if fifo_units else 1, at.LINK)
    links["sending_queue"] = -1  # none
    departures_shape = (wheel_rows, _num_words(ports.count)) if fifo_units else (1, 1)
    return {
        "space": space,
        "fifos": fifos,
        "fifo_slots": np.zeros(max(num_queues * fifo_units, 1), np.int32),
        "links": links,
        "departures": np.zeros(departures_shape, np.uint64),
    }


def _num_words(num_bits: int) -> int:
    """Return the number of 64-bit words that have so many bits."""
    return (num_bits + 63) // 64


def _rows(count: int, row_type: np.dtype[Any]) -> Array:
    """Return rows of zeros, the first at the beginning of a cache line."""
    line_bytes = 64
    memory = np.zeros(count * row_type.itemsize + line_bytes, np.uint8)
    offset = -memory.ctypes.data % line_bytes
    return memory[offset : offset + count * row_type.itemsize].view(row_type)


def _streams(seed: int, count: int, purpose: int) -> Array:
    """Return the states of `count` random streams, as uint64 (count, 2).

    `purpose`, such as `_SOURCE_STREAM`, makes them different from those of other purposes.
    Both columns are equal, because a terminal has two streams with the same words: one to inject
    messages, and one to count generated messages ahead of that (`kernels.injection`).
    """
    sequence = np.random.SeedSequence([seed, purpose])
    states = sequence.generate_state(max(count, 1), np.uint64)[:count]
    return np.repeat(states[:, None], 2, axis=1)


def _cycles_per_flit(topology: Topology) -> Float64Array:
    """Return the cycles that a flit takes on each channel; the fastest take one."""
    capacity = topology.channel_capacity
    flit_cycles: Float64Array = capacity.max(initial=0.0) / capacity if len(capacity) else capacity
    if flit_cycles.max(initial=1.0) > MOST_CYCLES:
        channel = int(flit_cycles.argmax())
        raise InputError(
            f"channel {topology.channel_name(channel)} is {flit_cycles.max():.3g} times slower "
            f"than the fastest; the engine's limit is {MOST_CYCLES}"
        )
    return flit_cycles


def _port_rows(topology: Topology, router: Router, ports: Ports) -> tuple[Array, Array]:
    """Return the rows of inputs (all ports) and of outputs (all ports, then ejections)."""
    unit_flits, terminals = router.unit_flits, topology.num_terminals
    outputs = _rows(ports.count + terminals, at.OUTPUT)
    flit_cycles = _cycles_per_flit(topology)
    # 1. Outputs to channels. With FIFOs, units cross the switch while the FIFOs have room, whether
    #    the channel is busy or not.
    link_delay = _link_delays(topology, router)
    channel_rows = outputs[ports.of_channel]
    # The next switch may send a unit, one flit per cycle, when its head is there. On a slower
    # channel its tail comes later: with 4 flits of 2 cycles, 3 cycles later than at one flit per
    # cycle. The head is delayed by these cycles, so that the switch never sends flits that have yet
    # to come. Quotients of capacities are rounded, so 1e-9 keeps whole numbers of cycles.
    tail_lag = np.ceil((unit_flits - 1) * (flit_cycles - 1) - 1e-9)
    channel_rows["delay"] = link_delay + router.router_delay + tail_lag
    channel_rows["unit_cycles"] = np.ceil(unit_flits * flit_cycles - 1e-9)
    channel_rows["slack"] = at.UNLIMITED_SLACK if router.output_buffer_flits else 0
    channel_rows["crossing_cycles"] = _crossing_cycles(router, flit_cycles)
    outputs[ports.of_channel] = channel_rows
    # 2. Injections, then ejections. The output queue of an ejection has no FIFO: it is counted in
    #    cycles of work, one per flit. A unit needs room for all its flits, and the flit that leaves
    #    in this cycle makes room: with a queue of 8 flits and units of 4, the slack is 5 cycles.
    slack = max(router.output_buffer_flits - unit_flits + 1, 0) if router.output_buffer_flits else 0
    outputs["delay"][ports.of_terminal] = router.injection_delay + router.router_delay
    outputs["unit_cycles"][ports.of_terminal] = unit_flits
    outputs["unit_cycles"][ports.count :] = unit_flits
    outputs["slack"][ports.count :] = slack
    outputs["crossing_cycles"][ports.count :] = _crossing_cycles(router, np.ones(terminals))
    # 3. Inputs.
    inputs = _rows(ports.count, at.INPUT)
    inputs["first_queue"] = np.arange(ports.count) * router.vcs
    inputs["switch"][ports.of_channel] = topology.channel_target
    inputs["switch"][ports.of_terminal] = topology.terminal_switch
    inputs["channel"][ports.of_channel] = np.arange(topology.num_channels)
    inputs["channel"][ports.of_terminal] = -1 - np.arange(terminals)
    inputs["upstream_switch"][ports.of_channel] = topology.channel_source
    inputs["upstream_switch"][ports.of_terminal] = -1
    # `credit_delay` is for channels with `link_delay`. A credit returns over a channel of the same
    # length as the one that the unit came over, so a longer one adds its excess.
    inputs["credit_delay"] = router.credit_delay
    inputs["credit_delay"][ports.of_channel] += np.maximum(link_delay - router.link_delay, 0)
    inputs["ring_next"] = -1  # no ring
    for ring in complete_rings(topology):
        inputs["ring_next"][ports.of_channel[ring]] = ports.of_channel[np.roll(ring, -1)]
    return inputs, outputs


def _link_delays(topology: Topology, router: Router) -> NDArray[np.int32]:
    """Return the cycles that a flit takes over each channel; int32, shape (C,).

    If the channel has a latency and `cycle_seconds` is set, this is the latency in cycles, at least
    1; otherwise `link_delay`.
    """
    delay = np.full(topology.num_channels, router.link_delay, np.int32)
    if router.cycle_seconds > 0:
        # 1e-9: a quotient that should be 3 may be 3 + 4e-16, which is no fourth cycle
        cycles = np.ceil(topology.channel_latency / router.cycle_seconds - 1e-9)
        has_latency = topology.channel_latency > 0
        if cycles.max(initial=0.0) > MOST_CYCLES:
            raise InputError(
                f"a latency of {topology.channel_latency.max():g} s is {cycles.max():.3g} cycles; "
                f"the engine's limit is {MOST_CYCLES}: raise cycle_seconds"
            )
        delay[has_latency] = np.maximum(cycles, 1)[has_latency]
    return delay


def _crossing_cycles(router: Router, flit_cycles: Float64Array) -> Int64Array:
    """Return the cycles for which a unit that goes to each output channel occupies its input port.

    `flit_cycles` are the cycles that a flit takes on each channel.
    """
    unit_flits = router.unit_flits
    if router.output_buffer_flits == 0:
        # Flits leave the port at the speed of the channel. The last one leaves it this many cycles
        # after the first, and takes a cycle itself.
        crossing = np.ceil((unit_flits - 1) * flit_cycles - 1e-9) + 1
    elif unit_flits < router.speedup:
        # `speedup` flits cross in a cycle, so further units may cross in the same cycle
        crossing = np.zeros(len(flit_cycles))
    else:
        crossing = np.full(len(flit_cycles), -(-unit_flits // router.speedup))  # rounded up
    cycles: Int64Array = crossing.astype(np.int64)
    return cycles


def _count_wheel_rows(inputs: Array, outputs: Array, router: Router) -> int:
    """Return the number of rows of the wheels: a power of two above every delay of an event.

    An event further ahead than the wheel has rows would happen a turn of the wheel too soon. With a
    power of two, ``cycle & (rows - 1)`` is the row of a cycle.
    """
    # An event that a unit causes at an output is at most all four of these cycles ahead.
    longest = {
        name: int(outputs[name].max(initial=1))
        for name in ("delay", "unit_cycles", "crossing_cycles")
    }
    slack = outputs["slack"]
    longest["slack"] = int(slack[slack < at.UNLIMITED_SLACK].max(initial=1))
    longest_credit = longest["crossing_cycles"] + int(inputs["credit_delay"].max(initial=1))
    needed = max(sum(longest.values()), longest_credit) + 8 + 2 * router.speedup
    return 1 << max(needed - 1, 1).bit_length()  # rounded up to a power of two


def _sender_rows(topology: Topology, router: Router, ports: Ports) -> Array:
    """Return who sends to each queue: the switch upstream, or −1 − terminal."""
    switch = np.empty(ports.count, np.int32)
    switch[ports.of_channel] = topology.channel_source
    switch[ports.of_terminal] = -1 - np.arange(topology.num_terminals)
    rows = _rows(ports.count * router.vcs, at.SENDER)
    rows["switch"] = np.repeat(switch, router.vcs)
    rows["first_waiter"] = -1
    return rows


def _terminal_rows(topology: Topology, ports: Ports, traffic: OfferedTraffic) -> Array:
    """Return the rows of terminals. In a closed loop their first messages are due in cycle 0.

    In open loop `first_messages` draws when they are due.
    """
    rows = _rows(topology.num_terminals, at.TERMINAL)
    rows["due"] = -1  # never
    rows["port"] = ports.of_terminal
    rows["switch"] = topology.terminal_switch
    if isinstance(traffic, ClosedLoop):
        rows["due"][np.diff(traffic.messages.start) > 0] = 0
    return rows


def _settings(
    program: HopProgram,
    router: Router,
    traffic: OfferedTraffic,
    wheel_rows: int,
    ports: Ports,
    seed: int,
) -> Array:
    """Return the numbers of a run that kernels read, at the indices ``at.S_...``."""
    setting = np.zeros(at.SETTINGS, np.int64)
    setting[at.S_WHEEL_MASK] = wheel_rows - 1
    setting[at.S_SOURCE_MASK] = SOURCE_WHEEL - 1
    setting[at.S_FIRST_EJECTION] = ports.count
    setting[at.S_PREFETCH] = ports.count * router.vcs > _NEAR_QUEUES
    setting[at.S_TIE_SEED] = _streams(seed, 1, _TIE_STREAM)[0, 0].view(np.int64)

    setting[at.S_VCS] = router.vcs
    setting[at.S_CAPACITY] = router.capacity
    setting[at.S_FIFO_UNITS] = router.fifo_units
    setting[at.S_UNITS_PER_PACKET] = router.units_per_packet
    setting[at.S_UNIT_FLITS] = router.unit_flits
    setting[at.S_SPEEDUP] = router.speedup
    setting[at.S_PRIORITY] = ("round-robin", "random", "age").index(router.priority)
    # until the last flit arrives at the terminal: it takes one flit per cycle
    setting[at.S_EJECT_DELAY] = router.ejection_delay + router.unit_flits - 1
    setting[at.S_QUEUE_LIMIT] = router.injection_queue

    setting[at.S_MESSAGE_PACKETS] = traffic.message_packets
    setting[at.S_IN_ORDER] = traffic.in_order
    setting[at.S_CLOSED_LOOP] = isinstance(traffic, ClosedLoop)
    # a closed loop lists its targets, so a terminal that is its own target is not drawn again
    setting[at.S_TO_SELF] = isinstance(traffic, ClosedLoop) or traffic.demand.to_self

    setting[at.S_PHASE_CLASSES] = program.vc_classes
    setting[at.S_PHASES] = program.phases
    setting[at.S_ONE_VC_CLASSES] = class_rows(program, router.vcs)[:, at.VC_COUNT].max() == 1
    setting[at.S_MAX_CANDIDATES] = program.candidates
    # 2**30 hops stand for no limit: no run has more cycles than that
    setting[at.S_MAX_HOPS] = 2**30 if program.max_hops is None else program.max_hops
    setting[at.S_BY_OCCUPANCY] = program.by_occupancy
    setting[at.S_RANKING] = get_args(Ranking).index(program.ranking)
    setting[at.S_FIXED_CANDIDATES] = program.fixed
    setting[at.S_REPEAT] = _repeat_mode(program, router)
    setting[at.S_KEEPS_STATE] = program.keeps_state
    # The program counts in times that a packet takes to cross a channel; of the fastest channels,
    # this time in cycles is its number of flits.
    setting[at.S_ESCAPE_WAIT] = min(program.escape_wait * router.packet_flits, at.MOST_ESCAPE_WAIT)
    setting[at.S_WAITING_ROW] = ports.count * router.vcs if program.waiting else -1
    # `RouteTable` has checked its paths, and only inject could still set a waypoint
    setting[at.S_TABLE_ROUTED] = program.hop is follow
    setting[at.S_CHECK_CANDIDATES] = program.hop is not follow or program.inject is not None
    return setting


def _repeat_mode(program: HopProgram, router: Router) -> int:
    """Return what the engine repeats while a packet waits: ``at.ROUTE_ONCE`` and so on."""
    # 1. Nothing, if the program does not ask for it (`again`). Nor if another call of hop would
    #    give the same candidates, and the ranking is "room": switch allocation chooses among those
    #    with room in every cycle anyway.
    if not program.again or (program.fixed and program.ranking == "room"):
        return at.ROUTE_ONCE
    # 2. The call of hop, if its candidates may differ from cycle to cycle; or if escapes join them
    #    after a wait (ranking "best-or-escape").
    if not program.fixed or program.ranking != "best":
        return at.ROUTE_EACH_CYCLE
    # 3. The choice of the best candidate. It is repeated only after changes if the queue of a
    #    candidate without room never grows: otherwise another candidate could become the best
    #    without an event that wakes the packet. Such a queue grows under wormhole switching (by
    #    body flits of the packet that holds it) and under bubble flow control (by packets along the
    #    ring, which need less room).
    full_queues_stay = router.units_per_packet == 1 and not program.bubble
    # Programs with `waiting` see which channels packets have chosen, so the engine must choose in
    # every cycle.
    if full_queues_stay and not program.waiting:
        return at.RANK_ON_CHANGE
    return at.RANK_EACH_CYCLE


def _sources(traffic: OfferedTraffic, router: Router) -> dict[str, Array]:
    """Return the arrays from which terminals draw their messages; in closed loop, list them.

    A closed loop needs no random draws: messages of terminal t go to the terminals
    ``members[part_start[t]:part_start[t + 1]]``.
    """
    if isinstance(traffic, ClosedLoop):
        messages = traffic.messages
        return {
            "gap_scale": np.zeros(traffic.terminals),
            "part_start": np.array(messages.start),
            "part_cumulative": np.zeros(1),
            "part_set": np.zeros(1, np.int32),
            "set_start": np.zeros(1, np.int64),
            "members": np.array(messages.target) if len(messages.target) else np.zeros(1, np.int32),
        }
    demand = traffic.demand
    # 1. The probability p of a message in a cycle. The gap between two messages is geometric, and
    #    `next_gap` draws it by 1 / log(1 − p). A scale of 0 is a message in every cycle (p = 1);
    #    terminals without messages (p = 0) never use theirs.
    probability = traffic.load * demand.rate / (router.packet_flits * traffic.message_packets)
    with np.errstate(divide="ignore"):
        gap_scale = np.where(probability < 1, 1 / np.log1p(-np.minimum(probability, 1)), 0.0)
    # 2. Cumulative shares of each terminal's parts: those over all parts, less what the terminals
    #    before add up to.
    cumulative = np.cumsum(demand.part_share)
    terminal = np.repeat(np.arange(len(demand.rate)), np.diff(demand.part_start))
    before = np.concatenate(([0.0], cumulative))[demand.part_start[terminal]]
    return {
        "gap_scale": np.where(probability > 0, gap_scale, 0.0),
        "part_start": np.array(demand.part_start),
        "part_cumulative": cumulative - before,
        "part_set": np.array(demand.part_set),
        "set_start": np.array(demand.set_start),
        "members": np.array(demand.members),
    }
