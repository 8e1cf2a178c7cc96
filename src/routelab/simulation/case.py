"""Build the case that an engine runs from the names of its parts."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from routelab._runtime.progress import report_phase
from routelab.api import (
    EngineCase,
    EnginePlugin,
    HopProgram,
    InputError,
    Parameters,
    Plugin,
    Proof,
    RouteTable,
    Topology,
    UnsupportedError,
)
from routelab.api.engine import NoStore, Store
from routelab.api.hops import program_digest
from routelab.deadlock import check_table
from routelab.deadlock.hop_checker import check_hop_routing
from routelab.deadlock.verdict import Switching
from routelab.registry.instances import Routing, load, load_routing
from routelab.registry.requirements import collect_errors, require_support
from routelab.routing.apply import apply_routing
from routelab.routing.routes_file import load_routes
from routelab.routing.topology import load_network
from routelab.simulation.packet.tables import table_program
from routelab.simulation.programs import part_of
from routelab.simulation.proofs import Proofs
from routelab.toolkit.input_files import is_regular

NO_NAME = "the table"
"""Name of a table that was read from a file."""


def look_up(
    topology: str | Topology,
    routings: Sequence[str | Plugin],
    work: str,
    engine: type[EnginePlugin],
    settings: Callable[[], Parameters] | None = None,
) -> tuple[str, Topology, dict[str, Routing | RouteTable], Any, EnginePlugin]:
    """Look up network, routings, work and engine by their names.

    Parameters
    ----------
    topology : str or Topology
        As for `routelab.routing.topology.load_network`.
    routings : sequence of str or Plugin
        Instance names, algorithms, or files ``routes.npz`` of this network.
    work : str
        Instance name of traffic or of a workload; or the file of an MPI program, if `engine` runs
        such files.
    engine : class
    settings : function, optional
        Returns the parameters of the engine (default: its default parameters).

    Returns
    -------
    name : str
        Canonical name of the network.
    network : Topology
    algorithms : dict of str to Routing or RouteTable
        By canonical name, or by the table's file.
    work : TrafficPlugin, WorkloadPlugin or path
    engine : EnginePlugin

    Raises
    ------
    InputError
        If something is missing or invalid, or a routing is named twice; the message lists all
        problems.
    """

    def make() -> EnginePlugin:
        instance = engine(settings() if settings else None)
        instance.check()
        return instance

    instance, algorithms, (name, network), loaded_work = collect_errors(
        make,
        lambda: _distinct_routings(routings),
        lambda: load_network(topology),
        lambda: Path(work) if is_executable(work, engine) else load(engine.work, work),
    )
    by_name = {text: chosen or load_routes(text, network) for text, chosen in algorithms.items()}
    return name, network, by_name, loaded_work, instance


def _distinct_routings(texts: Sequence[str | Plugin]) -> dict[str, Routing | None]:
    """Look up routings by their names; None stands for the file of a table."""
    routings = collect_errors(*(partial(routing_of, text) for text in texts))
    names = [
        routing.name if routing else str(text)
        for routing, text in zip(routings, texts, strict=True)
    ]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"these routings are listed twice: {', '.join(twice)}; list each once")
    return dict(zip(names, routings, strict=True))


def is_executable(work: str, engine: type[EnginePlugin]) -> bool:
    """Whether `work` names the file of an MPI program that the engine runs."""
    return engine.executables and os.sep in work and is_regular(work)


def network_of(
    topology: str | Topology, routing: str
) -> tuple[str, Topology, Routing | RouteTable, str]:
    """Look up a network and a routing, or a table of the network, each with its name.

    Raises
    ------
    InputError
        If something is missing or invalid; the message lists all problems.
    """
    chosen, (name, network) = collect_errors(
        lambda: routing_of(routing), lambda: load_network(topology)
    )
    if chosen is None:
        return name, network, load_routes(routing, network), routing
    return name, network, chosen, chosen.name


def routing_of(routing: str | Plugin) -> Routing | None:
    """Return the routing; None for the file of a table."""
    is_table = isinstance(routing, str) and Path(routing).suffix == ".npz"
    return None if is_table else load_routing(routing)


def case_of(
    network: Topology,
    algorithm: Routing | RouteTable,
    work: Any,
    store: Store | None = None,
    proofs: Proofs | None = None,
    routes: tuple[RouteTable, float] | None = None,
) -> tuple[EngineCase, CaseRouting]:
    """Build a case and its routing, which measures the routing time.

    Parameters
    ----------
    network : Topology
    algorithm : Routing or RouteTable
        A table must belong to this network.
    work : TrafficPlugin, WorkloadPlugin or path
    store : Store, optional
        Store of finished parts.
    proofs : Proofs, optional
        Store of verdicts of the deadlock checker on hop-by-hop algorithms.
    routes : (RouteTable, float), optional
        The algorithm's table for this network, and the wall time in which it was computed; by
        default it is computed.
    """
    routing = CaseRouting(algorithm, routes)

    def judge(
        virtual_channels: int, *, switching: Switching, packets_per_buffer: int
    ) -> Mapping[str, str]:
        """Return the verdict on the routing under a router's settings, as columns.

        Raises UnsupportedError if the checker finds an obstacle on the routes.
        """
        report_phase(routing.name, "proof")
        options = (virtual_channels, switching, packets_per_buffer)
        if not routing.hop_by_hop:
            return _verdict_of_table(routing.table(network), switching, packets_per_buffer)
        if proofs is None:
            facts = _verdict_of_hops(routing, network, options)
        else:
            assert isinstance(algorithm, Routing)
            digest = program_digest(routing.prepare(network, virtual_channels))
            facts = proofs.find_or_make(
                algorithm,
                (*options, digest),
                lambda: _verdict_of_hops(routing, network, options),
            )
        require_support(routing.name, facts.pop("obstacle") or None)
        return facts

    case = EngineCase(network, routing, work, judge, store or NoStore(), report_phase)
    return case, routing


class CaseRouting:
    """A routing as engines see it; it computes its table once.

    Parameters
    ----------
    algorithm : Routing or RouteTable
    routes : (RouteTable, float), optional
        See `case_of`.

    Attributes
    ----------
    seconds : float or None
        Wall time to compute the table or the program; 0 for a table that was read; None before the
        first of them was computed.
    """

    def __init__(
        self, algorithm: Routing | RouteTable, routes: tuple[RouteTable, float] | None = None
    ) -> None:
        if isinstance(algorithm, RouteTable):
            routes = algorithm, 0.0
        self._algorithm = algorithm
        self._part = part_of(algorithm) if isinstance(algorithm, Routing) else None
        self._table = routes[0] if routes else None
        self._programs: dict[tuple[Topology, int], HopProgram] = {}
        self.seconds = routes[1] if routes else None

    @property
    def name(self) -> str:
        """Canonical name."""
        return self._part.name if self._part else NO_NAME

    @property
    def hop_by_hop(self) -> bool:
        """Whether the routing decides hop by hop and has no table."""
        return self._part is not None and self._part.hop_by_hop

    @property
    def proof(self) -> Proof:
        """Kind of the proof that the routing is free of deadlock."""
        return self._part.proof if self._part else "bubble"

    @property
    def known_tables(self) -> tuple[RouteTable, ...]:
        """Return the table; nothing before it was computed, or if the routing has none."""
        return () if self._table is None else (self._table,)

    def supports(self, topology: Topology, virtual_channels: int) -> str | None:
        """Return why the routing does not apply; None if it does."""
        if self._part is None:
            return None if self._owns(topology) else self._wrong_network()
        return self._part.supports(topology, virtual_channels)

    def prepare(self, topology: Topology, virtual_channels: int) -> HopProgram:
        """Return the program of the routing: what is proven is what runs.

        Raises
        ------
        UnsupportedError
            If the routing does not apply.
        """
        if not self.hop_by_hop:
            return table_program(self.table(topology))
        assert self._part is not None
        key = topology, virtual_channels
        if key not in self._programs:
            report_phase(self.name, "routing")
            began = time.perf_counter()
            self._programs[key] = self._part.prepare(topology, virtual_channels)
            self.seconds = time.perf_counter() - began
        return self._programs[key]

    def table(self, topology: Topology) -> RouteTable:
        """Return the route table.

        Raises
        ------
        UnsupportedError
            If the routing does not apply, or decides hop by hop.
        """
        if self._table is not None and self._table.topology is topology:
            return self._table
        if isinstance(self._algorithm, RouteTable):
            raise UnsupportedError(self._wrong_network())
        routed = apply_routing(topology, self._algorithm)
        self._table, self.seconds = routed.table, routed.seconds
        return routed.table

    def _owns(self, topology: Topology) -> bool:
        return isinstance(self._algorithm, RouteTable) and self._algorithm.topology is topology

    def _wrong_network(self) -> str:
        return f"{self.name}: its routes are for its own network only"


def _verdict_of_table(
    table: RouteTable, switching: Switching, packets_per_buffer: int
) -> dict[str, str]:
    """Return the deadlock checker's verdict on a table, as columns."""
    verdict = check_table(table, packets_per_buffer=packets_per_buffer, switching=switching)
    return {
        "deadlock": verdict.status,
        "deadlock_proof": "bubble" if verdict.flow_control == "bubble" else "acyclic",
        "deadlock_reason": verdict.reason,
        "deadlock_coverage": "",
        "deadlock_cycle": "\n".join(verdict.describe_cycle(table.topology)),
    }


def _verdict_of_hops(
    routing: CaseRouting, topology: Topology, options: tuple[int, Switching, int]
) -> dict[str, str]:
    """Return the checker's verdict on a hop-by-hop algorithm as columns, with ``obstacle``."""
    virtual_channels, switching, packets = options
    verdict = check_hop_routing(
        routing,
        topology,
        virtual_channels,
        switching=switching,
        packets_per_buffer=packets,
        # the next packet may follow as soon as a tail has crossed the channel
        shared_buffers=True,
    )
    return {
        "obstacle": verdict.allowed_routes.obstacle if verdict.allowed_routes is not None else "",
        "deadlock": verdict.status,
        "deadlock_proof": verdict.proof,
        "deadlock_reason": verdict.reason,
        "deadlock_coverage": verdict.coverage,
        "deadlock_cycle": "\n".join(verdict.describe_cycle()),
    }
