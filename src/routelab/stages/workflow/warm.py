"""Compile kernels once, so that the jobs of a run find them in Numba's cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

from routelab._numba_cache import kernels_digest, marker
from routelab._sources import Sources
from routelab.config import Limits
from routelab.jobs.batches import read_jobs, unique_rehearsals
from routelab.jobs.job import BaseJob, Rehearsal
from routelab.jobs.limits import Breach, run_limited
from routelab.jobs.preparation import PREPARE_SECONDS


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
        that the job and the rehearsal's plugins may call, so editing or installing a plugin asks
        for the rehearsals of that plugin only.
    """
    sources = Sources()
    found = {}
    for rehearsal, job in rehearsals:
        modules = {type(job).__module__, *(name.partition(":")[0] for name in rehearsal.classes)}
        facts = [*rehearsal.key, kernels_digest(modules, sources)]
        name = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
        found[marker(name)] = (rehearsal, job)
    return {path: pair for path, pair in found.items() if not path.exists()}


def compile_kernels(spec: Path, note: Callable[[str], None] = print) -> list[str]:
    """Run the rehearsals of some jobs on tiny networks.

    Parameters
    ----------
    spec : Path
        List of jobs, see `routelab.jobs.batches.write_jobs`.
    note : callable
        Gets a line when each rehearsal begins.

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
    rehearsals = unique_rehearsals(jobs)
    skipped = []
    for number, rehearsal in enumerate(rehearsals, 1):
        note(f"compiling {rehearsal.name} ({number} of {len(rehearsals)})")
        reason = _compile(rehearsal, memory_gb)
        if reason:
            skipped.append(reason)
    return skipped


def _compile(rehearsal: Rehearsal, memory_gb: float) -> str | None:
    """Rehearse in another process, because a plugin may kill or block it."""

    def work() -> int:
        try:
            rehearsal.work()
        except Exception as error:  # the plugin's job reports it in its outcome
            print(f"{rehearsal.name}: {type(error).__name__}: {error}", flush=True)
            return 1
        return 0

    limits = Limits(seconds=PREPARE_SECONDS, memory_gb=memory_gb, idle_seconds=PREPARE_SECONDS)
    ended = run_limited(work, limits)
    if isinstance(ended, Breach):
        return f"{rehearsal.name}: {ended.reason}"
    return f"{rehearsal.name}: see above" if ended else None
