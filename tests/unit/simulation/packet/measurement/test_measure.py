"""Measurements of queues of which theory knows the answers."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from fake_simulation import Batch, Queues, Stuck

from routelab.simulation.packet.counts import CycleCounts
from routelab.simulation.packet.measurement.measure import measure_simulation
from routelab.simulation.packet.measurement.result import jain_index
from routelab.simulation.packet.measurement.samples import Samples
from routelab.simulation.packet.measurement.settings import SimulationSettings

SETTINGS = SimulationSettings(max_cycles=100_000)


@cache
def standard(seed):
    """A run at four fifths of saturation."""
    return measure_simulation(Queues(0.4, seed), SETTINGS)


def test_latency_and_load_are_right():
    """Geo/D/1: the mean is inside about 95 % of the intervals, and accepted is offered."""
    runs = [standard(seed) for seed in range(20)]
    assert all(run.state == "stationary" for run in runs)
    true = Queues(0.4, 0, horizon=10).mean_latency()
    assert sum(run.latency.mean.low <= true <= run.latency.mean.high for run in runs) >= 17
    assert sum(run.accepted.low <= 0.4 <= run.accepted.high for run in runs) >= 17
    for run in runs:
        assert run.latency.mean.half_width <= 0.02 * run.latency.mean.value
        assert run.accepted.half_width <= 0.02 * run.accepted.value


def test_percentiles():
    """Those of a run a hundred times as long are inside most intervals."""
    long = Queues(0.4, 99, terminals=64, horizon=200_000)
    long.run(200_000)
    true = long.counts().latency
    runs = [standard(seed) for seed in range(20)]
    for share, name in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
        estimates = [getattr(run.latency, name) for run in runs]
        # latencies are whole cycles
        hits = [
            estimate.low - 1 <= true.quantile(share) <= estimate.high + 1 for estimate in estimates
        ]
        assert sum(hits) >= 17, name


@pytest.mark.parametrize("until", [2000, 4500])
def test_a_warm_up_step_is_waited_for(until):
    """The first cycles feel 50 more, which the measurement does not.

    4,500 are more than the least warm-up: what is unlike the rest is found while counting.
    """
    run = measure_simulation(Queues(0.4, 1, extra=50, until=until), SETTINGS)
    assert until <= run.warmup_cycles <= 10 * until
    assert run.latency.maximum < 50
    assert run.warmup_cycles + run.cycles <= SETTINGS.max_cycles


@pytest.mark.parametrize("load", [0.51, 0.55, 0.7, 1.0])
def test_a_saturated_load_has_no_latency(load):
    run = measure_simulation(Queues(load, 2), SETTINGS)
    assert (run.state, run.saturated) == ("saturated", True)
    assert run.latency is run.network_latency is run.message_latency is None
    assert run.facts()["latency_mean"] is run.facts()["latency_p99"] is None
    assert run.accepted.value == pytest.approx(0.5, rel=0.01)
    assert run.offered == pytest.approx(load, rel=0.02)
    assert "backlog grows" in run.text


@pytest.mark.parametrize("load", [0.05, 0.3, 0.48])
def test_below_saturation_no_run_says_saturated(load):
    states = {measure_simulation(Queues(load, seed), SETTINGS).state for seed in range(4)}
    assert "saturated" not in states
    assert "stationary" in states


def test_too_few_cycles_are_reported():
    short = SETTINGS.model_copy(update={"max_cycles": 6400})
    near = measure_simulation(Queues(0.49, 3, terminals=1), short)
    assert near.state in ("undecided", "stationary")
    assert "max_cycles=6400" in near.text
    drifting = Queues(0.4, 3)
    drifting.latency = drifting.latency + drifting.leave // 10
    drifting.sums = np.concatenate(([0], np.cumsum(drifting.latency)))
    run = measure_simulation(drifting, SETTINGS)
    assert (run.state, run.saturated, run.latency) == ("undecided", None, None)


def test_rare_packets_are_waited_for():
    """A sample sees a packet now and then; latencies are told of a thousand."""
    run = measure_simulation(Queues(0.002, 4), SETTINGS)
    assert run.state == "stationary"
    assert run.counts.latency.total >= 1000
    assert run.latency.mean.value == pytest.approx(Queues(0.002, 0).mean_latency(), rel=0.02)


@pytest.mark.parametrize(
    "change",
    [{"sample_cycles": s} for s in (50, 200)] + [{"warmup_cycles": w} for w in (2000, 8000)],
)
def test_results_do_not_depend_on_sample_and_warm_up_length(change):
    """Halved or doubled, they move numbers within the intervals told."""
    outside = 0
    for seed in range(6):
        usual_run = standard(seed)
        other = measure_simulation(Queues(0.4, 100 + seed), SETTINGS.model_copy(update=change))
        for first, second in (
            (usual_run.accepted, other.accepted),
            (usual_run.latency.mean, other.latency.mean),
        ):
            outside += abs(first.value - second.value) > first.half_width + second.half_width
    assert outside <= 1


def test_deadlock_is_a_verdict():
    early = measure_simulation(Stuck(0.3, 1, at=1000), SETTINGS)
    late = measure_simulation(Stuck(0.3, 1, at=5000), SETTINGS)
    for run in (early, late):
        assert (run.state, run.latency, run.saturated) == ("deadlock", None, None)
        assert run.text == "deadlock: 0 waits for 1, 1 for 0"
    assert (early.warmup_cycles, early.cycles) == (0, 3000)
    assert 5000 <= late.warmup_cycles + late.cycles <= 7000


def test_messages_to_be_finished():
    settings = SimulationSettings(messages=10)
    run = measure_simulation(Batch(0.0, 1), settings)
    assert (run.state, run.completion_cycles, run.saturated) == ("finished", 1234, None)
    assert run.worst.terminal == 5
    assert run.worst.share == pytest.approx(1234 / ((7 * 617 + 1234) / 8))
    assert run.latency.mean.value == run.counts.latency.mean
    short = measure_simulation(Batch(0.0, 1), SimulationSettings(messages=10, finish_within=1000))
    assert (short.state, short.completion_cycles, short.latency) == ("unfinished", None, None)


def test_further_facts_of_a_measurement():
    run = standard(1)
    assert run.senders == 8
    assert run.hops_mean == 3
    assert run.escape_share == pytest.approx(1 / 3)
    assert (run.utilisation.minimum, run.utilisation.maximum) == (0, 7)
    assert run.network_latency.mean.value == 2
    assert run.in_order_latency is None
    assert run.flit_hops == 3 * run.counts.latency.total
    spread = run.accepted_by_terminal
    assert spread.mean == pytest.approx(run.accepted.value)
    assert spread.minimum <= spread.lower_quartile <= spread.median <= spread.upper_quartile
    assert 0.99 < run.jain <= 1
    assert run.worst.share == min(run.counts.delivered / run.counts.generated)
    facts = run.facts()
    assert facts["accepted_load_low"] < facts["accepted_load"] < facts["accepted_load_high"]
    assert facts["hops_max"] == 3
    assert not any(isinstance(v, float) and np.isnan(v) for v in facts.values())


def test_jain():
    assert jain_index(np.full(5, 0.3)) == pytest.approx(1)
    assert jain_index(np.array([1.0, 0, 0, 0])) == pytest.approx(1 / 4)
    assert np.isnan(jain_index(np.zeros(3)))


def series(growth, seed, rows=64):
    """Samples of 100 cycles, 40 flits each on average, with a backlog of noise and growth."""
    random = np.random.default_rng(seed)
    generated = random.poisson(40, rows)
    backlog = random.poisson(5, rows) + np.round(growth * 40 * np.arange(rows)).astype(int)
    ejected = generated - np.diff(backlog, prepend=0)
    samples = Samples(100)
    for entered, arrived in zip(generated.tolist(), ejected.tolist(), strict=True):
        samples.add(CycleCounts(100, entered, entered, arrived, arrived, 9 * arrived, 9, 0, 5, 0))
    return samples


def test_a_backlog_that_certainly_does_not_grow():
    """The generated flits alone are uncertain by 4 %, the backlog's growth by 0.1 %."""
    still = [series(0, seed) for seed in range(100)]
    assert all(samples.rate(0.95).half_width > 0.02 * samples.rate(0.95).value for samples in still)
    assert sum(samples.is_balanced(0.02) for samples in still) >= 90
    assert not any(series(0.03, seed).is_balanced(0.02) for seed in range(100))
    # a slower growth is a drift
    assert sum(series(0.01, seed).is_balanced(0.02) for seed in range(100)) <= 1
    assert not Samples(100).is_balanced(0.02)
