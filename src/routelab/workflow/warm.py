"""Compile kernels once, so that the jobs of a run find them in Numba's cache.

    compilation  a tiny piece of work that calls, and so compiles, the kernels of many jobs
    marker       file that says that the kernels of a compilation, from these sources, are compiled
    cold         without a marker
    lock         file that a run locks while it compiles; batches wait for their kernels as long

Jobs compile themselves what is missing if a compilation fails.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from routelab._runtime.numba_cache import kernels_digest, marker
from routelab.jobs.batches import read_jobs, results_of, write_jobs
from routelab.jobs.job import BaseJob, Compilation
from routelab.jobs.limits import Failure
from routelab.jobs.worker import Item, run_items
from routelab.study import Limits
from routelab.workflow.plan.plan import PLAN, Plan
from routelab.workflow.stages.simulations import SimulationJob

LOCK = "warm.lock"
"""File in the folder of the plan that a run holds while it compiles kernels."""

PREPARE_SECONDS = 300.0
"""CPU time for routing or simulating a tiny network, with compilation."""


def cold_compilations(
    compilations: Iterable[tuple[Compilation, BaseJob]],
) -> dict[Path, tuple[Compilation, BaseJob]]:
    """Return the compilations whose kernels are not compiled yet: those without a marker.

    Parameters
    ----------
    compilations : iterable of (Compilation, BaseJob)
        Each with a job that needs it.

    Returns
    -------
    compilations : dict of Path to (Compilation, BaseJob)
        By the marker, the empty file to create when the kernels are compiled.
    """
    by_marker = {_marker(*pair): pair for pair in compilations}
    return {path: pair for path, pair in by_marker.items() if not path.exists()}


def _marker(compilation: Compilation, job: BaseJob) -> Path:
    """Return the file that marks a compilation of a job as done.

    Its name has the digest of the kernels that the job and the compilation's plugins may call. So
    editing or installing a plugin requires the compilations of that plugin only.
    """
    # the name of a class is "module:Class"
    modules = {type(job).__module__, *(name.partition(":")[0] for name in compilation.classes)}
    facts = [*compilation.key, kernels_digest(modules)]
    return marker(hashlib.sha256(repr(facts).encode()).hexdigest()[:32])


def start_compiling(plan: Plan, cores: int) -> Callable[[bool], None]:
    """Begin to compile the kernels of the plan's jobs that are missing in Numba's cache.

    Jobs that start together would each compile the same kernels. So each batch waits until its
    kernels are compiled here: see `wait_for_kernels`. If a compilation fails, the jobs compile what
    they need. Kernels are compiled in the order of the studies.

    This is not a Snakemake job on which others depend. If a job must run, Snakemake does not check
    the parameters of the jobs that depend on it, not even if they use its output as ``ancient()``.
    So after an edit of a kernel, which makes that job run, stale results would stay.

    Parameters
    ----------
    plan : Plan
    cores : int
        Number of cores of the run.

    Returns
    -------
    finish : callable
        To be called at the end of the run, or before. With True it waits until all is compiled;
        with False, for a run that failed, it terminates the compilation.

    Raises
    ------
    InputError
        If a list of jobs cannot be written.
    """
    # 1. The compilations whose kernels are not in the cache, and their jobs. Each job is listed
    #    once, although it may have several compilations.
    to_compile = cold_compilations(plan.compilations().values())
    if not to_compile:
        return lambda finished: None
    log = plan.results / "logs" / "warm.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    jobs = list({job.folder: job for _, job in to_compile.values()}.values())
    # Two processes: kernels of packets take half of the time, and other jobs do not use them.
    shares = [jobs]
    if cores > 1:
        packet_jobs = [job for job in jobs if job.kind == SimulationJob.kind]
        other_jobs = [job for job in jobs if job.kind != SimulationJob.kind]
        shares = [share for share in (other_jobs, packet_jobs) if share]
    print("Compiling kernels; this is needed once per version of the code.", file=sys.stderr)
    # 2. Take the lock before anything else begins: batches wait for their kernels while it is held.
    lock = os.open(plan.results / PLAN / LOCK, os.O_RDWR | os.O_CREAT)
    with suppress(OSError):  # without locks batches do not wait
        fcntl.flock(lock, fcntl.LOCK_EX)
    # 3. Compile in other processes, and follow them in a thread: the run goes on meanwhile.
    log_stream = log.open("w")
    processes, lines = _start_processes(plan, shares, log_stream)
    # a process runs all compilations of its jobs, also those whose kernels are in the cache
    total = len(unique_compilations(jobs))
    is_terminated = threading.Event()

    def follow() -> None:
        """Wait for the processes; then release all batches and mark the kernels as compiled."""
        with lines, log_stream:
            _show_progress(lines, log_stream, total)
        exit_codes = [process.wait() for process in processes]
        os.close(lock)  # this ends the lock, for which batches wait
        if not any(exit_codes):  # all processes have succeeded
            for marker_file in to_compile:
                with suppress(OSError):  # without the marker, the next run compiles again
                    marker_file.touch()
        elif not is_terminated.is_set():
            message = f"Some kernels could not be compiled before the jobs, see {log}."
            print(message, file=sys.stderr)

    follower = threading.Thread(target=follow, daemon=True)
    follower.start()

    # 4. A run that ends early terminates the processes. Their exit codes are then not reported as
    #    failures.
    def finish(finished: bool) -> None:
        if not finished:
            is_terminated.set()
            for process in processes:
                process.terminate()
        follower.join()

    return finish


def _start_processes(
    plan: Plan, shares: Sequence[Sequence[BaseJob]], errors: TextIO
) -> tuple[list[subprocess.Popen[bytes]], TextIO]:
    """Start a process for each share of the jobs; return them and the stream of their output."""
    first_study = next(iter(plan.studies.values()))
    first_jobs = {job.folder for jobs in first_study.jobs.values() for job in jobs}
    reading, writing = os.pipe()
    processes = []
    for number, share in enumerate(shares, 1):
        spec = plan.results / PLAN / f"warm-{number}.json"
        write_jobs(share, spec, plan.results)
        # A share has its jobs in the order of the studies, so its first job tells whether it has
        # kernels of the first study. If not, it must not slow down that study.
        priority = [] if share[0].folder in first_jobs else ["nice", "-n", "10"]
        command = [*priority, "routelab", "warm", str(spec)]
        # in the group of this process, so that a terminal interrupts them with it
        processes.append(subprocess.Popen(command, stdout=writing, stderr=errors))
    os.close(writing)  # only the processes hold the pipe open, so the stream ends with them
    return processes, os.fdopen(reading, errors="replace")


def _show_progress(lines: Iterable[str], log: TextIO, total: int) -> None:
    """Copy output of the processes to the log; print each compilation as "… (3 of 10)"."""
    number = 0
    for line in lines:
        log.write(line)
        log.flush()
        if line.startswith("compiling "):
            number += 1
            print(f"{line.rstrip()} ({number} of {total})", file=sys.stderr, flush=True)


def wait_for_kernels(spec: Path) -> None:
    """Wait until the kernels of a batch are compiled, or a run compiles no more.

    Parameters
    ----------
    spec : Path
        List of jobs, see `routelab.jobs.batches.write_jobs`.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    results = results_of(spec)
    if results is None:
        return
    try:
        lock = os.open(results / PLAN / LOCK, os.O_RDWR)
    except FileNotFoundError:
        return
    # without a run that compiles, there is nothing to wait for
    jobs = [job for job in read_jobs(spec) if not job.is_done()] if _is_held(lock) else []
    pairs = ((compilation, job) for job in jobs for compilation in job.compilations())
    markers = list(cold_compilations(pairs))
    while not all(path.exists() for path in markers) and _is_held(lock):
        time.sleep(0.1)
    os.close(lock)


def _is_held(lock: int) -> bool:
    """Return whether a run that compiles kernels holds the lock.

    The run's lock is exclusive. To look, a batch takes a shared lock for a moment, which does not
    keep other batches from looking.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no locks here
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return False


def compile_kernels(spec: Path, note: Callable[[str], None] = print) -> list[str]:
    """Run the compilations of some jobs on tiny networks, in a worker process with limits.

    Parameters
    ----------
    spec : Path
        List of jobs, see `routelab.jobs.batches.write_jobs`.
    note : callable
        Gets a line when each compilation begins, in the process of the compilation.

    Returns
    -------
    skipped : list of str
        Compilations that failed; the jobs compile what they need.

    Raises
    ------
    InputError
        If a file cannot be read.
    """
    jobs = read_jobs(spec)
    memory_gb = max((job.limits.memory_gb for job in jobs), default=4.0)
    limits = Limits(seconds=PREPARE_SECONDS, memory_gb=memory_gb)
    markers = {
        compilation.key: _marker(compilation, job)
        for job in jobs
        for compilation in job.compilations()
    }
    skipped: list[str] = []

    def worker_item(compilation: Compilation) -> Item:
        def run() -> None:
            """Compile the kernels; exceptions are only printed."""
            note(f"compiling {compilation.name}")
            try:
                compilation.work()
            except MemoryError:  # the worker explains it by its limit
                raise
            except (Exception, SystemExit) as error:  # the plugin's job reports it in its outcome
                print(f"{compilation.name}: {type(error).__name__}: {error}", flush=True)
            else:
                # batches that wait for these kernels may begin; else the run marks them at its end
                with suppress(OSError):
                    markers[compilation.key].touch()

        def record(failure: Failure) -> None:  # the worker ended: time, memory or a crash
            skipped.append(f"{compilation.name}: {failure.reason}")

        return Item(compilation.name, limits, run, record)

    # one worker, because Numba compiles functions of NumPy again in every process
    run_items([worker_item(compilation) for compilation in unique_compilations(jobs)])
    return skipped


def unique_compilations(jobs: Iterable[BaseJob]) -> list[Compilation]:
    """Return the compilations of some jobs, without duplicates."""
    compilations = (compilation for job in jobs for compilation in job.compilations())
    return list({compilation.key: compilation for compilation in compilations}.values())
