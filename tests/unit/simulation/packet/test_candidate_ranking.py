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
def rank(addresses, now):
    rank_candidates(engine_at(addresses), 0, QUEUE, now)


@njit
def change(addresses, now):
    return next_change(engine_at(addresses), 0, QUEUE, now)


def ranked(count, lanes, seed):
    """Return a simulation with random candidates of one queue, and their rows."""
    router = Router(
        vcs=lanes * needed_classes(PROGRAM), buffer_flits=8, output_buffer_flits=0, speedup=1
    )
    traffic = OpenLoop(Demand.uniform(TORUS, ""), 0.5)
    simulation = Simulation(TORUS, PROGRAM, router, traffic, seed=seed)
    engine, random = simulation._engine, np.random.default_rng(seed)
    engine.queues["num_candidates"][QUEUE] = count
    rows = engine.candidates[QUEUE * 200 : QUEUE * 200 + count]
    classes = len(engine.queues) // lanes
    rows["first_queue"] = lanes * random.integers(0, classes, count)
    rows["out_port"] = rows["first_queue"] // router.vcs
    rows["vc_request"] = lanes << at.VCS_SHIFT | 1
    rows["penalty"] = random.integers(0, 3, count)
    queues = len(engine.queues)
    engine.room["credits"][:queues] = engine.room["capacity"][:queues]
    engine.room["credits"][:queues] -= random.integers(0, 3, queues, dtype=np.int32)
    engine.outputs["free_at"][:] = 100 * random.permutation(len(engine.outputs))
    return simulation, rows, random


def cost_of(engine, row, lanes):
    room = engine.room[row["first_queue"] : row["first_queue"] + lanes]
    return int(row["penalty"] + (room["capacity"] - room["credits"]).sum())


@settings(max_examples=60)
@given(st.integers(2, 200), st.integers(1, 2), st.integers(0, 1000), st.integers(0, 100))
def test_rankings_are_those_of_a_naive_twin(count, lanes, seed, now):
    simulation, rows, random = ranked(count, lanes, seed)
    engine = simulation._engine
    costs = [cost_of(engine, row, lanes) for row in rows]
    chosen = rows[0]
    for ties, k in enumerate(np.flatnonzero(np.array(costs) == min(costs))):
        place = (now * len(engine.queues) + QUEUE) * at.MAX_CANDIDATES + ties
        with np.errstate(over="ignore"):
            word = word_after(np.uint64((int(engine.setting[at.S_TIE_SEED]) + int(place)) % 2**64))
        if ties == 0 or pick_word(word, np.uint64(ties + 1)) == 0:
            chosen = rows[k]
    rank(simulation._addresses, now)
    assert (
        engine.queues[QUEUE][["out_port", "first_queue"]].tolist()
        == chosen[["out_port", "first_queue"]].tolist()
    )

    # some queues become longer before the packet stalls
    longer = rows["first_queue"][random.random(count) < random.choice([0, 0.3, 1])]
    engine.room["credits"][np.unique(longer)] -= 1
    costs = [cost_of(engine, row, lanes) for row in rows]
    idle_at = engine.outputs["free_at"] - engine.outputs["slack"]
    times = [
        max(now + 1, idle_at[row["out_port"]])
        for row, cost in zip(rows, costs, strict=True)
        if cost == min(costs)
        and (engine.space["credits"][row["first_queue"] : row["first_queue"] + lanes] > 0).any()
    ]
    engine.watches["least_penalty"][QUEUE] = rows["penalty"].min()
    assert change(simulation._addresses, now) == min(times, default=-1)
    assert engine.watches["max_units"][QUEUE] == min(costs) - rows["penalty"].min()
