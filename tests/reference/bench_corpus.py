"""The outputs in tests/data/bench, with what is expected of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from routelab.api import BenchmarkPlugin, BenchmarkTask, FigureOfMerit, RunOutput
from routelab.registry.instances import from_mapping, load

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
    return load("benchmark", from_mapping("benchmark", plugin, json.loads(parameters)))


def read(file: Path) -> Case:
    expected = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
    return Case(file.parent.name, file.stem, file.read_bytes().decode(), expected)


CASES = [read(file) for file in sorted(DATA.glob("*/*.txt"))]
GOOD = [case for case in CASES if "figures" in case.expected]
LIES = [case for case in CASES if "failure" in case.expected]
PLUGINS = ("imb-alltoall", "mpi-patterns", "npb", "osu-alltoall")
