"""Batches: many small jobs in one process, which pays its imports and kernels once.

The plan cuts jobs of one make into batches; Snakemake runs batches. Inside one, every job runs in
a child of its own under its own limits, and a job whose outcome is there already, with the same
fingerprint, is not run again. So a batch that was interrupted, or has grown, does only what is
missing, and an upgraded plugin costs exactly its own jobs.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from routelab.api import build_grid
from routelab.api.errors import RoutelabError
from routelab.artifacts.json_files import read_json, write_json
from routelab.registry.catalogue import QuarantinedError
from routelab.simulation.flow_settings import FlowSettings
from routelab.simulation.settings import SimulationSettings
from routelab.stages.limits import Breach, run_limited
from routelab.stages.prepared import in_prepared_process

SPEC, MANIFEST = "batch/1", "batch-outcomes/1"
TRY_AGAIN = ("failed", "timeout")
"""Outcomes that the next run tries to better."""

Kind = Literal["topologies", "routes", "bounds", "simulations", "flows"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeptJob:
    """A job whose outcome is kept in a folder of its own.

    Attributes
    ----------
    folder : str
        Where its outcome goes.
    fingerprint : str
        Of everything that its result depends on.
    """

    folder: str
    fingerprint: str

    @property
    def outcome(self) -> Path:
        """The file that says what became of it."""
        return Path(self.folder) / "outcome.json"

    def is_done(self) -> bool:
        """Whether the result is there, is that of this fingerprint, and needs no other try."""
        try:
            outcome = json.loads(self.outcome.read_bytes())
            found = outcome["provenance"]["fingerprint"], outcome["status"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        return found[0] == self.fingerprint and found[1] not in TRY_AGAIN

    def status(self) -> str:
        """What the outcome says, ``failed`` if it cannot be read; empty where there is none."""
        try:
            return str(json.loads(self.outcome.read_bytes())["status"])
        except FileNotFoundError:
            return ""
        except (OSError, ValueError, KeyError, TypeError):
            return "failed"


@dataclass(frozen=True)
class Run(KeptJob):
    """One job of a batch.

    Attributes
    ----------
    seconds, memory_gb : float
        Limits.
    topology : str
        Instance name of the network to build; of other jobs, the network's folder.
    routing : str
        Instance name; empty for a network or a bound.
    metrics : tuple of str
        Instance names.
    rules : str
        Of a bound: instance name, or `routelab.stages.jobs.BARE`.
    bound_seconds, bound_exact
        See `routelab.bounds.lower_bound_rules`.
    traffic, workload : str
        Of a simulation, of packets or of flows: instance name.
    settings : str
        The same: JSON of its `routelab.simulation.settings.SimulationSettings`, or
        `routelab.simulation.flow_settings.FlowSettings`.
    """

    seconds: float
    memory_gb: float
    topology: str
    routing: str = ""
    metrics: tuple[str, ...] = ()
    rules: str = ""
    bound_seconds: float = 0.0
    bound_exact: bool = False
    traffic: str = ""
    workload: str = ""
    settings: str = ""


@dataclass(frozen=True)
class Batch:
    """Jobs that one process does.

    Attributes
    ----------
    kind : {"topologies", "routes", "bounds", "simulations", "flows"}
    id : str
        Unique among batches of its kind; names its files.
    runs : tuple of Run
    inputs : tuple of str
        Files that the jobs read.
    after : tuple of str
        Ids of the topology batches that must have run.
    """

    kind: Kind
    id: str
    runs: tuple[Run, ...]
    inputs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Changes when any of the jobs has to run again, or there are others."""
        parts = [f"{run.folder} {run.fingerprint}" for run in self.runs]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def write_spec(self, path: Path) -> None:
        """Write what `run_batch` reads."""
        runs = [asdict(run) for run in self.runs]
        write_json(path, {"format": SPEC, "kind": self.kind, "runs": runs})


def run_batch(spec: Path, manifest: Path) -> int:
    """Do the jobs of a batch that are not done, and write what became of all.

    Parameters
    ----------
    spec : path
        Written by `Batch.write_spec`.
    manifest : path
        JSON list of folders and outcomes; written when all jobs have an outcome.

    Returns
    -------
    done : int
        Number of jobs that ran.

    Raises
    ------
    InputError
        If the spec cannot be read or the manifest cannot be written.
    RoutelabError
        If a job's outcome cannot be written, say on a full disk.
    """
    content = read_json(spec, SPEC)
    runs = [Run(**{**run, "metrics": tuple(run["metrics"])}) for run in content["runs"]]
    missing = [run for run in runs if not run.is_done()]
    if missing:
        _work_through(missing)
    outcomes = [{"folder": run.folder, **_status(run)} for run in runs]
    write_json(manifest, {"format": MANIFEST, "outcomes": outcomes})
    return len(missing)


def _work_through(runs: Sequence[Run]) -> None:
    """Do jobs from a process that has loaded their kernels."""
    in_prepared_process(
        partial(_prepare, runs),
        partial(_do_all, runs),
        max(run.seconds for run in runs),
        max(run.memory_gb for run in runs),
        # engines are large: without a cache, better one process compiles it than every job
        steps=20 if any(run.traffic or run.workload for run in runs) else 1,
    )


def _do_all(runs: Sequence[Run]) -> None:
    for number, run in enumerate(runs, 1):
        logger.info("[%d/%d] %s", number, len(runs), run.folder)
        ended = run_limited(partial(_do, run), run.seconds, run.memory_gb)
        if isinstance(ended, Breach):
            _write_breach(run, ended)
        elif ended:
            raise RoutelabError(f"{run.folder}: no outcome was written, see above")


def _prepare(runs: Iterable[Run]) -> None:
    """Import what the jobs need and load their kernels, so that their processes inherit both."""
    from routelab.stages import bound, flow, route, simulate, topology, warm  # noqa: F401

    if any(run.rules for run in runs):
        # the rules' own kernels are the jobs' business: a plugin may hold them up
        bound.compute(build_grid("torus", (3, 2), wrap=True), None)
    routings = {run.routing: run for run in runs if run.routing}
    by_key = {name.partition("~")[0]: run for name, run in routings.items()}
    for run in by_key.values():
        if run.traffic:
            warm.rehearse_simulation(run.routing)
        elif run.workload:
            warm.rehearse_flows(run.routing)
        else:
            warm.rehearse(run.routing, run.metrics)


def _do(run: Run) -> int:
    try:
        _stage(run)
    except QuarantinedError as error:
        _write_breach(run, Breach("failed", str(error)))
    except RoutelabError as error:
        logger.error("%s", error)
        return 2
    return 0


def _stage(run: Run) -> None:
    from routelab.stages import bound, flow, route, simulate, topology

    folder, mark = Path(run.folder), run.fingerprint
    if run.rules:
        bound.run(
            run.topology,
            run.rules,
            folder,
            seconds=run.bound_seconds,
            exact=run.bound_exact,
            fingerprint=mark,
        )
    elif run.traffic:
        settings = SimulationSettings.model_validate_json(run.settings)
        simulate.run(run.topology, run.routing, run.traffic, settings, folder, mark)
    elif run.workload:
        asked = FlowSettings.model_validate_json(run.settings)
        flow.run(run.topology, run.routing, run.workload, asked, folder, mark)
    elif run.routing:
        route.run(run.topology, run.routing, folder, run.metrics, mark)
    else:
        topology.run(run.topology, folder, mark)


def _write_breach(run: Run, breach: Breach) -> None:
    from routelab.stages import bound, flow, route, simulate, topology

    logger.warning("%s: %s: %s", run.folder, breach.status, breach.reason)
    folder, mark = Path(run.folder), run.fingerprint
    if run.rules:
        bound.write_breach(run.topology, run.rules, folder, breach, mark)
    elif run.traffic:
        simulate.write_breach(run.topology, run.routing, run.traffic, folder, breach, mark)
    elif run.workload:
        flow.write_breach(run.topology, run.routing, run.workload, folder, breach, mark)
    elif run.routing:
        route.write_breach(run.topology, run.routing, folder, breach, mark)
    else:
        topology.write_breach(run.topology, folder, breach, mark)


def _status(run: Run) -> dict[str, Any]:
    outcome = json.loads(run.outcome.read_bytes())
    return {"status": outcome["status"], "reason": outcome["reason"]}
