"""The runs that a headline compares: whether they are proven and how they ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from routelab.api.verdicts import PROVEN
from routelab.report.figures.omissions import COMPLETE_STATES
from routelab.report.rows.derivation import REFERENCE_RUN, RELATIVE_TO
from routelab.report.rows.row_set import OK, RowSet, key_text
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import select_rows
from routelab.study import Table

ROUTING = "routing"

_LEFT_OUT = {
    "starved": "terminals of {} starve",
    "deadlock": "{} deadlocks",
    "livelock": "packets of {} never arrive",
    "no-route": "packets of {} have no route",
    "unfinished": "{} does not finish",
}
"""Why no comparison uses a simulation, by its state."""


class Run(NamedTuple):
    """A run of a routing: whether it is proven free of deadlock, and its state if that matters."""

    routing: str
    is_proven: bool
    state: str


def compared_runs(
    spec: Table, keys: Sequence[str], row_set: RowSet, study_rows: StudyRows, column: str
) -> dict[tuple[str, ...], dict[int, Run]]:
    """Return the runs with a result, by routing and conditions.

    Parameters
    ----------
    spec : Table
    keys : sequence of str
        Columns of the conditions, and that of the routing.
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
    conditions = [frame[key].map(key_text) for key in keys if key != ROUTING]
    sources = [(frame.index.to_series(), frame[ROUTING])]
    if REFERENCE_RUN in frame:
        sources.append((frame[REFERENCE_RUN], frame[RELATIVE_TO]))
    for numbers, routings in sources:
        for number, routing, *at in zip(
            numbers, routings, frame[ROUTING], *conditions, strict=True
        ):
            run = Run(routing, verdicts.get(number) in PROVEN, states.get(number, ""))
            runs.setdefault(tuple(at), {})[number] = run
    return runs


def _states(row_set: RowSet, study_rows: StudyRows, column: str) -> Mapping[Any, str]:
    """Return the state of the simulation that a value is from, by run, if it matters."""
    if row_set is study_rows.loads:
        return _final_states(row_set.jobs).to_dict()
    if row_set is not study_rows.simulations:
        return {}
    if not column.startswith(("saturation_", "throughput")):
        return _final_states(row_set.jobs).to_dict()
    # A saturation search is as good as the loads that its result is from. Whether these are
    # saturated is what it judges, so only states that leave a load out matter.
    states: dict[Any, str] = {}
    keys, every_load = list(study_rows.simulations.identity), study_rows.loads.jobs
    for run, row in row_set.jobs.iterrows():
        loads = every_load[(every_load[keys] == row[keys]).all(axis=1)]
        if column.startswith("throughput"):
            loads = loads[loads["load"] == row.get("throughput_at")]
        elif pd.notna(bound := row.get("saturation_bound")):
            loads = loads[loads["load"] < bound]
        states[run] = next((state for state in _final_states(loads) if state in _LEFT_OUT), "")
    return states


def _final_states(jobs: pd.DataFrame) -> pd.Series[Any]:
    """Return how simulations ended; empty if complete, ``starved`` if terminals starve."""
    starved = jobs.get("starved_terminals", pd.Series(0, jobs.index)) > 0
    states = jobs.get("state", pd.Series("", jobs.index)).map(key_text)
    return states.where(~states.isin(COMPLETE_STATES), "").mask(starved, "starved")


def problem_of(runs: Sequence[Run], routing: str) -> str:
    """Return why runs of a routing and the baseline are not compared; empty if they are."""
    if not is_proven(routing, runs):
        return f"{routing} is not proven free of deadlock"
    for state, text in _LEFT_OUT.items():
        names = dict.fromkeys(run.routing for run in runs if run.state == state)
        if names:
            return text.format(" and ".join(names))
    return ""


def is_proven(routing: str, runs: Sequence[Run]) -> bool:
    """Whether all runs of a routing, at least one, are proven free of deadlock."""
    proofs = [run.is_proven for run in runs if run.routing == routing]
    return bool(proofs) and all(proofs)
