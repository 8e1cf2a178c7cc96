"""Rankings of candidates, beside a naive twin; more than 64 are ranked in several words of bits."""

from __future__ import annotations

from dataclasses import replace

import decision_programs as weigh
import numpy as np
from decision_programs import decision_program
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from routelab.api import Demand, needed_classes
from routelab.kernels.hops import pick_word, word_after
from routelab.simulation.packet.engine import Simulation
from routelab.simulation.packet.kernels import layout as at
from routelab.simulation.packet.kernels.arrays import engine_at
from routelab.simulation.packet.kernels.candidates import next_change, rank_candidates
from routelab.simulation.packet.router import Router
from routelab.simulation.packet.traffic import OpenLoop
from routelab.toolkit import build_grid

TORUS = build_grid("torus", (3, 3), True, terminals=2)
PROGRAM = replace(
    decision_program(
        TORUS, weigh.NOTHING, ranking="best", again=True, fixed=True, by_occupancy=True
    ),
    candidates=200,
)
QUEUE = 5


@njit
def rank(places, now):
    rank_candidates(engine_at(places), 0, QUEUE, now)


@njit
def change(places, now):
    return next_change(engine_at(places), 0, QUEUE, now)


def ranked(count, lanes, seed):
    """Return a simulation with random candidates of one queue, and their rows."""
    router = Router(
        vcs=lanes * needed_classes(PROGRAM), buffer_flits=8, output_buffer_flits=0, speedup=1
    )
    traffic = OpenLoop(Demand.uniform(TORUS, ""), 0.5)
    simulation = Simulation(TORUS, PROGRAM, router, traffic, seed=seed)
    engine, random = simulation._engine, np.random.default_rng(seed)
    engine.queues["choices"][QUEUE] = count
    rows = engine.candidates[QUEUE * 200 : QUEUE * 200 + count]
    classes = len(engine.queues) // lanes
    rows["first"] = lanes * random.integers(0, classes, count)
    rows["out"] = rows["first"] // router.vcs
    rows["kind"] = lanes << at.NUM_VCS | 1
    rows["penalty"] = random.integers(0, 3, count)
    queues = len(engine.queues)
    engine.room["credits"][:queues] = engine.room["capacity"][:queues]
    engine.room["credits"][:queues] -= random.integers(0, 3, queues, dtype=np.int32)
    engine.outputs["free_at"][:] = 100 * random.permutation(len(engine.outputs))
    return simulation, rows, random


def cost_of(engine, row, lanes):
    room = engine.room[row["first"] : row["first"] + lanes]
    return int(row["penalty"] + (room["capacity"] - room["credits"]).sum())


@settings(max_examples=60)
@given(st.integers(2, 200), st.integers(1, 2), st.integers(0, 1000), st.integers(0, 100))
def test_rankings_are_those_of_a_naive_twin(count, lanes, seed, now):
    simulation, rows, random = ranked(count, lanes, seed)
    engine = simulation._engine
    costs = [cost_of(engine, row, lanes) for row in rows]
    chosen = rows[0]
    for ties, k in enumerate(np.flatnonzero(np.array(costs) == min(costs))):
        place = (now * len(engine.queues) + QUEUE) * at.MOST_CHOICES + ties
        with np.errstate(over="ignore"):
            word = word_after(np.uint64((int(engine.setting[at.S_TIES]) + int(place)) % 2**64))
        if ties == 0 or pick_word(word, np.uint64(ties + 1)) == 0:
            chosen = rows[k]
    rank(simulation._places, now)
    assert engine.queues[QUEUE][["out", "first"]].tolist() == chosen[["out", "first"]].tolist()

    # some queues become longer before the packet stalls
    longer = rows["first"][random.random(count) < random.choice([0, 0.3, 1])]
    engine.room["credits"][np.unique(longer)] -= 1
    costs = [cost_of(engine, row, lanes) for row in rows]
    times = [
        max(now + 1, engine.outputs["free_at"][row["out"]] - engine.outputs["slack"][row["out"]])
        for row, cost in zip(rows, costs, strict=True)
        if cost == min(costs)
        and (engine.space["credits"][row["first"] : row["first"] + lanes] > 0).any()
    ]
    engine.watches["lowest"][QUEUE] = rows["penalty"].min()
    assert change(simulation._places, now) == min(times, default=-1)
    assert engine.watches["most"][QUEUE] == min(costs) - rows["penalty"].min()
