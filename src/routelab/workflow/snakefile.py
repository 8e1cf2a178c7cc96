"""Functions for the Snakefile: the plan of the selected studies, and the hooks of a run.

Snakemake does not say while it reads the Snakefile whether jobs will run. So `begin_run` writes
only lists of work. `start_run` locks the folder and begins to compile kernels; it is called neither
in dry runs nor if nothing has to be done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from routelab._runtime.sources import core_digest
from routelab.api import InputError
from routelab.cluster.bench.fabric.switching import require_fabric
from routelab.jobs.run_lifetime import end_jobs_on_interrupt, wait_for_jobs
from routelab.registry.requirements import collect_errors
from routelab.results.atomic import explain_write_errors
from routelab.study.cluster.keys import load_cluster, locate_cluster
from routelab.workflow.cluster_options import (
    apply_routing_option,
    longest_minutes,
    submits_parts,
)
from routelab.workflow.console import use_short_lines
from routelab.workflow.options import fresh_stages, select_studies, unknown_keys
from routelab.workflow.plan.expansion import Plan, expand_studies
from routelab.workflow.plan.plan import PLAN
from routelab.workflow.plan.steps import make_steps
from routelab.workflow.results_lock import lock_results
from routelab.workflow.run_messages import (
    CODE,
    print_equal_tables,
    print_full_disk,
    print_losses,
    print_new_code,
    print_repetitions,
)
from routelab.workflow.stages.comparisons import ComparisonJob
from routelab.workflow.step_file import VARIABLE, Step, write_steps
from routelab.workflow.warm import start_compiling

RESULTS = Path("results")


@dataclass
class _Run:
    """The run of this process.

    Attributes
    ----------
    plan : Plan
    fresh : collection of str
        Kinds of jobs to compute again although they are finished.
    steps : mapping of str to Step
        By the path of the list of work.
    problem : str
        Why lists of work could not be written; empty if they were.
    step_file : Path, optional
        File with the steps, which jobs on other machines read; None if there are no such jobs.
    finish_compiling : callable
        With True it waits until all kernels are compiled, with False it ends the compilation; see
        `start_compiling`.
    """

    plan: Plan
    fresh: Collection[str]
    steps: Mapping[str, Step]
    problem: str = ""
    step_file: Path | None = None
    finish_compiling: Callable[[bool], None] = lambda finished: None


_runs: list[_Run] = []


def begin_run(workflow: Any, config: Mapping[str, Any]) -> tuple[Plan, dict[str, Step]]:
    """Return the plan and the steps of a Snakemake run.

    The main process of Snakemake also writes the lists of work (the jobs of each batch), unless
    another run is working in the folder or it cannot be written. Invalid input ends the process
    with one message.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    config : mapping
        Snakemake's configuration:

        - ``studies``: a list, or text with commas or plus signs. Its items are paths that end in
          ``.yaml``, or names of studies: those of files in ``config/studies`` and its folders, with
          or without the folder.
        - ``cluster``: measured on instead of those that the studies name.
        - ``apply_routing``: see `apply_routing_option`.
        - ``fresh``: see `fresh_stages`.
        - ``submit``: see `submits_parts`.
        - ``job_hours``: see `longest_minutes`.
    """
    # 1. Options and studies. Each process of Snakemake reads them, those of single jobs, too.
    try:
        # a Snakefile that includes ours passes its own keys, too
        if workflow.modifier.is_main_snakefile():
            unknown = unknown_keys(config)
            if unknown and workflow.is_main_process:
                print(f"routelab reads no config {', '.join(unknown)}.", file=sys.stderr)
        applies_routings = bool(apply_routing_option(config))
        submits_parts(config)  # refuses an invalid value now, in every process
        max_minutes = longest_minutes(config)
        fresh = fresh_stages(config.get("fresh"))
        cluster = str(config.get("cluster") or "")
        plan = expand_studies(select_studies(config.get("studies")), RESULTS, cluster)
        if cluster and not plan.of(ComparisonJob.kind):
            for study_plan in plan.studies.values():  # an InputError if there is no such cluster
                locate_cluster(study_plan.study.path.parent, cluster, "config cluster")
            raise InputError(f"config cluster={cluster}: none of the studies measures on a cluster")
        if applies_routings:
            check_fabrics(plan)
    except InputError as error:
        sys.exit(str(error))
    # 2. The lists of work, and messages about what a run would do. Finished comparisons are skipped
    #    first, because their lists are not written.
    problem = ""
    if workflow.is_main_process:
        use_short_lines(workflow, plan, submits_parts(config))
        print_new_code(plan)
        _skip_finished_comparisons(plan)
        print_repetitions(plan)
        print_equal_tables(plan)
        problem = _write_lists(plan, fresh)
    # 3. The steps: their inputs are the lists that could be written.
    steps = make_steps(plan, max_minutes)
    if workflow.is_main_process:
        _runs.append(_Run(plan=plan, fresh=fresh, steps=steps, problem=problem))
    return plan, steps


def _write_lists(plan: Plan, fresh: Collection[str]) -> str:
    """Write the lists of work; return why that is impossible, or an empty text.

    If it is impossible, the batches without a list of an earlier run are added to `plan.unlisted`.
    """
    try:
        # "x" stands for any file in the folder: errors about all of them are explained.
        with explain_write_errors(plan.results, plan.results / "x"):
            lock = lock_results(plan.results)
            try:
                plan.write_lists(fresh)
            finally:
                os.close(lock)
    except InputError as error:
        print(f"The lists of work stay as they are: {error}.", file=sys.stderr)
        plan.unlisted.update(
            key for key, batch in plan.batches.items() if not plan.spec(batch).exists()
        )
        return str(error)
    return ""


def start_run(workflow: Any) -> None:
    """Lock the folder, forget fresh stages and begin to compile kernels: Snakemake's ``onstart``.

    The process ends with one message if the folder cannot be written, or if another run or one of
    its jobs works there.
    """
    if workflow.touch or not workflow.is_main_process:  # `--touch` only marks files as up to date
        return
    run = _runs[-1]
    cores = workflow.resource_settings.cores or 1
    try:
        # "x" stands for any file in the folder, as in `_write_lists`
        with explain_write_errors(run.plan.results, run.plan.results / "x"):
            _prepare_results(run)
            if workflow.non_local_exec:
                # Jobs on other machines read the steps. The variables are registered as by
                # `envvars:` in a Snakefile: an executor passes them to its jobs, also if its submit
                # command does not pass on the environment.
                run.step_file = write_steps(run.steps, run.plan.results / PLAN / "steps")
                os.environ[VARIABLE] = str(run.step_file)
                cache_variables = ("ROUTELAB_CACHE_DIR", "NUMBA_CACHE_DIR")
                set_variables = [name for name in cache_variables if name in os.environ]
                workflow.register_envvars(VARIABLE, *set_variables)
        run.finish_compiling = start_compiling(run.plan, cores)
        if any(batch.kind == ComparisonJob.kind for batch in run.plan.batches_to_do):
            # wait for the kernels: compiling would disturb measurements on this machine
            run.finish_compiling(True)
    except InputError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Interrupted. Run the same command again to continue.")
    end_jobs_on_interrupt()


def end_run(workflow: Any, finished: bool) -> None:
    """Print what is missing: Snakemake's ``onsuccess`` and ``onerror``.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    finished : bool
        Whether no step failed or was interrupted.
    """
    if workflow.touch or not workflow.is_main_process:
        return
    run = _runs[-1]
    # without the file, a job that is still in the queue of a cluster ends as soon as it starts
    if run.step_file is not None:
        run.step_file.unlink(missing_ok=True)
    run.finish_compiling(finished)
    print_full_disk(run.plan.results)
    print_losses(run.plan)
    index = run.plan.results / "report" / "index.html"
    if finished and index.is_file():
        print(f"The report is {index}: open it in a browser.", file=sys.stderr)


def _prepare_results(run: _Run) -> None:
    """Lock the folder, wait until jobs of an earlier run have ended, and forget fresh stages."""
    plan = run.plan
    # If the lists of work could not be written, Snakemake has decided by older lists what to run.
    if run.problem:
        raise InputError(run.problem)
    lock = lock_results(plan.results)
    if not wait_for_jobs(plan.results):
        raise InputError(
            f"jobs of an earlier run are still working in {plan.results}; wait until they end, or "
            "stop them (processes 'routelab batch'; on a cluster, jobs that squeue lists)"
        )
    # another run that finds the folder locked prints this line, to say who holds the lock
    os.truncate(lock, 0)
    os.write(lock, f"process {os.getpid()} on {os.uname().nodename}\n".encode())
    for cause in plan.quarantined:
        print(f"{cause}; its runs fail, the others continue.", file=sys.stderr)
    for cause in plan.left_out:
        print(f"{cause}; it is measured only where a study names it.", file=sys.stderr)
    (plan.results / PLAN / CODE).write_text(core_digest())
    for job in plan.jobs.values():
        if job.kind in run.fresh:
            job.forget()


def check_fabrics(plan: Plan) -> None:
    """Refuse to apply routings where a comparison that would be measured lacks a fabric.

    Raises
    ------
    InputError
        Names every cluster whose file lacks it, if a comparison there has several routings.
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


def _skip_finished_comparisons(plan: Plan) -> None:
    """Postpone finished comparisons without their manifest, or that of their network or routes.

    Otherwise Snakemake would start them after the new routes, and request nodes for nothing.
    Comparisons of an earlier version of routelab have no manifest.
    """
    for key, batch in plan.batches.items():
        if batch.kind != ComparisonJob.kind:
            continue
        files = [plan.manifest(batch), *map(Path, plan.manifests_before(batch))]
        is_finished = all(job.is_done() for job in batch.jobs)
        if is_finished and not all(path.exists() for path in files):
            plan.postponed.add(key)
