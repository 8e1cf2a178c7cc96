"""A private Slurm with up to 32 nodes on this machine; without Slurm the tests are skipped."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cluster import PACKAGES, VirtualSlurm, missing


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    lacking = missing()
    for item in items:
        if item.path.parent.name == "slurm":
            item.add_marker(pytest.mark.slurm)
            if lacking:
                reason = f"needs {', '.join(lacking)}: install Debian's packages {PACKAGES}"
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def running() -> Iterator[Callable[[int], VirtualSlurm]]:
    """A function that gives the Slurm with so many nodes; each is started once a session."""
    known: dict[int, VirtualSlurm] = {}

    def get(nodes: int) -> VirtualSlurm:
        if nodes not in known:
            known[nodes] = VirtualSlurm(nodes).start()
        return known[nodes]

    yield get
    for slurm in known.values():
        slurm.stop()


@pytest.fixture
def slurm(
    running: Callable[[int], VirtualSlurm], request: pytest.FixtureRequest
) -> Iterator[VirtualSlurm]:
    """A Slurm whose nodes are idle: 8, or as many as an indirect parameter says."""
    slurm = running(getattr(request, "param", 8))
    slurm.tidy()
    yield slurm
    slurm.tidy()
