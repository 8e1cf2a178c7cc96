"""No process that a test of limits started outlives it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from routelab.jobs.processes import present_children


@pytest.fixture
def nothing_is_left() -> Iterator[None]:
    before = present_children()
    yield
    # a child of an earlier test may have ended meanwhile
    assert present_children() <= before
