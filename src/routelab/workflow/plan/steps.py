"""The steps of a plan, and what they ask a cluster for: memory and time, from limits of jobs."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

from routelab.jobs.batches import Batch
from routelab.workflow.plan.plan import Plan
from routelab.workflow.stages.comparisons import ComparisonJob
from routelab.workflow.step_file import Step

OVERHEAD_MB = 1000
"""Memory beside the limit of a job, in MiB: two Snakemakes, the batch's own processes, kernels."""

START_MINUTES = 15
"""Time to start, and to compile kernels on a node that has none."""


def memory_mb(batch: Batch) -> int:
    """Return the memory to ask for, in MiB: that of the largest job, as one runs at a time."""
    return OVERHEAD_MB + ceil(max(job.limits.memory_gb for job in batch.jobs) * 1e9 / 2**20)


def minutes(batch: Batch, max_minutes: int) -> int:
    """Return the time to request for a batch, in minutes: each result may reach its time limit.

    Parameters
    ----------
    batch : Batch
    max_minutes : int
        Largest request. A batch that takes longer continues in its next attempt.
    """
    seconds = sum(job.size * job.limits.seconds for job in batch.jobs)
    return min(max_minutes, START_MINUTES + ceil(seconds / 60))


def make_steps(plan: Plan, max_minutes: int) -> dict[str, Step]:
    """Return the steps of a plan, whose lists of work are written.

    Parameters
    ----------
    plan : Plan
    max_minutes : int
        Largest time that a batch asks for, in minutes.

    Returns
    -------
    steps : dict of str to Step
        By the path of the list of work.
    """
    batches = plan.batches.values()
    return {str(plan.spec(batch)): _step(plan, batch, max_minutes) for batch in batches}


def _step(plan: Plan, batch: Batch, max_minutes: int) -> Step:
    """Return the step of a batch; a comparison asks for the nodes and minutes of its study."""
    before: dict[str, tuple[str, ...]] = {}
    for kind, id_ in batch.after:
        manifest = str(plan.manifest(plan.batches[kind, id_]))
        before[kind] = (*before.get(kind, ()), manifest)
    step = Step(
        inputs=batch.inputs,
        before=before,
        work=tuple(plan.work(batch)),
        spec=str(plan.spec(batch)),
        fingerprint=batch.fingerprint,
        priority=batch.priority,
        memory_mb=memory_mb(batch),
        minutes=minutes(batch, max_minutes),
    )
    # A comparison has whole nodes, so it asks for no memory. It must not run again only because of
    # an input that is new: that would cost node-hours.
    job = batch.jobs[0]
    if not isinstance(job, ComparisonJob):
        return step
    return replace(
        step,
        work=tuple(plan.work_to_repeat(batch)),
        memory_mb=0,
        minutes=job.minutes,
        nodes=job.nodes,
        hosts=job.hosts,
        partition=job.partition,
        account=job.account,
        slurm_extra=job.slurm_extra,
        is_done=job.is_done(),
    )
