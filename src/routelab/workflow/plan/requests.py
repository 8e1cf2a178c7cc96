"""What a batch asks a cluster for: memory and time, from the limits of its jobs."""

from __future__ import annotations

from math import ceil

from routelab.jobs.batches import Batch

OVERHEAD_MB = 1000
"""Memory beside the limit of a job, in MiB: two Snakemakes, the batch's own processes, kernels."""

START_MINUTES = 15
"""Time to start, and to compile kernels on a node that has none."""


def memory_mb(batch: Batch) -> int:
    """Return the memory to ask for, in MiB: jobs of a batch follow each other."""
    return OVERHEAD_MB + ceil(max(job.limits.memory_gb for job in batch.jobs) * 1e9 / 2**20)


def minutes(batch: Batch, longest: int) -> int:
    """Return the time to ask for, in which every result may reach its limit.

    Parameters
    ----------
    batch : Batch
    longest : int
        Largest request. A batch that takes longer continues in its next attempt.
    """
    seconds = sum(job.size * job.limits.seconds for job in batch.jobs)
    return min(longest, START_MINUTES + ceil(seconds / 60))
