"""Compile kernels once, so that the jobs of a run find them in numba's cache."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from routelab.artifacts.atomic import atomic_file
from routelab.config import Limits
from routelab.jobs.batches import read_jobs, unique_rehearsals
from routelab.jobs.job import Rehearsal
from routelab.jobs.limits import Breach, run_limited
from routelab.jobs.preparation import PREPARE_SECONDS


def compile_kernels(spec: Path, stamp: Path, note: Callable[[str], None] = print) -> list[str]:
    """Run the rehearsals of some jobs on tiny networks.

    Parameters
    ----------
    spec : Path
        List of jobs, see `routelab.jobs.batches.write_jobs`.
    stamp : Path
        File that marks the kernels as compiled.
    note : callable
        Gets a line when each rehearsal begins.

    Returns
    -------
    skipped : list of str
        Rehearsals that failed; the jobs compile what they need.

    Raises
    ------
    InputError
        If a file cannot be read or written.
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
    with atomic_file(stamp) as new:
        new.write_text("\n".join(["warm", *skipped]) + "\n", encoding="utf-8")
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
