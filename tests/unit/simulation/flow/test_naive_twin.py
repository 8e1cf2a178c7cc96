"""The flow engine and a model in plain Python that shares nothing with it agree."""

import numpy as np
import pytest
from flow_cases import cases, simulation
from hypothesis import given
from naive_flow import Naive

from routelab.simulation.flow.paths import Paths
from routelab.simulation.flow.result import StuckError


def compare(case):
    table, terminal, schedule, machine, seed = case
    engine = simulation(case)
    naive = Naive(schedule, Paths.create(table, terminal), machine, seed).run()
    if naive.stuck:
        with pytest.raises(StuckError) as caught:
            engine.run()
        assert [wait.rank for wait in caught.value.waiting] == naive.stuck
        return
    engine.run()
    result = engine.result()
    last = len(schedule.tape)
    expected = [naive.marks[rank, last] for rank in range(schedule.ranks)]
    np.testing.assert_allclose(result.finish, expected, rtol=1e-9, atol=1e-15)
    assert result.seconds == pytest.approx(max(expected), rel=1e-9, abs=1e-15)
    assert result.messages == naive.messages
    topology = table.topology
    for name, values in (
        ("channel", result.channel_bytes),
        ("in", result.injected_bytes),
        ("out", result.ejected_bytes),
        ("memory", result.memory_bytes),
    ):
        size = topology.num_channels if name == "channel" else topology.num_terminals
        assert values.tolist() == [naive.resource_bytes.get((name, k), 0.0) for k in range(size)]


@given(cases())
def test_programs_end_when_they_do_in_plain_python(case):
    compare(case)


@given(cases(may_stick=True))
def test_programs_that_cannot_go_on_are_seen_as_such(case):
    compare(case)


@given(cases())
def test_shares_computed_where_something_changed_are_those_computed_anew(case):
    partial, full = simulation(case), simulation(case, recompute_all=True)
    partial.run()
    full.run()
    np.testing.assert_allclose(partial.result().finish, full.result().finish, rtol=1e-9, atol=1e-15)


@given(cases())
def test_a_seed_fixes_all_numbers(case):
    ends = []
    for _ in range(2):
        engine = simulation(case)
        engine.run()
        ends.append(engine.result())
    assert ends[0].finish.tolist() == ends[1].finish.tolist()
    assert ends[0].channel_bytes.tolist() == ends[1].channel_bytes.tolist()
