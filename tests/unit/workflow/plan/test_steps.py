"""What parts ask a cluster for, and which numbers of hours are accepted."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.jobs.batches import Batch
from routelab.study.study import Limits
from routelab.workflow.cluster_options import longest_minutes, submits_parts
from routelab.workflow.plan.steps import memory_mb, minutes
from routelab.workflow.stages.routes import RouteJob


def batch(*limits: Limits) -> Batch:
    jobs = [
        RouteJob(folder=f"r/{i}", topology="net", text="dor", limits=each)
        for i, each in enumerate(limits)
    ]
    return Batch("routes", "small-1", tuple(jobs))


def test_memory_is_that_of_the_largest_limit_and_of_the_processes_around_it():
    assert memory_mb(batch(Limits(memory_gb=1), Limits(memory_gb=4), Limits(memory_gb=2))) == 4815


@pytest.mark.parametrize(
    ("seconds", "longest", "expected"),
    [
        ((60, 60, 61), 240, 15 + 4),
        ((3600, 3600, 3600, 3600), 240, 240),
        ((600,), 10, 10),
        ((0.5,), 240, 16),
    ],
)
def test_time_is_the_sum_of_limits_up_to_the_longest(seconds, longest, expected):
    assert minutes(batch(*(Limits(seconds=each) for each in seconds)), longest) == expected


def test_a_job_with_several_results_asks_for_the_time_of_each(monkeypatch):
    monkeypatch.setattr(RouteJob, "size", 5)
    assert minutes(batch(Limits(seconds=120)), 240) == 15 + 10


@pytest.mark.parametrize(
    ("hours", "expected"), [(4, 240), ("0.5", 30), (12.0, 720), ("1e-1", 6), (None, 240)]
)
def test_hours_are_numbers_of_any_spelling(hours, expected):
    assert longest_minutes({} if hours is None else {"job_hours": hours}) == expected


@pytest.mark.parametrize("hours", ["x", "", "-1", 0, "nan", "inf", "4h", [4], None, "0.001"])
def test_other_hours_are_refused(hours):
    with pytest.raises(InputError, match=r"^job_hours=.*: must be a number of hours"):
        longest_minutes({"job_hours": hours})


def test_only_two_values_say_what_is_submitted():
    assert submits_parts({})
    assert submits_parts({"submit": "all"})
    assert not submits_parts({"submit": "measurements"})
    with pytest.raises(InputError, match=r"^submit=parts: must be 'all' or 'measurements'"):
        submits_parts({"submit": "parts"})
