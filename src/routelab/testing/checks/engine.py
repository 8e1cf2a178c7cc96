"""Checks of engines."""

from __future__ import annotations

from typing import Any

import numpy as np

from routelab.api import EnginePlugin, EngineResult, RouteTable
from routelab.api.engine import FACTS
from routelab.metrics import channel_load_bound
from routelab.stages.engines.run import problems_of
from routelab.stages.engines.trial import BYTES, ROUNDS, UniformTraffic
from routelab.testing.checks import common
from routelab.testing.checks.common import list_some
from routelab.testing.inputs.engines import short_run
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, Trial

CHANCE = 0.2
"""Relative excess of accepted over offered load that a short run may have by chance."""

DIGITS = 1e-9


def applies(subject: Subject) -> str:
    """Check that the engine supports a case, unless a required program is missing."""
    try:
        return common.applies(subject)
    except Failed:
        reasons = {trial.refusal for trial in subject.trials.values()}
        if len(reasons) != 1 or reasons == {None}:
            raise
        raise Skipped(f"it refuses every case for one reason: {reasons.pop()}") from None


def columns(trial: Trial) -> str:
    """Check that results have exactly the declared columns, as plain numbers and words."""
    engine: EnginePlugin = trial.subject.plugin
    result: EngineResult = trial.result
    problems = list(problems_of(engine, result)) + _missing_columns(engine, result)
    if problems:
        raise Failed(list_some(problems))
    return f"{len(result.facts)} facts, {len(result.tables)} tables"


def _missing_columns(engine: EnginePlugin, result: EngineResult) -> list[str]:
    settings = short_run(engine).parameters
    returned = {FACTS[engine.work]: result.facts, **result.tables}
    missing = [
        f"{column.name} of {of}"
        for column in engine.columns
        if (not column.needs or getattr(settings, column.needs, False))
        for of in column.of
        if of in returned and column.name not in returned[of] and column.name not in engine.clock
    ]
    return [f"it declares {name} and does not return it" for name in missing]


def accepts_what_is_offered(trial: Trial) -> str:
    """Check that accepted loads do not exceed offered loads."""
    found = 0
    for row in _rows(trial):
        offered_load, accepted_load = row.get("offered_load"), row.get("accepted_load")
        if offered_load is None or accepted_load is None:
            continue
        found += 1
        if accepted_load > offered_load * (1 + CHANCE) + DIGITS:
            raise Failed(
                f"accepted_load is {accepted_load:g}, and only {offered_load:g} was offered"
            )
    if not found:
        raise Skipped("it reports no offered_load and accepted_load")
    return f"{found} loads"


def saturates_below_the_bound(trial: Trial) -> str:
    """Check that the saturation load is at most the capacity of the busiest channel."""
    load = trial.result.facts.get("saturation_load")
    if load is None:
        raise Skipped("it reports no saturation_load; check it with settings that do")
    table: RouteTable = trial.value
    bound = channel_load_bound(table, UniformTraffic().demand(table.topology, 0))
    if load > bound * (1 + CHANCE):
        raise Failed(f"saturation_load is {load:g}, a channel is full at {bound:g}")
    return f"{load:g}, at most {bound:g}"


def no_faster_than_the_busiest_channel(trial: Trial) -> str:
    """Check that the work takes at least as long as the busiest channel needs for its bytes."""
    facts = {**trial.subject.plugin.parameters.model_dump(), **trial.result.facts}
    seconds, bandwidth = facts.get("completion_time_s"), facts.get("link_bandwidth")
    if seconds is None or not bandwidth:
        raise Skipped("it reports no completion_time_s and has no link_bandwidth")
    ranks = facts.get("ranks") or trial.value.topology.num_terminals
    table: RouteTable = trial.value
    if ranks != table.topology.num_terminals:
        raise Skipped("not every terminal has a rank")
    least = _busiest(table) / bandwidth
    if seconds < least * (1 - DIGITS):
        raise Failed(
            f"completion_time_s is {seconds:g}, the busiest channel needs {least:g} s for its bytes"
        )
    return f"{seconds:g} s, at least {least:g} s"


def _busiest(table: RouteTable) -> float:
    """Return the most bytes, relative to capacity, that `Ring` sends over a channel.

    Pairs with several paths do not count, because any path may carry the whole message.
    """
    network = table.topology
    sent = np.zeros(network.num_channels)
    terminals = network.num_terminals
    for rank in range(terminals):
        ends = network.terminal_switch[[rank, (rank + 1) % terminals]].tolist()
        if ends[0] == ends[1]:
            continue
        pair = table.pair(*ends)
        paths = slice(table.pair_start[pair], table.pair_start[pair + 1])
        if paths.stop - paths.start != 1:
            continue
        hops = slice(table.path_start[paths.start], table.path_start[paths.start + 1])
        np.add.at(sent, table.hop_channel[hops], BYTES * ROUNDS)
    return float((sent / network.channel_capacity).max(initial=0))


def _rows(trial: Trial) -> list[dict[str, Any]]:
    """Return the rows of loads, or the facts if there are none."""
    result: EngineResult = trial.result
    loads = result.tables.get("loads")
    if not loads:
        return [dict(result.facts)]
    return [dict(zip(loads, row, strict=True)) for row in zip(*loads.values(), strict=True)]
