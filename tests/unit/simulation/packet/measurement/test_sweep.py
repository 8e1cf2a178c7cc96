"""Sweeps and the search for saturation, on queues that saturate at 1 / service time."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from fake_simulation import Queues, Stuck

from routelab.simulation.packet.columns import POOLING
from routelab.simulation.packet.measurement.result import Worst
from routelab.simulation.packet.measurement.saturation import find_saturation
from routelab.simulation.packet.measurement.settings import SimulationSettings
from routelab.simulation.packet.measurement.sweep import sweep_loads

SETTINGS = SimulationSettings(max_cycles=60_000, loads=(0.1, 0.3, 0.6), seeds=2, seed=5)
make = partial(Queues, horizon=70_000)


def search(make, settings, known=(), on_result=None, **limit):
    """Find the saturation load of simulations."""
    measure = partial(sweep_loads, make, settings, on_result=on_result)
    return find_saturation(measure, settings, known, **limit)


def test_the_same_numbers_on_any_number_of_threads():
    def plain(points):
        return [
            {k: v for k, v in run.facts().items() if "cpu" not in k}
            for point in points
            for run in point.runs
        ]

    single, four = sweep_loads(make, SETTINGS, threads=1), sweep_loads(make, SETTINGS, threads=4)
    assert plain(single) == plain(four)
    assert [point.load for point in single] == [0.1, 0.3, 0.6]
    assert [run.seed for run in single[0].runs] == [5, 6]
    assert single[0].runs[0].accepted.value != single[0].runs[1].accepted.value


def test_threads_run_at_once_and_are_heard():
    """Two loads wait for each other: on one thread they would wait forever."""
    meet, on_result = threading.Barrier(2, timeout=60), []

    def slow(load, seed):
        meet.wait()
        return make(load, seed)

    sweep_loads(slow, SETTINGS.model_copy(update={"seeds": 1}), (0.1, 0.3), 2, on_result.append)
    assert sorted(run.load for run in on_result) == [0.1, 0.3]


def test_seeds_are_pooled():
    many = SETTINGS.model_copy(update={"seeds": 4})
    (low, high) = sweep_loads(make, many, (0.4, 0.6))
    errors = [run.latency.mean.error for run in low.runs]
    assert low.latency.error == pytest.approx(np.sqrt(np.sum(np.square(errors))) / 4)
    assert low.latency.low <= Queues(0.4, 0, horizon=9).mean_latency() <= low.latency.high
    assert (low.state, high.state, high.latency) == ("stationary", "saturated", None)
    facts = low.facts()
    assert facts["latency_mean"] == low.latency.value
    assert facts["latency_max"] == max(run.latency.maximum for run in low.runs)
    assert facts["flit_hops"] == sum(run.flit_hops for run in low.runs)
    assert facts["saturated"] is False
    assert high.facts()["latency_p99"] is None
    assert list(facts) == list(low.runs[0].facts())


def test_one_grave_run_makes_its_load_grave():
    def sometimes(load, seed):
        return Stuck(load, seed, at=4000) if seed == 6 else make(load, seed)

    (point,) = sweep_loads(sometimes, SETTINGS, (0.2,))
    assert point.state == "deadlock"
    assert point.facts()["text"].startswith("deadlock: 0 waits")
    assert point.latency is None
    assert point.facts()["latency_mean"] is None


@pytest.mark.parametrize("service", [2, 3])
def test_saturation_is_found(service):
    settings = SimulationSettings(max_cycles=60_000, tolerance=0.02)
    saturation = search(partial(make, service=service), settings)
    # the queue is unstable exactly above; close below it the cycles do not suffice to tell
    assert 0.94 / service <= saturation.load <= 1 / service
    assert saturation.load < saturation.bound <= 1.03 / service
    assert saturation.throughput.value == pytest.approx(1 / service, rel=0.02)
    assert saturation.throughput_at >= saturation.load
    assert saturation.accepted.value == pytest.approx(saturation.load, rel=0.02)
    assert len(saturation.points) <= settings.max_probes
    assert "not monotonic" not in saturation.text


def test_a_network_that_never_saturates():
    saturation = search(partial(make, service=1), SETTINGS.model_copy(update={"seeds": 1}))
    assert (saturation.load, saturation.bound) == (1, np.inf)
    assert saturation.text == "not saturated at any load up to 1"
    assert len(saturation.points) == 4


def test_a_load_that_is_not_sustained_bounds_the_search():
    """A network stuck between 0.2 and 0.27 only: the search does not jump over it."""

    def holed(load, seed):
        return Stuck(load, seed, at=1) if 0.2 < load < 0.27 else make(load, seed)

    settings = SETTINGS.model_copy(update={"seeds": 1, "tolerance": 0.05})
    saturation = search(holed, settings, tuple(sweep_loads(holed, settings, (0.4,))))
    assert 0.18 < saturation.load <= 0.2 < saturation.bound < 0.215
    assert "not monotonic" in saturation.text


def test_known_points_and_few_probes():
    def stuck(load, seed):
        return Stuck(load, seed, at=1) if load > 0.3 else make(load, seed)

    settings = SETTINGS.model_copy(update={"seeds": 1, "max_probes": 4})
    known = tuple(sweep_loads(stuck, settings, (0.25, 0.5)))
    saturation = search(stuck, settings, known)
    assert len(saturation.points) == 6
    assert set(known) <= set(saturation.points)
    assert "max_probes=4" in saturation.text


def test_search_ends_when_no_load_of_six_decimals_is_left():
    def stuck(load, seed):
        return Stuck(load, seed, at=1) if load > 0.3 else make(load, seed)

    settings = SETTINGS.model_copy(update={"seeds": 1, "tolerance": 1e-7, "max_probes": 50})
    saturation = search(stuck, settings)
    assert (saturation.load, saturation.bound) == (0.3, 0.300001)
    assert len(saturation.points) < 35
    assert "max_probes" not in saturation.text


def test_a_sweep_that_brackets_saturation_needs_few_more_loads():
    """What is accepted beyond saturation tells where to look; other loads above it tell nothing."""
    settings = SETTINGS.model_copy(update={"seeds": 1, "tolerance": 0.05})
    known = tuple(sweep_loads(make, settings, (0.1, 0.2, 0.3, 0.8)))
    tried = []
    saturation = search(make, settings, known, on_result=lambda run: tried.append(run.load))
    assert 0.475 <= saturation.load <= 0.5 < saturation.bound <= 0.525
    assert len(tried) <= 2
    assert max(tried) < 0.55


@pytest.mark.parametrize("max_cycles", [6400, 10_000, 60_000])
@pytest.mark.parametrize("service", [2, 4])
def test_short_runs_find_the_same_saturation(service, max_cycles):
    """Close to it they are undecided; what surely arrives tells enough."""
    settings = SimulationSettings(max_cycles=max_cycles, tolerance=0.05, precision=0.05)
    saturation = search(partial(make, service=service), settings)
    assert 0.94 / service <= saturation.load <= 1.03 / service
    assert saturation.bound <= 1.08 / service


def test_an_undecided_load_of_which_much_is_lost_is_not_taken():
    """No backlog grows where packets vanish, yet half of the load is not what a network takes."""

    class Lossy(Queues):
        def run(self, cycles):
            sample = super().run(cycles)
            kept = sample.ejected_flits // 2
            return replace(sample, ejected_flits=kept, latency_sum=self.now**2)

    settings = SETTINGS.model_copy(update={"seeds": 1, "tolerance": 0.05, "max_cycles": 6400})
    points = sweep_loads(partial(Lossy, horizon=70_000), settings, (0.1, 0.2, 0.3, 0.4))
    assert {point.state for point in points} == {"undecided"}
    saturation = search(partial(Lossy, horizon=70_000), settings, tuple(points))
    assert saturation.load == 0


def test_an_undecided_load_above_the_capacity_of_a_terminal_is_not_sustained():
    """A hot terminal is full long before the mean over all terminals tells."""

    class Rising(Queues):
        def run(self, cycles):
            return replace(super().run(cycles), latency_sum=self.now**2)

    settings = SETTINGS.model_copy(update={"seeds": 1, "tolerance": 0.05, "max_cycles": 6400})
    rising = partial(Rising, horizon=70_000)
    points = tuple(sweep_loads(rising, settings, (0.1, 0.2, 0.3, 0.4)))
    assert {point.state for point in points} == {"undecided"}
    assert search(rising, settings, points).load > 0.35
    saturation = search(rising, settings, points, limit=0.25)
    assert 0.22 < saturation.load <= 0.25 < saturation.bound <= 0.27


def test_the_load_of_several_seeds_is_the_one_asked_for():
    """The mean of three times 0.1 is not 0.1."""
    (point,) = sweep_loads(make, SETTINGS.model_copy(update={"seeds": 3}), (0.1,))
    assert point.facts()["load"] == 0.1


@pytest.mark.parametrize(("messages", "terminal"), [(0, 1), (10, 2)])
def test_the_worst_served_terminal_is_that_of_the_worst_run(messages, terminal):
    """With messages the share is a time, and a longer one is worse."""
    (point,) = sweep_loads(make, SETTINGS.model_copy(update={"seeds": 3}), (0.1,))
    settings = SETTINGS.model_copy(update={"messages": messages})
    worst = (Worst(-1, float("nan")), Worst(1, 0.5), Worst(2, 1.5))
    runs = [
        replace(run, settings=settings, worst=of_run)
        for run, of_run in zip(point.runs, worst, strict=True)
    ]
    for order in permutations(runs):
        facts = replace(point, runs=order).facts()
        assert (facts["worst_terminal"], facts["worst_share"]) == (terminal, terminal - 0.5)
    without = replace(point, runs=[replace(run, worst=worst[0]) for run in runs])
    assert without.facts()["worst_terminal"] is None


@pytest.mark.parametrize(("seeds", "seed"), [(1, 5), (3, None)])
def test_a_pooled_row_claims_no_seed(seeds, seed):
    settings = SETTINGS.model_copy(update={"seeds": seeds, "seed": 5})
    (point,) = sweep_loads(make, settings, (0.1,))
    facts = point.facts()
    assert (facts["seed"], facts["seeds"]) == (seed, seeds)


def test_columns_say_how_seeds_are_pooled(monkeypatch):
    (point,) = sweep_loads(make, SETTINGS.model_copy(update={"seeds": 3}), (0.1,))
    each = [run.facts() for run in point.runs]
    assert set(each[0]) - {"seed", "seeds"} <= set(POOLING)
    facts = point.facts()
    assert facts["offered_min"] == min(row["offered_min"] for row in each)
    assert facts["cycles"] == sum(row["cycles"] for row in each)
    assert facts["hops_max"] == max(row["hops_max"] for row in each)
    monkeypatch.setitem(POOLING, "hops_max", "sum")
    assert point.facts()["hops_max"] == sum(row["hops_max"] for row in each)
