"""Checks of routings that decide hop by hop; those with a table have none of this."""

from __future__ import annotations

import numpy as np

from routelab.api import HopProgram, needed_classes
from routelab.deadlock.hop_by_hop import judge_states
from routelab.deadlock.hop_states import Exploration
from routelab.testing.bare_network import bare_lengths
from routelab.testing.checks.common import listed
from routelab.testing.hop_by_hop import least_channels, part, states
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial

FORM = ("channel", "class", "count", "penalty", "columns", "waypoint")
"""Problems of an exploration that are about single answers."""


def decides(trial: Trial) -> bool:
    """Whether what is tried decides hop by hop."""
    return isinstance(trial.result, HopProgram)


def bounds(trial: Trial) -> str:
    """Functions use no index that does not exist, and ask for classes that exist."""
    if not decides(trial):
        raise Skipped("it has a table of routes")
    return f"{trial.bounded_calls} calls of hop in plain Python"


def candidates(trial: Trial) -> str:
    """Candidates leave the switch, on classes that there are; functions write what is theirs."""
    found = _explored(trial)
    problems = [text for name, text in found.problems.items() if name in FORM]
    if problems:
        raise Failed(listed(problems))
    return found.coverage


def progress(trial: Trial) -> str:
    """Every walk ends within the hops that the program claims, whatever it draws at random."""
    found = _explored(trial)
    if "max-hops" in found.problems:
        raise Failed(found.problems["max-hops"])
    if found.program.max_hops is None:
        raise Skipped("no claim that walks end")
    return f"at most {int(found.findings.longest.max(initial=0))} hops"


def random_words(trial: Trial) -> str:
    """The same packet, random word and queues give the same candidates."""
    found = _explored(trial)
    if "random" in found.problems:
        raise Failed(
            f"{found.problems['random']}; draw from the random word only, with pick and another"
        )
    return ""


def dead_ends(trial: Trial) -> str:
    """A packet has a candidate wherever it comes to, if the network joins its ends."""
    found = _explored(trial)
    if "dead-end" in found.problems:
        raise Failed(f"{found.problems['dead-end']}; offer one, or refuse the network")
    return ""


def minimal(trial: Trial) -> str:
    """No walk is longer than the bare network demands."""
    found = _explored(trial)
    topology = found.topology
    place = np.full(topology.num_switches, -1)
    place[topology.endpoints] = np.arange(len(topology.endpoints))
    shortest = bare_lengths(topology)[tuple(place[found.pairs].T)]
    longest = found.findings.longest
    longer = np.flatnonzero(longest > shortest)
    if longer.size:
        pair = longer[0]
        names = [topology.switch_names[end] for end in found.pairs[pair]]
        raise Failed(
            f"{len(longer)} pairs have longer ways than the network demands, such as {names[0]} to "
            f"{names[1]}: {longest[pair]} hops, {shortest[pair]} are enough"
        )
    return ""


def multipath(trial: Trial) -> str:
    """Every packet of a pair goes the same way."""
    where = _explored(trial).several_ways
    if where:
        raise Failed(f"packets may go several ways, and it does not claim multipath: {where}")
    return ""


def virtual_channels(trial: Trial) -> str:
    """It makes do with the virtual channels that it supports, and with more, and as it claims."""
    claim = trial.subject.capabilities.virtual_channels
    routing = part(trial.subject.plugin)
    least, _ = least_channels(routing, trial.value)
    needed = needed_classes(trial.result)
    if needed > least:
        raise Failed(f"it supports {least} virtual channels, and its program needs {needed}")
    if claim is not None and least > claim:
        raise Failed(f"it claims {claim} virtual channels, and refuses fewer than {least}")
    for more in (least + 1, 2 * least):
        reason = routing.supports(trial.value, more)
        if reason is not None:
            raise Failed(f"it supports {least} virtual channels and refuses {more}: {reason}")
        needed = needed_classes(routing.prepare(trial.value, more))
        if needed > more:
            raise Failed(f"it supports {more} virtual channels, and its program needs {needed}")
    return f"{least} virtual channels"


def deadlock_free(trial: Trial) -> str:
    """The named proof holds over all reachable states, under virtual cut-through."""
    routing = part(trial.subject.plugin)
    if routing.proof in ("recovery", "none"):
        raise Skipped("no claim to be free of deadlock")
    explorations = [_explored(trial)]
    if trial.result.rest is not None:
        least, _ = least_channels(routing, trial.value)
        program = routing.prepare(trial.value, least + 1)
        explorations.append(states(program, trial.value, least + 1))
    for found in explorations:
        if found.problems:
            raise Skipped("its candidates are wrong, see the other checks")
        verdict = judge_states(found, routing.proof)
        if not verdict.proven:
            cycle = verdict.describe_cycle()
            raise Failed(f"proof {verdict.proof}: {verdict.reason}: {listed(cycle)}")
    return f"{routing.proof}: {verdict.reason}"


def _explored(trial: Trial) -> Exploration:
    if not decides(trial):
        raise Skipped("it has a table of routes")
    return trial.exploration
