"""Compile kernels once, so that the jobs of a run find them in Numba's cache."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from routelab._runtime.numba_cache import kernels_digest, marker
from routelab.jobs.batches import read_jobs, unique_rehearsals, write_jobs
from routelab.jobs.child import run_limited
from routelab.jobs.job import BaseJob, Rehearsal
from routelab.jobs.limits import Failure
from routelab.jobs.meter import Meter, current_meter
from routelab.jobs.warm_up import PREPARE_SECONDS
from routelab.study import Limits
from routelab.workflow.plan.plan import PLAN, Plan
from routelab.workflow.stages.simulations import SimulationJob


def cold(rehearsals: Iterable[tuple[Rehearsal, BaseJob]]) -> dict[Path, tuple[Rehearsal, BaseJob]]:
    """Return the rehearsals without a marker for the present sources of kernels.

    Parameters
    ----------
    rehearsals : iterable of (Rehearsal, BaseJob)
        Each with a job that has it.

    Returns
    -------
    cold : dict
        By the marker file to write when finished. Its name has the digest of the kernels
        that the job and the rehearsal's plugins may call. So editing or installing a plugin
        requires the rehearsals of that plugin only.
    """
    by_marker = {}
    for rehearsal, job in rehearsals:
        modules = {type(job).__module__, *(name.partition(":")[0] for name in rehearsal.classes)}
        facts = [*rehearsal.key, kernels_digest(modules)]
        name = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
        by_marker[marker(name)] = (rehearsal, job)
    return {path: pair for path, pair in by_marker.items() if not path.exists()}


def warm_kernels(plan: Plan, cores: int) -> None:
    """Compile the kernels of the plan's jobs into numba's cache, unless that was done before.

    Many cold jobs would each compile all of them. This is not a job on which others depend:
    Snakemake does not look for changed parameters of jobs behind one that must run, not even if
    they use its output as ``ancient()``. It would leave stale results after an edit of a
    kernel. Jobs compile kernels themselves if this fails.
    """
    to_compile = cold(plan.rehearsals().values())
    if not to_compile:
        return
    log = plan.results / "logs" / "warm.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    jobs = list({job.folder: job for _, job in to_compile.values()}.values())
    print("Compiling kernels; this is needed once per version of the code.", file=sys.stderr)
    reading, writing = os.pipe()
    with log.open("w") as stream:
        processes = []
        for number, share in enumerate(_shares(jobs) if cores > 1 else [jobs], 1):
            spec = plan.results / PLAN / f"warm-{number}.json"
            write_jobs(share, spec, plan.results)
            command = ["routelab", "warm", str(spec)]
            processes.append(subprocess.Popen(command, stdout=writing, stderr=stream))
        os.close(writing)
        total, number = len(unique_rehearsals(jobs)), 0
        with os.fdopen(reading, errors="replace") as lines:
            for line in lines:
                stream.write(line)
                stream.flush()
                if line.startswith("compiling "):
                    number += 1
                    print(f"{line.rstrip()} ({number} of {total})", file=sys.stderr, flush=True)
    codes = [process.wait() for process in processes]
    if any(codes):
        print(f"Some kernels could not be compiled before the jobs, see {log}.", file=sys.stderr)
        return
    for file in to_compile:
        with suppress(OSError):  # the next run compiles again, then
            file.touch()


def _shares(jobs: Sequence[BaseJob]) -> list[list[BaseJob]]:
    """Split jobs for two processes: kernels of packets take half of the time and are used alone."""
    packets = [job for job in jobs if job.kind == SimulationJob.kind]
    other_jobs = [job for job in jobs if job.kind != SimulationJob.kind]
    return [share for share in (other_jobs, packets) if share]


def compile_kernels(spec: Path, note: Callable[[str], None] = print) -> list[str]:
    """Run the rehearsals of some jobs on tiny networks.

    Parameters
    ----------
    spec : Path
        List of jobs, see `routelab.jobs.batches.write_jobs`.
    note : callable
        Gets a line when each rehearsal begins, in the process of the rehearsal.

    Returns
    -------
    skipped : list of str
        Rehearsals that failed; the jobs compile what they need.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    jobs = read_jobs(spec)
    memory_gb = max((job.limits.memory_gb for job in jobs), default=4.0)
    limits = Limits(seconds=PREPARE_SECONDS, memory_gb=memory_gb, idle_seconds=PREPARE_SECONDS)
    rehearsals = unique_rehearsals(jobs)
    skipped: list[str] = []
    first = 0
    while first < len(rehearsals):
        meter = Meter()
        # another process, because a plugin may kill or block it; one process for many rehearsals,
        # because Numba compiles functions of NumPy again in every process
        ending = run_limited(partial(_rehearse, rehearsals, first, note), limits, meter=meter)
        if ending == 0:
            break
        name = rehearsals[meter.position].name
        skipped.append(f"{name}: {ending.reason if isinstance(ending, Failure) else 'see above'}")
        first = meter.position + 1
    return skipped


def _rehearse(rehearsals: Sequence[Rehearsal], first: int, note: Callable[[str], None]) -> int:
    """Do rehearsals from `first` on until one fails; the meter has the position of the last."""
    meter = current_meter()
    assert meter is not None
    for position, rehearsal in enumerate(rehearsals[first:], first):
        meter.begin(position)
        note(f"compiling {rehearsal.name}")
        try:
            rehearsal.work()
        except Exception as error:  # the plugin's job reports it in its outcome
            print(f"{rehearsal.name}: {type(error).__name__}: {error}", flush=True)
            return 1
    return 0
