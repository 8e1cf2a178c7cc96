"""What tests with SimGrid share; all are skipped where it is not installed."""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import numpy as np
import pytest

from routelab.api import ExportPlugin, RouteTable
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.simulation.flow.engine import run_flows
from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.result import FlowRun
from routelab.simulation.smpi import simgrid as smpi

NODES = "torus~dims=4x2x2x2"


def pytest_collection_modifyitems(items):
    missing = [name for name in (smpi.PROGRAM, smpi.COMPILER) if shutil.which(name) is None]
    for item in items:
        if item.path.parent.name == "simgrid":
            item.add_marker(pytest.mark.simgrid)
            if missing:
                reason = f"needs SimGrid: install Debian's package {smpi.PACKAGE}"
                item.add_marker(pytest.mark.skip(reason=reason))


def one_line() -> RouteTable:
    """All routes along one line through all nodes: the middle of it carries 16 × 16 of them."""
    network = load("topology", NODES).build()
    places = {tuple(place): switch for switch, place in enumerate(network.coordinates.tolist())}
    line = [
        places[place] for place in _snake(tuple(int(n) for n in NODES.split("=")[1].split("x")))
    ]
    where = np.argsort(line)
    channel = {
        ends: number
        for number, ends in enumerate(
            zip(network.channel_source.tolist(), network.channel_target.tolist(), strict=True)
        )
    }
    step = np.full((len(line), len(line)), -1)
    for here in line:
        for target in line:
            if here != target:
                onward = line[where[here] + (1 if where[target] > where[here] else -1)]
                step[here, target] = channel[here, onward]
    return RouteTable.from_next_hops(network, step)


def _snake(dims: tuple[int, ...]) -> list[tuple[int, ...]]:
    if not dims:
        return [()]
    rest = _snake(dims[1:])
    return [(i, *more) for i in range(dims[0]) for more in (rest if i % 2 == 0 else rest[::-1])]


@pytest.fixture(scope="session")
def tables() -> dict[str, RouteTable]:
    """From good to terrible: maximum loads 26, 28, 33 and 256."""
    network = load("topology", NODES).build()
    named = {"milp": "milp@angara", "sssp": "angara-sssp", "bfs": "angara-bfs"}
    routed = {name: Routing.from_name(routing).table(network) for name, routing in named.items()}
    return routed | {"one-line": one_line()}


@dataclass(frozen=True, eq=False)
class Both:
    """What the two engines say."""

    flow: FlowRun
    simgrid: smpi.SmpiRun

    @property
    def seconds(self) -> tuple[float, float]:
        """From when the last rank comes to the timed part until the last one leaves it."""
        return float(self.flow.end.max() - self.flow.begin.max()), self.simgrid.seconds


@pytest.fixture(scope="session")
def both():
    """A function that runs a schedule in both engines."""

    def run(table, scheduled, machine, terminal=None, **more):
        places = np.arange(scheduled.ranks) if terminal is None else np.asarray(terminal)
        cores = int(np.bincount(places).max())
        exporter = load("export", f"simgrid~latency=per-route,cores={cores}")
        assert isinstance(exporter, ExportPlugin)
        platform = exporter.export(table, machine)["platform.xml"]
        hosts = [f"t{place}" for place in places.tolist()]
        return Both(
            run_flows(scheduled, Paths.create(table, places), machine),
            smpi.replay(scheduled, platform, hosts, machine, limit=300, **more),
        )

    return run
