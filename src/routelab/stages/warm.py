"""Compile kernels once, so that the jobs of a run find them in numba's cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from routelab.api import (
    BlockBuilder,
    Collective,
    Demand,
    Job,
    Loop,
    Program,
    Topology,
    TrafficPlugin,
    WorkloadPlugin,
    build_grid,
)
from routelab.artifacts.atomic import atomic_file
from routelab.artifacts.provenance import Measured
from routelab.registry.catalogue import installed
from routelab.registry.instances import load, load_routing
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.settings import SimulationSettings
from routelab.stages import flow, simulate
from routelab.stages.limits import Breach, run_limited
from routelab.stages.prepared import PREPARE_SECONDS
from routelab.stages.route import compute, write_result

STEP_SECONDS = PREPARE_SECONDS
"""How long a routing may take before it is looked whether anything was compiled."""

ENGINE_SECONDS = 600.0
"""The same of simulations: each engine is one large kernel."""


def run(
    routings: Sequence[str],
    stamp: Path,
    simulated: Sequence[str] = (),
    flowing: Sequence[str] = (),
) -> list[str]:
    """Send a tiny network through the whole chain for each routing.

    Parameters
    ----------
    routings : sequence of str
        Instance names.
    simulated, flowing : sequence of str
        Instance names of routings that are to be simulated, with packets or with flows.
    stamp : path
        File that says it was done.

    Returns
    -------
    skipped : list of str
        Routings that do not work on the tiny network; their jobs compile what they need.
    """
    metrics = installed().default_metrics()
    rehearsals = [(name, partial(rehearse, name, metrics), STEP_SECONDS) for name in routings]
    rehearsals += [(name, partial(rehearse_simulation, name), ENGINE_SECONDS) for name in simulated]
    rehearsals += [(name, partial(rehearse_flows, name), ENGINE_SECONDS) for name in flowing]
    skipped = [reason for rehearsal in rehearsals if (reason := _compile(*rehearsal))]
    with atomic_file(stamp) as new:
        new.write_text("\n".join(["warm", *skipped]) + "\n", encoding="utf-8")
    return skipped


def _compile(routing: str, rehearsal: Callable[[], str | None], seconds: float) -> str | None:
    """Rehearse in another process, which a plugin may kill or hold up.

    A process that takes too long may have been compiling: then the next one finds in the cache
    what it compiled, and gets further.
    """

    def work() -> int:
        reason = rehearsal()
        if reason:
            print(reason, flush=True)
        return 1 if reason else 0

    while True:
        before = _cached()
        ended = run_limited(work, seconds, None)
        if not isinstance(ended, Breach):
            return f"{routing}: see above" if ended else None
        if ended.status == "failed" or _cached() == before:
            return f"{routing}: {ended.reason}"


def _cached() -> int:
    return sum(1 for _ in Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"))


def rehearse(routing: str, metrics: Sequence[str]) -> str | None:
    """Send a tiny network through the whole chain, so that all that a job loads is loaded.

    Returns
    -------
    reason : str or None
        Why the routing does not work on the tiny network.
    """
    chosen = load_routing(routing)
    try:
        network = build_grid("torus", (3, 2), wrap=True)
        with Measured() as measured:
            result = compute(network, chosen, [load("metric", name) for name in metrics])
        with tempfile.TemporaryDirectory() as folder:
            write_result(result, Path(folder), measured.provenance(chosen.plugins))
    except Exception as error:  # the plugin's job will tell, with its own outcome
        return f"{routing}: {type(error).__name__}: {error}"
    return None


class _Everywhere(TrafficPlugin):
    """Uniform traffic, whatever plugins there are."""

    name = "everywhere"
    summary = "Every terminal sends to all others alike"

    def demand(self, topology: Topology, seed: int) -> Demand:
        return Demand.uniform(topology, self.summary)


REHEARSED = SimulationSettings(
    vcs=8, loads=(0.1,), sample_cycles=10, max_cycles=1000, precision=0.9
)


def rehearse_simulation(routing: str) -> str | None:
    """Simulate a tiny network for a moment, so that all that a job loads is loaded.

    Returns
    -------
    reason : str or None
        Why the routing does not work on the tiny network.
    """
    try:
        network = build_grid("torus", (4, 3), wrap=True)
        result = simulate.simulate(network, load_routing(routing), _Everywhere(), REHEARSED)
        with tempfile.TemporaryDirectory() as folder:
            simulate.write_result(result, Path(folder))
    except Exception as error:  # the plugin's job will tell, with its own outcome
        return f"{routing}: {type(error).__name__}: {error}"
    return None


class _Ring(WorkloadPlugin):
    """Every rank sends to the next, and all meet, whatever plugins there are."""

    name = "ring"
    summary = "Every rank sends to the next one"

    def program(self, job: Job) -> Program:
        ranks = np.arange(job.ranks)
        builder = BlockBuilder(job.ranks)
        builder.send_receive(ranks, (ranks + 1) % job.ranks, 1e5, (ranks - 1) % job.ranks)
        builder.compute(ranks, 1e3)
        steps = (Loop((builder.build(), Collective("barrier")), 2),)
        return Program(job.ranks, steps, self.summary)


def rehearse_flows(routing: str) -> str | None:
    """Run a tiny program on a tiny network, so that all that a job loads is loaded.

    Returns
    -------
    reason : str or None
        Why the routing does not work on the tiny network.
    """
    try:
        network = build_grid("torus", (4, 3), wrap=True)
        result = flow.simulate(network, load_routing(routing), _Ring(), FlowSettings())
        with tempfile.TemporaryDirectory() as folder:
            flow.write_result(result, Path(folder))
    except Exception as error:  # the plugin's job will tell, with its own outcome
        return f"{routing}: {type(error).__name__}: {error}"
    return None
