"""Checks of routings that decide hop by hop; they are skipped for routings with a table.

Most of them read the *exploration* of a trial: all states that packets of the program can reach,
with the violations of the contract that the search has met, as texts by name (`problems`).
"""

from __future__ import annotations

import numpy as np

from routelab.api import HopProgram, needed_classes
from routelab.deadlock.fixed_states import explore_fixed
from routelab.deadlock.hop_checker import verdict_from_states
from routelab.deadlock.program_code import find_hidden_state
from routelab.deadlock.reachable_states import ReachableStates
from routelab.routing.routing import Routing
from routelab.testing.bare_network import require_minimal
from routelab.testing.checks.common import list_some
from routelab.testing.hop_by_hop import explore_or_skip, least_channels
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial

DECISION_PROBLEMS = (
    "channel",
    "class",
    "count",
    "penalty",
    "columns",
    "waypoint",
    "cells",
    "memory",
)
"""Problems of an exploration that concern single decisions."""


def decides_hop_by_hop(trial: Trial) -> bool:
    """Whether the routing decides hop by hop and has no table."""
    return isinstance(trial.result, HopProgram)


def bounds(trial: Trial) -> str:
    """Check that functions use only valid indices and classes."""
    if not decides_hop_by_hop(trial):
        raise Skipped("it has a route table")
    return f"{trial.hop_calls} calls of hop in plain Python"


def candidates(trial: Trial) -> str:
    """Check that candidates leave the switch on valid classes, and which columns are written.

    If the program declares `HopProgram.fixed`, also check in a sample of states that its candidates
    depend on nothing but what the declaration allows.
    """
    exploration = _exploration(trial)
    problems = [text for name, text in exploration.problems.items() if name in DECISION_PROBLEMS]
    if exploration.program.fixed and not problems:
        problems = list(explore_fixed(exploration.program, exploration.topology).problems.values())
    if problems:
        raise Failed(list_some(problems))
    return exploration.coverage


def progress(trial: Trial) -> str:
    """Check that every walk ends within the claimed number of hops, for all random words.

    The exploration tries all outcomes of the draws that hop and inject make from a random word,
    unless these are too many.
    """
    exploration = _exploration(trial)
    if "max-hops" in exploration.problems:
        raise Failed(exploration.problems["max-hops"])
    if exploration.program.max_hops is None:
        raise Skipped("no claim that walks end")
    # `longest` has the hops of each pair's longest walk; there may be no pair
    return f"at most {int(exploration.findings.longest.max(initial=0))} hops"


def random_words(trial: Trial) -> str:
    """Check that the same arguments give the same candidates, whatever was called before.

    Functions get a random word as an argument, so they need no random generator with a state.
    """
    # The exploration finds what shows when calls are repeated.
    exploration = _exploration(trial)
    if "random" in exploration.problems:
        raise Failed(
            f"{exploration.problems['random']}; draw from the random word only, "
            "with pick and another"
        )
    # What does not show may still be in the code, such as a clock or a random generator.
    hidden_state = find_hidden_state(exploration.program)
    if hidden_state:
        raise Failed(
            f"{hidden_state} may differ between equal calls; use arguments, constants and "
            "NumPy's operations only, and draw with pick and another"
        )
    return ""


def dead_ends(trial: Trial) -> str:
    """Check that a packet always has a candidate if the network connects its ends."""
    exploration = _exploration(trial)
    if "dead-end" in exploration.problems:
        raise Failed(f"{exploration.problems['dead-end']}; offer one, or refuse the network")
    return ""


def minimal(trial: Trial) -> str:
    """Check that no walk is longer than the shortest route on the bare network."""
    exploration = _exploration(trial)
    topology = exploration.topology
    # The exploration has a longest walk for each connected pair of switches; of terminals, if the
    # program is `by_terminal`. `lengths` has a row and a column for each endpoint, −1 for others.
    num_endpoints = len(topology.endpoints)
    endpoint_index = np.full(topology.num_switches, -1)
    endpoint_index[topology.endpoints] = np.arange(num_endpoints)
    source, target = endpoint_index[exploration.pairs].T  # a row of `pairs`: source, destination
    lengths = np.full((num_endpoints, num_endpoints), -1, dtype=np.int32)
    # two switches have several pairs of terminals: the longest walk of all
    np.maximum.at(lengths, (source, target), exploration.findings.longest)
    return require_minimal(topology, lengths)


def multipath(trial: Trial) -> str:
    """Check that all packets of a pair take the same route, unless several are claimed."""
    example = _exploration(trial).several_routes
    if example:
        raise Failed(f"packets may take several routes, but it does not claim multipath: {example}")
    return ""


def virtual_channels(trial: Trial) -> str:
    """Check programs with the least supported number of virtual channels, and with more.

    The routing must support them, and its programs must not need more than they are given.
    """
    claim = trial.subject.capabilities.virtual_channels
    routing = Routing(trial.subject.plugin)
    least, _ = least_channels(routing, trial.value)
    needed = needed_classes(trial.result)
    if needed > least:
        raise Failed(f"it supports {least} virtual channels, and its program needs {needed}")
    if claim is not None and least > claim:
        raise Failed(f"it claims {claim} virtual channels, and refuses fewer than {least}")
    # With more, a routing may have more classes: one channel more, and twice as many, are samples.
    for more in (least + 1, 2 * least):
        reason = routing.supports(trial.value, more)
        if reason is not None:
            raise Failed(f"it supports {least} virtual channels and refuses {more}: {reason}")
        needed = needed_classes(routing.prepare(trial.value, more))
        if needed > more:
            raise Failed(f"it supports {more} virtual channels, and its program needs {needed}")
    return f"{least} virtual channels"


def deadlock_free(trial: Trial) -> str:
    """Check that the named proof holds over all reachable states, under virtual cut-through."""
    routing = Routing(trial.subject.plugin)
    if routing.proof in ("recovery", "none"):
        raise Skipped("no claim to be free of deadlock")
    explorations = [_exploration(trial)]
    # A program for the least number of virtual channels may have one for each class. With one more,
    # the class `rest`, which gets all that other classes leave, has several: check that, too.
    if trial.result.rest is not None:
        least, _ = least_channels(routing, trial.value)
        program = routing.prepare(trial.value, least + 1)
        has_escapes = routing.proof == "duato"
        explorations.append(explore_or_skip(program, trial.value, least + 1, escapes=has_escapes))
    for exploration in explorations:
        # a proof over wrong candidates proves nothing
        if exploration.problems:
            raise Skipped("its candidates are wrong, see the other checks")
        verdict = verdict_from_states(exploration, routing.proof)
        if not verdict.proven:
            cycle = verdict.describe_cycle()
            raise Failed(f"proof {verdict.proof}: {verdict.reason}: {list_some(cycle)}")
    return f"{routing.proof}: {verdict.reason}"


def _exploration(trial: Trial) -> ReachableStates:
    """Return all states that packets can reach; skip the check for a routing with a table."""
    if not decides_hop_by_hop(trial):
        raise Skipped("it has a route table")
    return trial.exploration
