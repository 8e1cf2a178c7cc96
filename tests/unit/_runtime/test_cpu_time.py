"""CPU time that is finer than the kernel's ticks."""

from __future__ import annotations

import subprocess
import sys

WORK = """
import resource
from routelab._runtime.cpu_time import cpu_time
resource.setrlimit(resource.RLIMIT_CPU, (100, 200))
times = []
for _ in range(50):
    before = cpu_time()
    sum(range(10_000))
    times.append(cpu_time() - before)
print(min(times) > 0)
"""


def test_short_work_takes_time_also_below_a_limit() -> None:
    run = subprocess.run([sys.executable, "-c", WORK], capture_output=True, text=True, check=True)
    assert run.stdout == "True\n"
