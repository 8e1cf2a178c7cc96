"""Functions for the Snakefile: the plan of the selected studies, and the lock of the folder."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from routelab._runtime.sources import core_digest
from routelab.api import InputError
from routelab.cluster.bench.comparison import equal_tables
from routelab.cluster.bench.fabric.switching import require_fabric
from routelab.jobs.job import TRY_AGAIN
from routelab.jobs.run_lifetime import announce_run, end_jobs_on_interrupt, wait_for_jobs
from routelab.registry.requirements import collect_errors
from routelab.registry.suggest import did_you_mean
from routelab.results.atomic import explain_write_errors
from routelab.results.missing_results import loss_sentences
from routelab.results.outcome import digest_in
from routelab.results.row_store import SUFFIX
from routelab.study.cluster.keys import load_cluster, locate_cluster
from routelab.workflow.console import LOCK, use_short_lines
from routelab.workflow.plan.expansion import Plan, expand_studies
from routelab.workflow.plan.plan import PLAN
from routelab.workflow.stages import kinds
from routelab.workflow.stages.comparisons import ComparisonJob
from routelab.workflow.stages.surveys import SurveyJob, store
from routelab.workflow.warm import start_compiling

RESULTS = Path("results")
STUDIES = Path("config/studies")
CONFIG_KEYS = ("studies", "cluster", "fresh", "apply_routing")
"""Keys of Snakemake's configuration that routelab reads."""

CODE = "code"
"""File with the digest of the code of the last run, in the folder of the plan."""

SMALL = 100_000
"""Free space in bytes below which a job's files may not fit."""


def begin_run(workflow: Any, config: Mapping[str, Any]) -> Plan:
    """Return the plan of a Snakemake run.

    If the run executes jobs, it first locks the folder and deletes failed outcomes. Invalid
    input ends the process with one message.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    config : mapping
        Snakemake's configuration; ``cluster`` is measured on instead of those that the studies
        name; ``studies`` is a list, or text with commas or plus signs. Its
        items are paths that end in ``.yaml``, or names of studies: those of files in
        ``config/studies`` and its folders, with or without the folder. ``apply_routing``:
        see `apply_routing_option`. ``fresh``: see `fresh_stages`.
    """
    try:
        if workflow.modifier.is_main_snakefile():  # another repository passes all it has
            unknown = unknown_keys(config)
            if unknown and workflow.is_main_process:
                print(f"routelab reads no config {', '.join(unknown)}.", file=sys.stderr)
        applies = bool(apply_routing_option(config))
        fresh = fresh_stages(config.get("fresh"))
        cluster = str(config.get("cluster") or "")
        plan = expand_studies(select_studies(config.get("studies")), RESULTS, cluster)
        if cluster and not plan.of(ComparisonJob.kind):
            for study_plan in plan.studies.values():
                locate_cluster(study_plan.study.path.parent, cluster, "config cluster")
            raise InputError(f"config cluster={cluster}: none of the studies measures on a cluster")
        if applies:
            check_fabrics(plan)
    except InputError as error:
        sys.exit(str(error))
    _keep_slurm_conf()
    # jobs find `routelab` also where the environment of this interpreter is not activated
    os.environ["PATH"] += os.pathsep + str(Path(sys.executable).parent)
    if workflow.remote_exec:
        announce_run()  # jobs inside belong to this process, wherever the run was started
    if workflow.is_main_process:
        workflow.execute = _with_preparation(workflow, plan, fresh)
    return plan


def unknown_keys(config: Mapping[str, Any]) -> list[str]:
    """Return the keys of Snakemake's configuration that routelab does not read.

    Raises
    ------
    InputError
        If a key is nearly one that routelab reads, for example ``study`` instead of ``studies``.
    """
    unknown = [key for key in map(str, config) if key not in CONFIG_KEYS]
    misspelled = [
        f"config {key!r} does not exist{hint}"
        for key in unknown
        if (hint := did_you_mean(key, CONFIG_KEYS))
    ]
    if misspelled:
        raise InputError("\n".join(misspelled))
    return unknown


def _keep_slurm_conf() -> None:
    """Let jobs of Slurm find the configuration of their Slurm.

    The executor removes all variables of Slurm from the process in which a rule runs. One of them
    has the path of Slurm's configuration, if it is not in its usual location.
    """
    variable, copy = "SLURM_CONF", "ROUTELAB_SLURM_CONF"
    if variable in os.environ:
        os.environ[copy] = os.environ[variable]
    elif copy in os.environ:
        os.environ[variable] = os.environ[copy]


def apply_routing_option(config: Mapping[str, Any]) -> str:
    """Return the option that lets `routelab bench` switch a fabric, or nothing.

    Raises
    ------
    InputError
        If ``apply_routing`` is neither true nor false.
    """
    return "--apply-routing" if _truth(config, "apply_routing") else ""


def _truth(config: Mapping[str, Any], key: str) -> bool:
    setting = config.get(key, False)
    # on the command line Snakemake accepts only the spelling True for a truth value
    value = {"true": True, "false": False}.get(str(setting).lower())
    if value is None:
        raise InputError(
            f"{key}={setting}: must be true or false, as in 'snakemake report --config {key}=true'"
        )
    return value


def fresh_stages(choice: object) -> list[str]:
    """Return the stages whose items are computed again although they are finished.

    Snakemake does not record this choice, so the next run without it has nothing to do.

    Parameters
    ----------
    choice : object
        A list, or text with commas or plus signs; ``all`` stands for every stage but benchmarks.

    Raises
    ------
    InputError
        If a name is not that of a stage, or is that of measurements.
    """
    names = _names(choice)
    stages = [kind for kind in kinds() if kind != ComparisonJob.kind]
    for name in names:
        if name in ("benchmarks", ComparisonJob.kind):
            raise InputError(
                f"fresh={name}: measurements are never repeated; add rounds with 'repeats' in the "
                "study's 'bench'"
            )
        if name not in (*stages, "all"):
            raise InputError(
                f"fresh={name}: there is no such stage{did_you_mean(name, stages)} "
                f"(known: all, {', '.join(stages)})"
            )
    return stages if "all" in names else names


def _names(choice: object) -> list[str]:
    """Return the names in a list, or in text with commas or plus signs."""
    items = choice if isinstance(choice, list) else re.split(r"[,+\s]+", str(choice or ""))
    return [str(item) for item in items if item not in ("", None)]


def check_fabrics(plan: Plan) -> None:
    """Refuse to apply routings where a comparison that would be measured lacks a fabric.

    Raises
    ------
    InputError
        Names every cluster whose file lacks it.
    """
    max_routings: dict[Path, int] = {}
    for job in plan.of(ComparisonJob.kind).values():
        if isinstance(job, ComparisonJob) and not job.is_done():
            path = Path(job.comparison.settings.cluster)
            max_routings[path] = max(max_routings.get(path, 0), len(job.comparison.routings))
    collect_errors(
        *(partial(_check_fabric, path, routings) for path, routings in max_routings.items())
    )


def _check_fabric(path: Path, routings: int) -> None:
    require_fabric(load_cluster(path), routings)


def select_studies(choice: object) -> list[Path]:
    """Return the study files of a list of names and paths.

    Raises
    ------
    InputError
        If the list is empty, or a name is not that of a study.
    """
    names = _names(choice)
    files = {str(path.relative_to(STUDIES).with_suffix("")): path for path in _study_files()}
    if not names:
        raise InputError(
            "no study is selected: list studies in config/config.yaml, or select with 'snakemake "
            f"report --config studies=NAME,NAME' (known: {', '.join(sorted(files))})"
        )
    return collect_errors(*(partial(_study_file, name, files) for name in names))


def _study_file(name: str, files: Mapping[str, Path]) -> Path:
    """Return the file of a study, which is named by its path or one of `files`."""
    if Path(name).suffix in (".yaml", ".yml"):
        paths = [Path(name)] if Path(name).is_file() else []
    else:
        paths = [files[name]] if name in files else _studies_named(name, files)
    if not paths:
        path = Path(name) if Path(name).suffix else STUDIES / f"{name}.yaml"
        raise InputError(f"study {name!r} not found: no file {path}{_unknown_study(name, files)}")
    if len(paths) > 1:
        raise InputError(f"there are several studies {name!r}: {', '.join(map(str, paths))}")
    return paths[0]


def _study_files() -> list[Path]:
    return sorted(path for path in STUDIES.rglob("*.yaml") if path.is_file())


def _unknown_study(name: str, names: Iterable[str]) -> str:
    stem = Path(name).stem
    return did_you_mean(stem, {study_name.rpartition("/")[2] for study_name in names})


def _studies_named(name: str, files: Mapping[str, Path]) -> list[Path]:
    """Return the studies of that name in any folder."""
    return [path for path in files.values() if path.stem == name]


def _with_preparation(workflow: Any, plan: Plan, fresh: Collection[str]) -> Any:
    """Return `execute` of a workflow, extended by steps before it looks for finished files.

    Snakemake decides only here, after reading the Snakefile, whether jobs will run: dry runs and
    inspections (``--summary``, ``--lint``) must neither wait for a run nor change anything.
    """
    execute = workflow.execute

    def run(*, executor_plugin: Any, **settings: Any) -> Any:
        """Prepare, execute and report losses; dry runs and ``--touch`` prepare nothing."""
        use_short_lines(workflow, plan)
        kind = executor_plugin.common_settings
        executes = not (kind.dryrun_exec or kind.touch_exec)
        if not executes:
            _tell_of_new_code(plan, "would be")
            _skip_finished_comparisons(plan)
            _print_again(plan, "would be tried again")
            _print_equal_tables(plan)
            if kind.dryrun_exec:
                _force(workflow, plan, fresh)
            return execute(executor_plugin=executor_plugin, **settings)
        try:
            _make_ready(workflow, plan, fresh)
            finish_compiling = start_compiling(plan, workflow.resource_settings.cores or 1)
            if any(batch.kind == ComparisonJob.kind for batch in plan.batches_to_do):
                finish_compiling(True)  # it would disturb measurements on this machine
        except InputError as error:
            sys.exit(str(error))
        except KeyboardInterrupt:
            sys.exit("Interrupted. Run the same command again to continue.")
        finished = False
        try:
            with end_jobs_on_interrupt():
                result = execute(executor_plugin=executor_plugin, **settings)
            finished = True
            return result
        finally:
            finish_compiling(finished)
            # also if a step failed or the run was interrupted
            _warn_of_full_disk(plan.results)
            _print_losses(plan)
            index = plan.results / "report" / "index.html"
            if finished and index.is_file():
                print(f"The report is {index}: open it in a browser.", file=sys.stderr)

    return run


def _make_ready(workflow: Any, plan: Plan, fresh: Collection[str]) -> None:
    """Lock the folder, and delete the manifests of jobs that run again.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    plan : Plan
    fresh : collection of str
        Stages whose outcomes are deleted. Their manifests stay: Snakemake would start measurements
        whose routes have none.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    with explain_write_errors(plan.results, plan.results / "x"):
        lock_results(plan.results)
        announce_run()
        for cause in plan.quarantined:
            print(f"{cause}; its runs fail, the others continue.", file=sys.stderr)
        for cause in plan.left_out:
            print(f"{cause}; it is measured only where a study names it.", file=sys.stderr)
        _tell_of_new_code(plan, "are")
        _print_again(plan, "will be tried again")
        plan.write_specs()
        (plan.results / PLAN / CODE).write_text(core_digest())
        _skip_finished_comparisons(plan)
        if fresh:
            _forget(plan, fresh)
            _force(workflow, plan, fresh)


def _forget(plan: Plan, fresh: Collection[str]) -> None:
    """Delete the outcomes of some stages, and the pages that show them.

    Other files stay until new ones replace them. A page would stay, too, if the run is killed
    before it: new results do not change a manifest, whose checksum Snakemake compares.
    """
    for name, study_plan in plan.studies.items():
        if any(study_plan.jobs.get(kind) for kind in fresh):
            (plan.results / "report" / name / "index.html").unlink(missing_ok=True)
    for job in plan.jobs.values():
        if job.kind not in fresh:
            continue
        if isinstance(job, SurveyJob):
            for path in store(job.results).folder.glob(f"*{SUFFIX}"):
                path.unlink()
        else:
            job.outcome.unlink(missing_ok=True)


def _force(workflow: Any, plan: Plan, fresh: Collection[str]) -> None:
    """Let Snakemake run the batches of some stages, and those with jobs that are not done."""
    folders = {job.folder for job in plan.jobs_to_repeat()}
    forced = (
        str(plan.manifest(batch))
        for batch in plan.batches_to_do
        if batch.kind in fresh or any(job.folder in folders for job in batch.jobs)
    )
    settings = workflow.dag_settings
    settings.forcerun = {*settings.forcerun, *forced}


def _skip_finished_comparisons(plan: Plan) -> None:
    """Skip finished comparisons whose routes will be computed again, for example by an upgrade.

    Snakemake would start them because of the new routes, and request nodes for nothing. Those of
    an earlier version have no manifest.
    """
    for key, batch in plan.batches.items():
        if batch.kind != ComparisonJob.kind:
            continue
        files = [plan.manifest(batch), *map(Path, plan.manifests_before(batch))]
        finished = all(job.is_done() for job in batch.jobs)
        if finished and not all(path.exists() for path in files):
            plan.postponed.add(key)


def _warn_of_full_disk(results: Path) -> None:
    """Warn of a full disk, which may have lost the jobs' own messages."""
    if shutil.disk_usage(results).free < SMALL:
        print(
            f"The disk of {results} is full. Free some space and run again; finished jobs are "
            "kept.",
            file=sys.stderr,
        )


def _tell_of_new_code(plan: Plan, are: str) -> None:
    """Tell that all results run again, if the results are those of other code of routelab."""
    try:
        recorded_digest = (plan.results / PLAN / CODE).read_text()
    except OSError:
        recorded_digest = ""
    if recorded_digest != core_digest() and any(Path(name).exists() for name in plan.manifests()):
        print(
            f"routelab's own code has changed since these results: they {are} computed again, "
            "measurements apart.",
            file=sys.stderr,
        )


def _print_again(plan: Plan, action: str) -> None:
    number = plan.failed()
    if number:
        jobs = "job" if number == 1 else "jobs"
        print(f"{number} failed or timed-out {jobs} {action}.", file=sys.stderr)


def _print_equal_tables(plan: Plan) -> None:
    """Print which routings of a comparison have the same table, as far as tables are there."""
    for job in plan.of(ComparisonJob.kind).values():
        if isinstance(job, ComparisonJob) and not job.is_done():
            routings = job.comparison.routings
            digests = {part.id: digest_in(str(part.folder)) for part in routings}
            known = {id_: digest for id_, digest in digests.items() if digest}
            for sentence in equal_tables(known):
                print(f"{job.title}: {sentence}.", file=sys.stderr)


def _print_losses(plan: Plan) -> None:
    """Print all results that are not ok."""
    statuses = plan.statuses()
    for sentence in loss_sentences(statuses):
        print(f"{sentence}.", file=sys.stderr)
    if any(job.status in TRY_AGAIN for job in statuses):
        print("The next run tries failed and stopped jobs again.", file=sys.stderr)


def lock_results(results: Path) -> None:
    """Lock `results` against other runs until this process ends in any way.

    The process ends with one line if another run holds the lock.
    """
    results.mkdir(parents=True, exist_ok=True)
    lock = os.open(results / LOCK, os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        holder = os.read(lock, 100).decode(errors="replace").strip()
        sys.exit(f"another run ({holder}) is working in {results}; wait until it ends, or stop it")
    if not wait_for_jobs(results):
        sys.exit(
            f"jobs of an earlier run are still working in {results}; wait until they end, or stop "
            "them (processes 'routelab batch')"
        )
    os.truncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
