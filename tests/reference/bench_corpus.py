"""The outputs in tests/data/bench, with what is expected of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from routelab.api import BenchmarkPlugin, BenchmarkTask, FigureOfMerit, RunOutput
from routelab.registry.instances import canonical_with_parameters, load

DATA = Path(__file__).parents[1] / "data" / "bench"


@dataclass(frozen=True)
class Case:
    plugin: str
    name: str
    text: str
    expected: dict[str, Any]

    def benchmark(self) -> BenchmarkPlugin:
        return _benchmark(self.plugin, json.dumps(self.expected.get("parameters", {})))

    def task(self) -> BenchmarkTask | None:
        ranks = self.expected["ranks"]
        return None if ranks is None else BenchmarkTask(ranks, 1, Path("program"), Path("run"))

    def output(self, text: str | None = None) -> RunOutput:
        return RunOutput(
            self.text if text is None else text,
            self.expected.get("stderr", ""),
            self.expected.get("exit_code"),
        )

    def figures(self) -> tuple[FigureOfMerit, ...]:
        return tuple(FigureOfMerit(*row) for row in self.expected["figures"])

    def __str__(self) -> str:
        return f"{self.plugin}/{self.name}"


@cache
def _benchmark(plugin: str, parameters: str) -> BenchmarkPlugin:
    return load("benchmark", canonical_with_parameters("benchmark", plugin, json.loads(parameters)))


def read(file: Path) -> Case:
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    return Case(file.parent.name, file.stem, file.read_bytes().decode(), expected)


CASES = [read(file) for file in sorted(DATA.glob("*/*.txt"))]
GOOD = [case for case in CASES if "figures" in case.expected]
LIES = [case for case in CASES if "failure" in case.expected]
PLUGINS = ("imb-alltoall", "mpi-patterns", "npb", "osu-alltoall")

FOREIGN = (
    "srun: job 17 queued and waiting for resources",
    "srun: job 17 has been allocated resources",
    "Loading mpich/3.3",
    "  Loading requirement: gcc/12.2.0",
    "Sun Nov  1 10:00:09 UTC 2026",
    "So 22. Nov 10:00:00 CET 2026",
    "[1700000000.123456] [node:4157 :0]   ib_device.c:1234 UCX  WARN  mlx5_0:1 is down",
    "[1700000000.123456] [node:4157:0]    ib_device.c:1234 UCX  WARN  mlx5_0:1 is down",
    "[node:4157:0]   parser.c:2036 UCX  WARN  unused environment variable: UCX_HOME",
    "[0] MPI startup(): libfabric version: 1.18.0-impi",
    "real\t0m7.832s",
    "real 7.83",
    " 10:00:00 up 17 days,  3:04,  2 users,  load average: 0.52, 0.58, 0.59",
    "WARNING: There was an error initializing an OpenFabrics device.",
    "  Local host:   n04",
    "--------------------------------------------------------------------------",
    "# a comment of the job script",
    "Völlig fremd: ±0,5 µs",
    "",
)
"""Lines that other programs print into the same output."""
