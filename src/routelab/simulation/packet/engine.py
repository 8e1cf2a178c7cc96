"""The packet engine, which simulates a network, an algorithm and traffic cycle by cycle."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from routelab.api import HopProgram, InputError, Topology, UnsupportedError
from routelab.kernels.hops import HOP, INJECT
from routelab.simulation.packet.blockage import (
    Blockage,
    blockage_of_packet,
    blockage_of_queues,
)
from routelab.simulation.packet.counts import Counts, CycleCounts, Histogram
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import array_addresses
from routelab.simulation.packet.layout import build_arrays, class_rows, unsupported_reason
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OfferedTraffic, OpenLoop

_LATENCY, _NETWORK, _MESSAGES, _IN_ORDER = range(4)
"""Rows of the engine's `histograms`, as in `kernels.statistics`."""


class Simulation:
    """A network with packets.

    Equal arguments give equal results. Kernels release Python's lock, so several simulations may
    run in threads.

    Parameters
    ----------
    topology : Topology
    program : HopProgram
        The algorithm; `routelab.simulation.table_program` makes one from a route table.
    router : Router
    traffic : OfferedTraffic
    seed : int
        Seed of the traffic's draws and of those of routers and routing.

    Raises
    ------
    InputError
        If the traffic is of another number of terminals, or more than one message per cycle.
    UnsupportedError
        If these routers cannot run the program.
    """

    def __init__(
        self,
        topology: Topology,
        program: HopProgram,
        router: Router,
        traffic: OfferedTraffic,
        seed: int = 0,
    ) -> None:
        self.topology, self.program, self.router = topology, program, router
        self.traffic, self.seed = traffic, seed
        if traffic.terminals != topology.num_terminals:
            raise InputError(
                f"simulation: traffic of {traffic.terminals} terminals on a network with "
                f"{topology.num_terminals}"
            )
        if isinstance(traffic, OpenLoop):
            # The engine draws once a cycle whether a terminal generates a message, which has this
            # many flits.
            message_flits = router.packet_flits * traffic.message_packets
            if traffic.load * traffic.demand.rate.max(initial=0.0) > message_flits:
                raise InputError(
                    f"simulation: at load {traffic.load}, a terminal offers more than one message "
                    "per cycle"
                )
        reason = unsupported_reason(program, router)
        if reason is not None:
            raise UnsupportedError(reason)
        self._engine, self._ports = build_arrays(topology, program, router, traffic, seed)
        self._addresses = array_addresses(self._engine)
        self.now = 0
        self.examined = 0  # queues examined, in all cycles
        self.cpu_seconds = 0.0
        # at the last reset, and at the end of the last sample
        self._reset_at = 0
        self._generated_before = np.zeros(topology.num_terminals, np.int64)
        self._totals_before = self._totals()
        self._hop, self._inject, self._run_cycles, self._count_generated = _load_kernels(program)
        self._schedule_first_messages()

    @property
    def virtual_channels_used(self) -> int:
        """Number of virtual channels that packets may use; the others of the routers are idle."""
        return int(class_rows(self.program, self.router.vcs)[:, at.VC_COUNT].sum())

    def _schedule_first_messages(self) -> None:
        """Schedule every terminal's first message in the wheel of terminals (`sources`)."""
        from routelab.simulation.packet.kernels.injection import first_messages

        engine, traffic = self._engine, self.traffic
        if isinstance(traffic, OpenLoop):
            first_messages(self._addresses, traffic.load * traffic.demand.rate > 0)
        for terminal in np.flatnonzero(engine.terminals["due"] >= 0):
            due = int(engine.terminals["due"][terminal])
            # A terminal whose message is due later is examined in the last row, and then again.
            row = min(due, len(engine.sources) - 1)
            engine.sources[row, terminal >> 6] |= np.uint64(1) << np.uint64(terminal & 63)

    @property
    def finished(self) -> bool:
        """Whether every message of a closed loop has arrived; never in open loop."""
        if isinstance(self.traffic, OpenLoop):
            return False
        return int(self._engine.totals[at.DONE_MESSAGES]) == len(self.traffic.messages.target)

    def run(self, cycles: int) -> CycleCounts:
        """Run some cycles and return their counts."""
        begin = time.thread_time()
        self.examined += self._run_cycles(
            self._addresses, self._hop, self._inject, self.now, self.now + cycles
        )
        self.now += cycles
        packets_waiting = int(self._count_generated(self._addresses, self.now))
        totals_before, self._totals_before = self._totals_before, self._totals()
        counts = {name: self._totals_before[name] - totals_before[name] for name in totals_before}
        self.cpu_seconds += time.thread_time() - begin
        return CycleCounts(
            cycles=cycles,
            packets_in_network=int(self._engine.totals[at.IN_NETWORK]),
            packets_waiting=packets_waiting,
            **counts,
        )

    def _totals(self) -> dict[str, int]:
        """Return the totals since the last reset; their differences are the counts of a sample."""
        totals, flits = self._engine.totals, self.router.packet_flits
        by_terminal = self._engine.by_terminal
        return {
            "generated_flits": int(by_terminal[:, at.GENERATED].sum()),
            "injected_flits": int(by_terminal[:, at.INJECTED].sum()),
            "ejected_flits": int(totals[at.SUM_EJECTED_PACKETS]) * flits,
            "ejected_packets": int(totals[at.SUM_EJECTED_PACKETS]),
            "latency_sum": int(totals[at.SUM_LATENCY]),
            "network_latency_sum": int(totals[at.SUM_NETWORK]),
            "flit_hops": int(self._engine.units_received.sum()) * self.router.unit_flits,
        }

    def reset(self) -> None:
        """Reset the counts; the packets stay."""
        engine = self._engine
        # Generated flits are not reset: `count_generated` computes them from the beginning.
        self._generated_before = engine.by_terminal[:, at.GENERATED].copy()
        for column in range(engine.by_terminal.shape[1]):
            if column not in (at.GENERATED, at.LAST_ARRIVAL):
                engine.by_terminal[:, column] = 0
        engine.by_terminal[:, at.LAST_ARRIVAL] = -1
        engine.totals[: at.IN_NETWORK] = 0
        engine.histograms[:] = 0
        engine.hops[:] = 0
        engine.units_received[:] = 0
        self._reset_at = self.now
        self._totals_before = self._totals()

    def counts(self) -> Counts:
        """Return the counts since the last reset."""
        engine, totals = self._engine, self._engine.totals
        by_terminal = engine.by_terminal.copy()
        # channels by virtual channels; injections are left out
        units = engine.units_received.reshape(-1, self.router.vcs)[self._ports.of_channel]
        vc_flits = units.astype(np.int64) * self.router.unit_flits
        # Messages of one packet are counted as packets only: their latencies are the same.
        is_whole = self.traffic.message_packets == 1
        is_in_order = is_whole and self.traffic.in_order
        latency = self.latencies()
        return Counts(
            cycles=self.now - self._reset_at,
            latency=latency,
            network_latency=self._histogram(_NETWORK),
            message_latency=latency if is_whole else self._histogram(_MESSAGES),
            in_order_latency=latency if is_in_order else self._histogram(_IN_ORDER),
            hops=np.trim_zeros(engine.hops, "b").copy(),
            escape_hops=int(totals[at.ESCAPE_HOPS]),
            packet_hops=int(units.sum()) // self.router.units_per_packet,
            generated=by_terminal[:, at.GENERATED] - self._generated_before,
            injected=by_terminal[:, at.INJECTED],
            ejected=by_terminal[:, at.EJECTED],
            delivered=by_terminal[:, at.DELIVERED],
            latency_by_source=by_terminal[:, at.LATENCY_BY_SOURCE],
            latency_by_target=by_terminal[:, at.LATENCY_BY_TARGET],
            received=by_terminal[:, at.RECEIVED],
            finished_at=by_terminal[:, at.LAST_ARRIVAL],
            channel_flits=vc_flits.sum(axis=1),
            vc_flits=vc_flits,
        )

    def latencies(self) -> Histogram:
        """Return the latencies of `counts`, in a tenth of the time."""
        return self._histogram(_LATENCY)

    def _histogram(self, kind: int) -> Histogram:
        """Return a latency histogram of the engine; `kind` is its row, such as `_NETWORK`."""
        bins = self._engine.histograms[kind].copy()
        return Histogram(
            bins=bins,
            total=int(bins.sum()),
            sum=int(self._engine.totals[at.SUM_LATENCY + kind]),
            maximum=int(self._engine.totals[at.MAX_LATENCY + kind]),
        )

    def blocked(self) -> Blockage | None:
        """Return why packets can never move again, move without end or have no route; else None."""
        from routelab.simulation.packet.kernels.checks import stuck_queues

        engine, topology = self._engine, self.topology
        failed_packet = int(engine.totals[at.FAILED_PACKET])
        if failed_packet:
            return blockage_of_packet(
                engine, topology, failed_packet, self.program.max_hops, self.now
            )
        stuck = stuck_queues(self._addresses, self.now)
        if not stuck.any():
            return None
        vcs, candidates = self.router.vcs, self.program.candidates
        return blockage_of_queues(engine, topology, stuck, vcs, candidates, self.now)


def _load_kernels(program: HopProgram) -> tuple[Any, Any, Any, Any]:
    """Return hop, inject, `run_cycles` and `count_generated`, ready to be called.

    Numba loads or compiles `run_cycles` when its module is imported for the first time, and
    `count_generated` at its first call.
    """
    from routelab.simulation.packet.kernels.cycle import inject_nothing, run_cycles
    from routelab.simulation.packet.kernels.injection import count_generated

    inject = program.inject or inject_nothing
    _remember_address(program.hop, HOP)
    _remember_address(inject, INJECT)
    # `run_cycles` has one signature. Its entry point is called directly, so that numba does not
    # inspect the arguments at every call.
    (run,) = run_cycles.overloads.values()
    return program.hop, inject, run.entry_point, count_generated


def _remember_address(function: Any, signature: Any) -> None:
    """Let numba look up the address of a compiled function once. Updates the function.

    Otherwise numba looks it up at every call with the function as an argument, although it never
    changes; that costs as much as a hundred hops. `signature` is the only one of the function.
    """
    if "get_compile_result" in vars(function):  # done by an earlier simulation
        return
    result = function.get_compile_result(signature)
    result.library.get_pointer_to_function = cache(result.library.get_pointer_to_function)
    function.get_compile_result = lambda _: result
