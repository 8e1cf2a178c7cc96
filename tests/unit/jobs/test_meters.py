"""What a job tells its supervisor: the item it works on, and what it does there."""

from __future__ import annotations

import mmap
import os
import time

import pytest
from limited_jobs import TIMEOUT, compute, limits

from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure
from routelab.jobs.meter import Meter, current_meter
from routelab.study import Limits

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def test_released_limits_do_not_hold() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin(1)
        return compute(1)

    assert run_limited(work, lambda: None if meter.position else limits(0.3), meter=meter) == 0


def test_each_item_has_the_time_of_the_limit() -> None:
    meter = Meter()

    def work() -> int:
        for position in range(4):
            meter.begin(position)
            meter.note(f"item {position}")
            compute(0.4 if position < 3 else 60)
        return 0

    reason = "reached its limit of 1 CPU-s (limits.seconds) in item 3"
    assert run_limited(work, limits(1), meter=meter) == Failure(TIMEOUT, reason)
    assert meter.position == 3


def test_an_item_that_ended_meanwhile_is_not_the_one_that_is_stopped() -> None:
    """The job goes on to the next item after the supervisor has looked at it."""
    meter = Meter()
    flags = mmap.mmap(-1, 2)

    def work() -> int:
        compute(0.6)
        flags[0] = 1
        while not flags[1]:
            pass
        meter.begin(1)
        return compute(0.3)

    def present() -> Limits:
        late = bool(flags[0])
        while not flags[0]:
            time.sleep(0.01)
        flags[1] = late
        while late and meter.position == 0:
            time.sleep(0.01)
        return limits(0.5)

    assert run_limited(work, present, meter=meter) == 0


def test_spare_time_is_that_of_one_item() -> None:
    meter = Meter()

    def work() -> int:
        meter.begin(0, spare=1.5)
        compute(1.2)
        meter.begin(1)
        compute(1.2)
        return 0

    reason = "reached its limit of 0.6 CPU-s (limits.seconds)"
    assert run_limited(work, limits(0.6), meter=meter) == Failure(TIMEOUT, reason)
    assert meter.position == 1


def test_only_the_job_itself_has_a_meter() -> None:
    meter = Meter()

    def work() -> int:
        child = os.fork()
        if child == 0:
            os._exit(0 if current_meter() is None else 1)
        return 10 * (current_meter() is meter) + os.waitpid(child, 0)[1]

    assert current_meter() is None
    assert run_limited(work, meter=meter) == 10


def test_a_job_can_supervise_jobs() -> None:
    outer, inner = Meter(), Meter()

    def job() -> int:
        meter = current_meter()
        assert meter is inner
        meter.note("below")
        return compute(60)

    def work() -> int:
        outer.note("above")
        ended = run_limited(job, limits(0.5), meter=inner)
        assert isinstance(ended, Failure)
        assert ended.reason.endswith("in below")
        assert current_meter() is outer
        # time that an inner supervisor has waited for counts in the outer one
        return compute(60)

    reason = "reached its limit of 1 CPU-s (limits.seconds) in above"
    assert run_limited(work, limits(1), meter=outer) == Failure(TIMEOUT, reason)
