"""Jobs under limits: what tests of them share."""

from __future__ import annotations

import math
import time

from routelab.study import Limits

TIMEOUT = "timeout"
FAILED = "failed"


def limits(seconds: float = math.inf, memory_gb: float = math.inf) -> Limits:
    return Limits(seconds=seconds, memory_gb=memory_gb)


def compute(seconds: float) -> int:
    """Use so much CPU time, however long it takes."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
    return 0
