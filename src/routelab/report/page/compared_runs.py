"""The runs that a headline compares: whether they are proven and how they ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from routelab.api.verdicts import PROVEN
from routelab.report.figures.omissions import COMPLETE_STATES
from routelab.report.rows.derivation import REFERENCE_RUN, RELATIVE_TO
from routelab.report.rows.row_set import OK, RowSet, key_text
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import select_rows
from routelab.study import Table

ROUTING = "routing"

Run = tuple[str, bool, str]
"""Routing of a run, whether it is proven free of deadlock, and its state if that matters."""

_LEFT_OUT = {
    "starved": "terminals of {} starve",
    "deadlock": "{} deadlocks",
    "livelock": "packets of {} never arrive",
    "no-route": "packets of {} have no route",
    "unfinished": "{} does not finish",
}
"""Why no comparison uses a simulation, by its state."""


def compared_runs(
    spec: Table, keys: Sequence[str], row_set: RowSet, study_rows: StudyRows, column: str
) -> dict[tuple[str, ...], dict[int, Run]]:
    """Return the runs with a result, by routing and conditions.

    Parameters
    ----------
    spec : Table
    keys : sequence of str
        Columns of the conditions.
    row_set : RowSet
        The table's rows.
    study_rows : StudyRows
    column : str
        Column that is compared.

    Returns
    -------
    dict
        Runs by number. If the table compares runs, these are among them that it compares with.
    """
    frame = select_rows(spec, row_set, "")
    frame = frame[frame["status"] == OK]
    runs: dict[tuple[str, ...], dict[int, Run]] = {}
    if frame.empty:
        return runs
    verdicts = row_set.jobs["deadlock"].to_dict() if "deadlock" in row_set.jobs else {}
    states = _states(row_set, study_rows, column)
    columns = [frame[key].map(key_text) for key in keys]
    sources = [(frame.index.to_series(), frame[ROUTING])]
    if REFERENCE_RUN in frame:
        sources.append((frame[REFERENCE_RUN], frame[RELATIVE_TO]))
    for numbers, names in sources:
        for run, name, *at in zip(numbers, names, frame[ROUTING], *columns, strict=True):
            compared_run = (name, verdicts.get(run) in PROVEN, states.get(run, ""))
            runs.setdefault(tuple(at), {})[run] = compared_run
    return runs


def _states(row_set: RowSet, study_rows: StudyRows, column: str) -> Mapping[int, str]:
    """Return the state of the simulation that a value is from, by run, if it matters."""
    if row_set not in (study_rows.loads, study_rows.simulations):
        return {}
    words = _words(row_set.jobs)
    if row_set is study_rows.simulations and column.startswith(("saturation_", "throughput")):
        words = pd.Series(
            [_search_word(study_rows, run, column) for run in words.index], words.index
        )
    return {int(str(run)): str(word) for run, word in words.items()}


def _words(jobs: pd.DataFrame) -> pd.Series[Any]:
    starved = jobs.get("starved_terminals", pd.Series(0, jobs.index)) > 0
    states = jobs.get("state", pd.Series("", jobs.index)).map(key_text)
    return states.where(~states.isin(COMPLETE_STATES), "").mask(starved, "starved")


def _search_word(study_rows: StudyRows, run: int, column: str) -> str:
    """Return why the loads that a saturation search's result is from count for nothing.

    The search itself judges whether loads are saturated.
    """
    row, keys = study_rows.simulations.jobs.loc[run], list(study_rows.simulations.identity)
    loads = study_rows.loads.jobs
    loads = loads[(loads[keys] == row[keys]).all(axis=1)]
    if column.startswith("throughput"):
        loads = loads[loads["load"] == row.get("throughput_at")]
    elif pd.notna(bound := row.get("saturation_bound")):
        loads = loads[loads["load"] < bound]
    return next((word for word in _words(loads) if word in _LEFT_OUT), "")


def problem_of(runs: Sequence[Run], routing: str) -> str:
    """Return why runs of a routing and the baseline are not compared; empty if they are."""
    if not _is_proven(routing, runs):
        return f"{routing} is not proven free of deadlock"
    for state, text in _LEFT_OUT.items():
        names = dict.fromkeys(name for name, _, run_state in runs if run_state == state)
        if names:
            return text.format(" and ".join(names))
    return ""


def unproven_text(baseline: str, cases: Sequence[Sequence[Run]]) -> str:
    """Return in how many cases a baseline is not proven free of deadlock; empty if in none."""
    unproven = sum(not _is_proven(baseline, runs) for runs in cases)
    share = f" in {unproven} of {len(cases)} cases" if unproven < len(cases) else ""
    return f"; {baseline} is not proven free of deadlock{share}" if unproven else ""


def states_text(runs: Sequence[Run]) -> str:
    """Return how many runs are saturated or undecided; empty if none is."""
    states = Counter(state for *_, state in runs if state)
    if not states:
        return ""
    if len(states) == 1 and states.total() == len(runs):
        return f"; all runs are {next(iter(states))}"
    parts = [f"{count} are {state}" for state, count in states.items()]
    return f"; of {len(runs)} runs, {' and '.join(parts)}"


def _is_proven(routing: str, runs: Sequence[Run]) -> bool:
    proofs = [proven for name, proven, _ in runs if name == routing]
    return bool(proofs) and all(proofs)
