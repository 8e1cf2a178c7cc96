"""Errors are the same when they come out of a child process."""

from __future__ import annotations

import pickle

import pytest

from routelab.api import InputError, UnsupportedError
from routelab.simulation.flow.result import StuckError, WaitingRank
from routelab.study.errors import ConfigError

STUCK = WaitingRank(rank=3, kind=1, peers=(0,), block="b", tape_index=0, operation=0, seconds=0.5)


@pytest.mark.parametrize(
    "error",
    [
        InputError("a"),
        UnsupportedError("b"),
        ConfigError(["first line", "second line"]),
        StuckError("nothing happens", (STUCK,)),
    ],
)
def test_they_are_pickled_whole(error):
    error.add_note("traceback")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
