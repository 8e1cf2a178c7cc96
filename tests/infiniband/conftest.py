"""Simulated InfiniBand fabrics; without their programs the tests are skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from simulated_fabric import PACKAGES, SimulatedFabric, missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = missing()
    for item in items:
        if item.path.parent.name == "infiniband" and item.path.parent.parent.name == "tests":
            item.add_marker(pytest.mark.infiniband)
            if absent:
                reason = f"needs {', '.join(absent)}: install Debian's packages {PACKAGES}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def simulate(tmp_path: Path) -> Iterator[Callable[[Path], SimulatedFabric]]:
    """A function that starts a fabric; all are stopped after the test."""
    running: list[SimulatedFabric] = []

    def start(network: Path) -> SimulatedFabric:
        running.append(SimulatedFabric(network, tmp_path / f"fabric{len(running)}"))
        return running[-1]

    yield start
    for fabric in running:
        fabric.stop()
