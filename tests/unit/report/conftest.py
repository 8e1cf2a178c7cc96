"""Results of studies that never ran, in the documented formats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from routelab.api import Direction, EnginePlugin, Topology
from routelab.report.rows.routes import RouteRecord
from routelab.report.rows.row_set import Record
from routelab.report.rows.simulations import SimulationRecord
from routelab.results.outcome import Outcome, write_outcome
from routelab.results.tables import write_csv
from routelab.routing.topology_file import save_topology
from routelab.simulation.flow.plugin import FlowEngine
from routelab.simulation.packet.plugin import PacketEngine
from routelab.study import Study, load_study
from routelab.workflow.parts.settings import settings_id

BETTER = {"max_load": "lower", "min_load": "higher", "sigma4": "lower"}


def grid(sizes: Sequence[int], ring: bool = True, without: Sequence[int] = ()) -> Topology:
    """A grid; dimensions of three and more are closed to rings; `without` some switches."""
    whole = list(product(*map(range, sizes)))
    kept = [cell for i, cell in enumerate(whole) if i not in without]
    index = {cell: i for i, cell in enumerate(kept)}
    channels = []
    for cell in kept:
        for direction in range(2 * len(sizes)):
            dimension, step = direction % len(sizes), 1 if direction < len(sizes) else -1
            at = cell[dimension] + step
            if ring and sizes[dimension] > 2:
                at %= sizes[dimension]
            other = (*cell[:dimension], at, *cell[dimension + 1 :])
            if other in index:
                channels.append((index[cell], index[other], direction))
    names = "XYZKLM"[: len(sizes)]
    return Topology.create(
        family="grid",
        num_switches=len(kept),
        channel_source=[channel[0] for channel in channels],
        channel_target=[channel[1] for channel in channels],
        channel_direction=[channel[2] for channel in channels],
        directions=[
            Direction(f"{'+' if sign > 0 else '-'}{name}", i, sign)
            for sign in (1, -1)
            for i, name in enumerate(names)
        ],
        coordinates=np.array(kept, dtype=int).reshape(len(kept), len(sizes)),
        attributes={"dims": list(sizes)},
    )


class World:
    """A results folder that runs are put into one by one."""

    def __init__(self, folder: Path) -> None:
        self.results = folder / "results"
        self.records: list[RouteRecord] = []
        self.simulated: list[SimulationRecord] = []
        self.flows: list[SimulationRecord] = []

    def add(
        self,
        routing: str,
        dims: str = "4",
        load: Sequence[float] | None = None,
        *,
        alias: str | None = None,
        status: str = "ok",
        reason: str = "because",
        facts: Mapping[str, Any] | None = None,
        metrics: Mapping[str, float] | None = None,
        topology_parameters: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> RouteRecord:
        """Write what a run of `routing` on the grid `dims` would, with these channel loads."""
        network = grid([int(size) for size in dims.split("x")])
        topology = f"torus~dims={dims}"
        record = RouteRecord(
            topology=topology,
            routing=alias or routing,
            topology_name=topology,
            routing_name=routing,
            directory=self.results / "routes" / topology / (alias or routing),
            metrics_directory=self.results / "metrics" / topology / (alias or routing),
            topology_directory=self.results / "topologies" / topology,
            topology_parameters={"dims": dims, **(topology_parameters or {})},
            routing_parameters=parameters,
        )
        self.records.append(record)
        self._write_topology(record, network)
        if status != "ok":
            outcome = Outcome("route", topology, record.routing, status, reason, {}, provenance())
            write_outcome(outcome, record.directory / "outcome.json")
            return record
        loads = np.full(network.num_channels, 1.0)
        if load is not None:
            loads[:] = np.resize(np.asarray(load, dtype=float), network.num_channels)
        known = {
            "terminals": network.num_terminals,
            "max_load": int(loads.max()),
            "min_load": int(loads.min()),
            "deadlock": "proven",
            "flow_control": "bubble",
            "virtual_channels": 1,
            **(facts or {}),
        }
        outcome = Outcome("route", topology, record.routing, "ok", "", known, provenance())
        write_outcome(outcome, record.directory / "outcome.json")
        measured = {"max_load": known["max_load"], **(metrics or {})}
        assert record.metrics_directory is not None
        outcome = Outcome("metrics", topology, record.routing, "ok", "", {}, provenance())
        write_outcome(outcome, record.metrics_directory / "outcome.json")
        write_csv(
            record.metrics_directory / "metrics.csv",
            ("metric", "value", "unit", "better"),
            [(name, value, "", BETTER.get(name, "")) for name, value in measured.items()],
        )
        write_csv(
            record.directory / "channels.csv",
            ("channel", "source", "target", "direction", "load"),
            [
                (
                    channel,
                    network.switch_names[network.channel_source[channel]],
                    network.switch_names[network.channel_target[channel]],
                    network.directions[network.channel_direction[channel]].name,
                    loads[channel],
                )
                for channel in range(network.num_channels)
            ],
        )
        return record

    def simulate(
        self,
        routing: str,
        dims: str = "4x2",
        curve: Sequence[Mapping[str, Any]] = ({"load": 0.1},),
        *,
        traffic: str = "uniform",
        status: str = "ok",
        facts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        **settings: Any,
    ) -> SimulationRecord:
        """Write what a simulation would: rows of its curve, lines of its other tables."""
        every = {"curve": curve, **(tables or {})} if status == "ok" else {}
        known = {"deadlock": "proven", **(facts or {})}
        record = self._work("simulation", routing, dims, traffic, PacketEngine(**settings))
        self.simulated.append(record)
        return self._write_work("simulation", record, status, known, every)

    def flow(
        self,
        routing: str,
        dims: str = "4x2",
        *,
        workload: str = "osu-alltoall",
        alias: str | None = None,
        status: str = "ok",
        facts: Mapping[str, Any] | None = None,
        tables: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        parameters: Mapping[str, Any] | None = None,
        engine: type[EnginePlugin] = FlowEngine,
        **settings: Any,
    ) -> SimulationRecord:
        """Write what a workload's run would: what was found, lines of its tables."""
        record = self._work("flow", routing, dims, workload, engine(**settings), alias, parameters)
        self.flows.append(record)
        return self._write_work("flow", record, status, facts or {}, tables or {})

    def _work(
        self,
        kind: str,
        routing: str,
        dims: str,
        work: str,
        engine: EnginePlugin,
        alias: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> SimulationRecord:
        topology, id_ = f"torus~dims={dims}", settings_id(engine)
        return SimulationRecord(
            topology=topology,
            routing=routing,
            topology_name=topology,
            routing_name=routing,
            directory=self.results / f"{kind}s" / topology / routing / (alias or work) / id_,
            topology_directory=self.results / "topologies" / topology,
            topology_parameters={"dims": dims},
            routing_parameters=parameters or {},
            work=alias or work,
            work_name=work,
            engine=engine,
            settings_id=id_,
        )

    def _write_work(
        self,
        kind: str,
        record: SimulationRecord,
        status: str,
        facts: Mapping[str, Any],
        tables: Mapping[str, Sequence[Mapping[str, Any]]],
    ) -> SimulationRecord:
        network = grid([int(size) for size in record.topology_parameters["dims"].split("x")])
        self._write_topology(record, network)
        known = {"terminals": network.num_terminals, **facts}
        reason = "" if status == "ok" else "because"
        names = record.topology, record.routing
        outcome = Outcome(kind, *names, status, reason, known, provenance())
        write_outcome(outcome, record.directory / "outcome.json")
        for name, rows in tables.items():
            columns = list(rows[0])
            cells = [[row[column] for column in columns] for row in rows]
            write_csv(record.directory / f"{name}.csv", columns, cells)
        return record

    def _write_topology(self, record: Record, network: Topology) -> None:
        folder = record.topology_directory
        if not (folder / "outcome.json").is_file():
            save_topology(network, folder / "topology.npz")
            facts = {"switches": network.num_switches, "terminals": network.num_terminals}
            outcome = Outcome("topology", record.topology, facts=facts)
            write_outcome(outcome, folder / "outcome.json")


def provenance() -> dict[str, Any]:
    return {
        "routelab": "0.1.0",
        "git_commit": "0123456789abcdef",
        "git_dirty": True,
        "plugins": [{"distribution": "zoo", "version": "2.0"}],
        "seed": None,
        "started": "2026-11-20T10:00:00+00:00",
        "cpu_seconds": 0.25,
        "peak_memory_bytes": 50_000_000,
        "host": "node-1",
        "python": "3.11.7",
        "numba": "0.68.1",
        "numpy": "2.4.6",
    }


def make_study(folder: Path, text: str, published: str | None = None) -> Study:
    """A study from the text of its tables, figures and so on, maybe with published numbers."""
    head = "title: A study\ntopologies: [torus]\nroutings: [x]\n"
    if published is not None:
        reference = folder / "references" / "doe2020"
        reference.mkdir(parents=True)
        (reference / "table.csv").write_text(published)
        (reference / "citation.yaml").write_text(
            "key: doe2020\ntitle: On loads\nauthors: [A. Doe]\nyear: 2020\ndoi: 10.1/2\n"
            "tables: {table.csv: Table 1}\n"
        )
        head += "cites: doe2020\n"
    path = folder / "demo.yaml"
    path.write_text(head + text)
    return load_study(path)


@pytest.fixture(name="grid")
def grid_maker() -> Callable[..., Topology]:
    return grid


@pytest.fixture(scope="session")
def new_world() -> Callable[[Path], World]:
    return World


@pytest.fixture(scope="session")
def new_study() -> Callable[..., Study]:
    return make_study


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def write_study(tmp_path: Path) -> Callable[..., Study]:
    return partial(make_study, tmp_path)
