"""Bounds of networks with rules or traffic, joined to the runs to which they apply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from routelab.metrics.bounds import (
    BOUND_FIELDS,
    LoadBound,
    any_length_facts,
    bound_facts,
    bound_from_numbers,
)
from routelab.metrics.bounds.throughput.facts import throughput_facts
from routelab.report.rows.pending_jobs import read_or_pending
from routelab.results.outcome import Outcome


def with_bounds(
    outcome: Outcome, rules: Path | None, network: Path | None, any_length: Path | None = None
) -> Outcome:
    """Return the outcome of a run with its bounds among the facts, such as ``gap``.

    The facts are `routelab.metrics.bounds.BOUND_FIELDS`. A run without a result gets none.

    Parameters
    ----------
    outcome : Outcome
        Of a routing on a network.
    rules : Path or None
        Folder of the bound of the run's rules; None for a complete algorithm.
    network : Path or None
        Folder of the bound of the bare network; None if the study asks for no bounds.
    any_length : Path or None
        Folder of the bound for routes of any length; None if the study does not ask for it. Its
        facts are those of `routelab.metrics.bounds.any_length_facts`.
    """
    if network is None or outcome.status != "ok":
        return outcome
    rules_bound = None if rules is None else _read_bound(rules)
    facts = bound_facts(outcome.facts, rules_bound, _read_bound(network))
    if rules is not None and rules_bound is None:
        # The bound of the rules is not known. Then all fields are None but the network's bound
        # itself, which is no substitute: it allows routes that the rules forbid.
        facts |= dict.fromkeys(set(BOUND_FIELDS) - {"lower_bound_topology"})
    if any_length is not None:
        # the number of pairs of the network: the bound does not hold for a table without all
        pairs = _read_outcome(any_length).facts.get("pairs", 0)
        facts |= any_length_facts(outcome.facts, _read_bound(any_length), pairs)
    return replace(outcome, facts={**outcome.facts, **facts})


def read_throughput_outcome(folder: Path) -> Outcome:
    """Read the outcome of the bounds of throughput in a folder, or a `PendingOutcome`."""
    topology, traffic = folder.parts[-2:]
    return read_or_pending(folder, "throughput", topology, traffic)


def throughput_bounds(outcome: Outcome, seeds: Sequence[int], load: float | None) -> dict[str, Any]:
    """Return the bounds of throughput that hold for a simulation.

    Parameters
    ----------
    outcome : Outcome
        Of the bounds for its network and traffic.
    seeds : sequence of int
        Seeds of the simulation; a bound holds for it only if each of them has one.
    load : float or None
        Offered load.

    Returns
    -------
    facts : dict
        Values by `metrics.bounds.throughput.facts.THROUGHPUT_FIELDS`, or None if a bound is
        missing.
    """
    by_seed = outcome.facts.get("throughput_by_seed", {}) if outcome.status == "ok" else {}
    bounds = [by_seed[str(seed)] for seed in seeds if str(seed) in by_seed]
    return throughput_facts(bounds if len(bounds) == len(seeds) else [], load)


def read_bound_outcomes(folders: Iterable[Path]) -> list[Outcome]:
    """Read the outcomes of bounds, each folder once; one that is missing is a `PendingOutcome`."""
    return [_read_outcome(folder) for folder in dict.fromkeys(folders)]


def _read_outcome(folder: Path) -> Outcome:
    topology, rules = folder.parts[-2:]
    return read_or_pending(folder, "bound", topology, rules)


def _read_bound(folder: Path) -> LoadBound | None:
    outcome = _read_outcome(folder)
    return bound_from_numbers(outcome.facts) if outcome.status == "ok" else None
