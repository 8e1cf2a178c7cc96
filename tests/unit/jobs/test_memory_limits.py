"""Memory of a job with all its processes counts."""

from __future__ import annotations

import os
import time

import pytest
from limited_jobs import FAILED, limits

from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure
from routelab.jobs.processes import read_process

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def allocate(megabytes: int) -> bytearray:
    return bytearray(os.urandom(1 << 20)) * megabytes


def test_memory_that_processes_share_counts_once() -> None:
    # the job shares the memory of these tests, too, which may be large by now
    resident = read_process(os.getpid()).resident

    def work() -> int:
        block = allocate(150)
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(60)
        time.sleep(1.5)
        return len(block) % 2

    assert run_limited(work, limits(memory_gb=0.25 + resident / 1e9)) == 0


def test_private_memory_of_all_processes_counts() -> None:
    def work() -> int:
        for _ in range(4):
            if os.fork() == 0:
                _block = allocate(150)
                time.sleep(60)
        time.sleep(60)
        return 0

    reason = "reached its limit of 0.4 GB (limits.memory_gb)"
    assert run_limited(work, limits(memory_gb=0.4)) == Failure(FAILED, reason)
