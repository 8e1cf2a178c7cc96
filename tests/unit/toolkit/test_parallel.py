"""Ranges in threads: all of them once, in order, side by side."""

from __future__ import annotations

import threading

import pytest

from routelab.toolkit.parallel import over_ranges


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 7, 100])
def test_ranges_make_up_the_whole(
    threads: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", str(threads))
    ranges = over_ranges(lambda first, last: (first, last), count, least=3)
    assert [k for first, last in ranges for k in range(first, last)] == list(range(count))
    assert len(ranges) == max(1, min(threads, count // 3))


def test_threads_run_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    meeting = threading.Barrier(2, timeout=30)
    # neither would come back if the other one waited for its end
    assert len(over_ranges(lambda first, last: meeting.wait(), 2, least=1)) == 2


def test_exceptions_of_threads_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    with pytest.raises(ZeroDivisionError):
        over_ranges(lambda first, last: 1 // first, 2, least=1)
