"""Surveys: many runs, each of which adds one row to a store and has no folder.

The plan cuts a survey into jobs of whole networks. The output that Snakemake declares, a table of
a job's runs, is assembled from the store, which Snakemake does not own: a run that has a row with
the same fingerprint is not run again, whatever job it was in. All work on one network is done in
one process, which builds it once; the limits apply to each run separately.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from typing_extensions import override

from routelab.api import RulesPlugin
from routelab.api.errors import RoutelabError
from routelab.jobs.job import TRY_AGAIN, BaseJob, Compilation
from routelab.jobs.limits import Failure
from routelab.jobs.worker import Item
from routelab.registry.instances import name_of
from routelab.results.fingerprint import job_fingerprint
from routelab.results.provenance import ResourceMeter
from routelab.results.row_store import SUFFIX, RowStore, RowWriter
from routelab.results.survey_table import SurveyTable, write_survey_table
from routelab.routing.routing import Routing
from routelab.study import Bound, Survey
from routelab.workflow.parts.instances import Instance, class_name, class_names, code_digest
from routelab.workflow.stages.routes import route_compilations
from routelab.workflow.stages.topologies import network_jobs
from routelab.workflow.survey.bounds import bound_row, run_bound_facts
from routelab.workflow.survey.rows import Row, SurveyNetwork, failure_row
from routelab.workflow.survey.runs import route_row

if TYPE_CHECKING:
    from routelab.workflow.parts.study_plugins import Parts

BOUND = "bound"
"""First word of the text of rows with bounds, which no run has."""

TINY_NETWORK = "torus~dims=3x2"
"""Network for loading kernels of bounds."""

logger = logging.getLogger(__name__)


def store(results: Path | str) -> RowStore:
    """Return the store of a survey's rows."""
    return RowStore(Path(results) / "surveys" / "rows", replaceable=TRY_AGAIN)


def _statuses(results: str) -> Mapping[str, str]:
    """Return the status of every row of a survey; read again when a file has changed."""
    files = [(path, path.stat()) for path in sorted(store(results).folder.glob(f"*{SUFFIX}"))]
    file_states = tuple((str(path), status.st_mtime_ns, status.st_size) for path, status in files)
    return _read_statuses(results, file_states)


@lru_cache(maxsize=2)
def _read_statuses(results: str, _states: tuple[tuple[str, int, int], ...]) -> Mapping[str, str]:
    # the states of the files are only a key of the cache
    return store(results).statuses()


@dataclass(frozen=True)
class SurveyItem:
    """The work for one row: a run, or a bound of a network under some rules.

    Attributes
    ----------
    fingerprint : str
        Digest of everything that the row depends on.
    topology : str
        Instance name.
    routing : str
        Instance name; empty for a bound.
    rules : str
        Rules of the routing, or those of the bound; empty: none.
    """

    fingerprint: str
    topology: str
    routing: str = ""
    rules: str = ""

    @property
    def title(self) -> str:
        """Name in messages."""
        return f"{self.routing or 'bound of ' + (self.rules or 'the network')} on {self.topology}"


@dataclass(frozen=True, kw_only=True)
class SurveyJob(BaseJob):
    """Compute rows of a survey: all rows of some networks. Each job is a batch of its own.

    `BaseJob` describes the class attributes, and the methods that override its own.

    Attributes
    ----------
    items : tuple of SurveyItem
        The rows to compute: runs and bounds. Items of one network are adjacent, so that it is built
        once; bounds come before the runs.
    metrics : tuple of str
        Instance names.
    bound_seconds : float
        Time limit of a solver of bounds.
    bound_exact : bool
        Whether bounds are raised by a mixed-integer program.
    results : str
        Folder of the study's results, with the store of the rows.
    routings : tuple of (str, tuple of str)
        Instance names of the routings, with the names of their plugins' classes.
    origin : str
        Key of the record of versions and machine, which the rows name. Empty in a plan: the process
        that computes rows writes the record first, in `work_items`.
    """

    kind = "surveys"
    outcome_kind = "route"
    nouns = "survey run", "survey runs"
    order = 6
    per_batch = 1
    of_surveys = True

    items: tuple[SurveyItem, ...]
    metrics: tuple[str, ...] = ()
    bound_seconds: float = 60.0
    bound_exact: bool = False
    results: str
    routings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    origin: str = ""

    @classmethod
    @override
    def plan(cls, parts: Parts) -> Iterable[Self]:
        """Return the jobs of a survey.

        Networks are distributed over the jobs in turn, so that none gets all the large ones.
        """
        # 1. The work on each network: runs, and before them the bounds that they are compared with.
        study = parts.study
        runs = survey_runs(parts)
        items_of_network: dict[str, list[SurveyItem]] = {}
        for (topology_id, _), run in runs.items():
            items_of_network.setdefault(topology_id, []).append(run)
        bound = study.bound if isinstance(study.bound, Bound) else Bound()
        if study.bound:
            _insert_bounds(parts, items_of_network, bound)
        # 2. Whole networks go to a job, so that each is built once; hence there are at most as many
        #    jobs as networks.
        runs_per_job = study.survey.runs if isinstance(study.survey, Survey) else Survey().runs
        num_jobs = min(len(items_of_network), ceil(len(runs) / runs_per_job))
        networks = list(items_of_network.values())
        instance_groups = (parts.topologies, parts.routings, parts.metrics)
        inputs = {
            name
            for instances in instance_groups
            for instance in instances.values()
            for name in instance.inputs
        }
        # 3. A job's digest is that of its rows. If one of them changes, the job runs again, and
        #    computes the rows that are missing. The first of 3 jobs has the networks 0, 3, 6 …
        for number in range(num_jobs):
            networks_of_job = networks[number::num_jobs]
            items = tuple(item for network_items in networks_of_job for item in network_items)
            ids = (f"{study.name}-{number + 1}",)
            lines = [f"{item.topology} {item.routing} {item.fingerprint}" for item in items]
            yield cls(
                folder=cls.folder_of(parts.results, ids),
                ids=ids,
                text=study.name,
                digest=hashlib.sha256("\n".join(lines).encode()).hexdigest(),
                inputs=tuple(sorted(inputs)),
                limits=study.limits,
                items=items,
                metrics=tuple(parts.metrics),
                bound_seconds=bound.seconds,
                bound_exact=bound.exact,
                results=str(parts.results),
                routings=tuple(
                    (routing.text, class_names(routing)) for routing in parts.routings.values()
                ),
            )

    @classmethod
    @override
    def manifest(cls, results: Path, batch: str) -> Path:
        """Return the table of the runs of the job that is this batch, such as ``tori-1``."""
        study, _, number = batch.rpartition("-")
        return results / study / cls.kind / f"{number}.csv"

    @classmethod
    @override
    def write_manifest(cls, jobs: Sequence[BaseJob], path: Path, replaces: int = 0) -> None:
        (job,) = jobs  # `per_batch` is 1
        assert isinstance(job, SurveyJob)
        write_survey_table(_table(job, store(job.results)), path, replaces=replaces)

    @property
    @override
    def title(self) -> str:
        return self.ids[0]

    @property
    @override
    def size(self) -> int:
        return len(self.runs)  # bounds are not results: the table has them as columns of runs

    @property
    def runs(self) -> tuple[SurveyItem, ...]:
        """Items that are runs."""
        return tuple(item for item in self.items if item.routing)

    def missing(self) -> tuple[SurveyItem, ...]:
        """Return items without a row, or whose row the next run tries to replace."""
        statuses = _statuses(self.results)
        # ids of one instance, such as its name and an alias, share a row
        items = {item.fingerprint: item for item in self.items}
        return tuple(item for key, item in items.items() if statuses.get(key) in (None, *TRY_AGAIN))

    @override
    def is_done(self) -> bool:
        return not self.missing()

    @override
    def forget(self) -> None:
        """Remove all rows of the survey."""
        for path in store(self.results).folder.glob(f"*{SUFFIX}"):
            path.unlink()

    @override
    def statuses(self) -> list[tuple[str, str]]:
        """Return status and reason of each run, without the bounds; empty if it has no row."""
        statuses = _statuses(self.results)
        # only rows without a result have a reason, and need to be read
        fingerprints = (run.fingerprint for run in self.runs)
        without_result = {key for key in fingerprints if statuses.get(key) != "ok"}
        rows = store(self.results).rows(without_result) if without_result else {}
        return [
            (statuses.get(run.fingerprint, ""), rows.get(run.fingerprint, {}).get("reason", ""))
            for run in self.runs
        ]

    @override
    def compilations(self) -> Sequence[Compilation]:
        """Return the compilations of this job's routings, its metrics and its bounds."""
        # 1. The kernels of each routing and of the metrics.
        used_routings = {item.routing for item in self.items}
        compilations = [
            compilation
            for text, classes in self.routings
            if text in used_routings
            for compilation in route_compilations(text, classes, self.metrics)
        ]
        # 2. The kernels of bounds: bound a tiny network under each of the rules.
        for rules in dict.fromkeys(item.rules for item in self.items if not item.routing):
            work = partial(
                bound_row,
                SurveyNetwork(TINY_NETWORK),
                rules,
                seconds=self.bound_seconds,
                exact=self.bound_exact,
            )
            compilation = Compilation(
                key=("bounds", rules),
                name=f"bounds {rules}".strip(),
                work=work,
                classes=class_name("rules", rules.partition("~")[0]) if rules else (),
            )
            compilations.append(compilation)
        return compilations

    @override
    def work_items(self) -> list[Item]:
        """Return an item for each missing row; a worker builds a network once for all of them."""
        missing = self.missing()
        writer = store(self.results).writer(self.ids[0])  # open as long as this process
        job = replace(self, items=missing, origin=_write_origin(writer))
        # The cache holds the last network only: its items are adjacent, so it is built once.
        network_of = lru_cache(maxsize=1)(SurveyNetwork)
        return [job._worker_item(item, network_of, writer) for item in missing]

    def _worker_item(
        self, item: SurveyItem, network_of: Callable[[str], SurveyNetwork], writer: RowWriter
    ) -> Item:
        """Return the work of a worker: compute the row of an item and append it to the store."""
        # A solver of bounds limits its time itself and returns the best bound so far. For bounds
        # this limit is thus only for safety, and exceeds the time of the solver.
        solver_seconds = 0.0 if item.routing else 2 * self.bound_seconds
        limits = self.limits.model_copy(update={"seconds": self.limits.seconds + solver_seconds})

        def run() -> None:
            self._append_row(item, self._row(item, network_of(item.topology)), writer)

        def record(failure: Failure) -> None:  # if the worker ends before the row is written
            self._append_row(item, failure_row(failure), writer)

        return Item(item.title, limits, run, record)

    def _row(self, item: SurveyItem, network: SurveyNetwork) -> Row:
        if item.routing:
            return route_row(network, item.routing, self.metrics)
        return bound_row(network, item.rules, seconds=self.bound_seconds, exact=self.bound_exact)

    def _append_row(self, item: SurveyItem, row: Mapping[str, Any], writer: RowWriter) -> None:
        """Append a row to the store; log a failure, which the next run tries again."""
        status, reason = row["status"], row["reason"]
        if status in TRY_AGAIN:
            logger.warning("%s: %s: %s", item.title, status, reason)
        names = {"topology": item.topology, "routing": item.routing, "rules": item.rules}
        writer.append(item.fingerprint, status, {**names, **row, "origin": self.origin})


def survey_runs(parts: Parts) -> dict[tuple[str, str], SurveyItem]:
    """Return the runs of a survey, by the ids of topology and routing.

    Their fingerprints change with the network, the routing or one of the metrics.
    """
    metrics = parts.metrics
    metric_classes = [type(plugin) for instance in metrics.values() for plugin in instance.plugins]
    metric_files = [name for instance in metrics.values() for name in instance.inputs]
    routing_digests = {
        id_: job_fingerprint(
            " ".join([instance.text + instance.quarantine, *metrics]),
            [*map(type, instance.plugins), *metric_classes],
            [*instance.inputs, *metric_files],
        )
        for id_, instance in parts.routings.items()
    }
    rules = {id_: _rules(routing) for id_, routing in parts.routings.items()}
    network_digests = {
        topology_id: code_digest(parts.topologies[topology_id])
        for topology_id in network_jobs(parts)
    }
    return {
        (topology_id, routing_id): SurveyItem(
            fingerprint=_row_fingerprint(network_digests[topology_id], routing_digests[routing_id]),
            topology=parts.topologies[topology_id].text,
            routing=parts.routings[routing_id].text,
            rules="" if (rules_plugin := rules[routing_id]) is None else name_of(rules_plugin),
        )
        for topology_id, routing_id in parts.runs
    }


def _insert_bounds(
    parts: Parts, items_of_network: Mapping[str, list[SurveyItem]], bound: Bound
) -> None:
    """Insert the bounds of each network before its runs: without rules, and under their rules.

    The lists in `items_of_network`, which is by id of the topology, are updated.
    """
    # "" stands for the bound without rules
    rules_digests = {"": job_fingerprint(BOUND)} | {
        name_of(rules): job_fingerprint(
            f"{BOUND} {name_of(rules)}", [type(rules)], map(str, rules.input_files())
        )
        for rules in map(_rules, parts.routings.values())
        if rules is not None
    }
    for topology_id, items in items_of_network.items():
        instance = parts.topologies[topology_id]
        network_digest = code_digest(instance)
        bounds = []
        for rules in dict.fromkeys(["", *(item.rules for item in items)]):
            # without rules there is no search for the exact bound
            digest = rules_digests[rules] + (" exact" if bound.exact and rules else "")
            fingerprint = _row_fingerprint(network_digest, digest)
            bounds.append(SurveyItem(fingerprint, instance.text, rules=rules))
        items[:0] = bounds


def _row_fingerprint(network_digest: str, work_digest: str) -> str:
    return hashlib.sha256(f"{network_digest} {work_digest}".encode()).hexdigest()


def _rules(instance: Instance) -> RulesPlugin | None:
    return None if instance.quarantine else Routing.from_name(instance.text).rules


def _table(job: SurveyJob, row_store: RowStore) -> SurveyTable:
    """Return the table of a job: a row for each run, with its metrics and bounds as columns."""
    # 1. The row of each item. All must be there, because failures have rows, too.
    row_of = row_store.rows({item.fingerprint for item in job.items})
    without_row = [item for item in job.items if item.fingerprint not in row_of]
    if without_row:
        raise RoutelabError(
            f"no row was written for {without_row[0].topology} and {len(without_row) - 1} more"
        )
    bound_rows = {
        (item.topology, item.rules): row_of[item.fingerprint]
        for item in job.items
        if not item.routing
    }
    # 2. Runs, with metrics as columns. The rows in the store have no bounds, so that a run need not
    #    be repeated when a bound changes.
    rows, metrics = [], {}
    for item in job.runs:
        row = row_of[item.fingerprint]
        measured = {}
        for name, value, unit, better in row.get("metrics", ()):
            measured[name] = value
            metrics[name] = {"unit": unit, "better": better}
        names = {key: row[key] for key in ("topology", "routing", "status", "reason")}
        times = {f"run_{key}": row.get(key) for key in ("wall_seconds", "cpu_seconds")}
        facts = dict(row["facts"])
        # a study without bounds has no rows of them
        if bound_rows and row["status"] == "ok":
            rules_bound = bound_rows[item.topology, item.rules] if item.rules else None
            network_bound = bound_rows[item.topology, ""]
            facts |= run_bound_facts(facts, rules_bound, network_bound)
        rows.append({**names, **measured, **facts, **times, "origin": row["origin"]})
    origins = row_store.rows({row["origin"] for row in rows})
    return SurveyTable(rows, origins, metrics)


def _write_origin(writer: RowWriter) -> str:
    """Record versions and machine once for all rows of a process; return the record's key."""
    # The meter makes a provenance as for one result. What differs between rows is removed from it,
    # such as the times that the meter measures.
    with ResourceMeter() as resources:
        provenance = resources.provenance()
    for key in ("plugins", "seed", "fingerprint", "wall_seconds", "cpu_seconds"):
        del provenance[key]
    key = hashlib.sha256(repr(sorted(provenance.items())).encode()).hexdigest()
    writer.append(key, "origin", provenance)
    return key
