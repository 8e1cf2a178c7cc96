"""No job that a test of limits started outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from routelab.jobs.processes import Descendants


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    tree = Descendants()
    yield
    assert tree.read() == []
