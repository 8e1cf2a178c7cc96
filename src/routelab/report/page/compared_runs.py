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

_EXCLUSION_REASONS = {
    "starved": "terminals of {} starve",
    "deadlock": "{} deadlocks",
    "livelock": "packets of {} never arrive",
    "no-route": "packets of {} have no route",
    "unfinished": "{} does not finish",
}
"""Why no comparison uses a simulation, by its state."""


class Run(NamedTuple):
    """A run of a routing.

    Attributes
    ----------
    routing : str
    is_proven : bool
        Whether it is proven free of deadlock.
    state : str
        How its simulation ended, such as ``deadlock`` or ``saturated``; empty if that does not
        change what its value means.
    """

    routing: str
    is_proven: bool
    state: str


def compared_runs(
    spec: Table, keys: Sequence[str], row_set: RowSet, study_rows: StudyRows, column: str
) -> dict[tuple[str, ...], dict[int, Run]]:
    """Return the runs with a result whose values a headline may compare.

    Parameters
    ----------
    spec : Table
    keys : sequence of str
        Columns of the conditions, and that of the routing: ``["topology", "routing"]``.
    row_set : RowSet
        The table's rows.
    study_rows : StudyRows
    column : str
        Column that is compared.

    Returns
    -------
    dict
        For each routing with the texts of its conditions, such as ``("sssp", "4x2")``: the runs by
        number. If the table is relative, runs of the routing that it compares with are included.
    """
    frame = select_rows(spec, row_set, "")
    frame = frame[frame["status"] == OK]
    runs: dict[tuple[str, ...], dict[int, Run]] = {}
    if frame.empty:
        return runs
    verdicts = row_set.frame["deadlock"].to_dict() if "deadlock" in row_set.frame else {}
    states = _states_by_run(row_set, study_rows, column)
    conditions = [frame[key].map(key_text) for key in keys if key != ROUTING]
    # The numbers and routings of the runs of each row. In a relative table, a row also has the run
    # of another routing that it is compared with; it belongs to the row's routing and conditions,
    # because a comparison is no better than either of its runs.
    run_columns = [(frame.index.to_series(), frame[ROUTING])]
    if REFERENCE_RUN in frame:
        run_columns.append((frame[REFERENCE_RUN], frame[RELATIVE_TO]))
    row_keys = list(zip(frame[ROUTING], *conditions, strict=True))
    for numbers, routings in run_columns:
        for number, routing, row_key in zip(numbers, routings, row_keys, strict=True):
            run = Run(
                routing,
                is_proven=verdicts.get(number) in PROVEN,
                state=states.get(number, ""),
            )
            runs.setdefault(row_key, {})[number] = run
    return runs


def _states_by_run(row_set: RowSet, study_rows: StudyRows, column: str) -> Mapping[Any, str]:
    """Return by run how the simulation ended that gave the value of `column`.

    A state is empty if it does not change what the value means; so are all states of runs that are
    no packet simulations. A search of the saturation load is many simulations in one run: it has
    the first bad state of those that gave the value.
    """
    if row_set is study_rows.loads:
        return _final_states(row_set.frame).to_dict()
    if row_set is not study_rows.simulations:
        return {}
    if not column.startswith(("saturation_", "throughput")):
        return _final_states(row_set.frame).to_dict()
    # The throughput is from one load of the search. The saturation load is from all loads below
    # the least one that was not sustained, or from all loads if every one was. A load that is
    # saturated is not a bad one: the search looks for it.
    states: dict[Any, str] = {}
    keys, all_loads = list(study_rows.simulations.identity), study_rows.loads.frame
    for run, row in row_set.frame.iterrows():
        loads = all_loads[(all_loads[keys] == row[keys]).all(axis=1)]  # of this search
        if column.startswith("throughput"):
            loads = loads[loads["load"] == row.get("throughput_at")]
        elif pd.notna(bound := row.get("saturation_bound")):
            loads = loads[loads["load"] < bound]
        excluding = [state for state in _final_states(loads) if state in _EXCLUSION_REASONS]
        states[run] = excluding[0] if excluding else ""
    return states


def _final_states(frame: pd.DataFrame) -> pd.Series[Any]:
    """Return how simulations ended; empty if complete, ``starved`` if terminals starve."""
    # An engine need not have these columns.
    starved = frame.get("starved_terminals", pd.Series(0, frame.index)) > 0
    states = frame.get("state", pd.Series("", frame.index)).map(key_text)
    return states.where(~states.isin(COMPLETE_STATES), "").mask(starved, "starved")


def exclusion_reason(runs: Sequence[Run], routing: str) -> str:
    """Return why `runs`, those of `routing` and of the baseline, are not compared.

    Empty if they are compared: all runs of the routing are proven free of deadlock, and none of the
    runs starved, got stuck or did not finish.
    """
    if not is_proven(routing, runs):
        return f"{routing} is not proven free of deadlock"
    for state, text in _EXCLUSION_REASONS.items():
        names = dict.fromkeys(run.routing for run in runs if run.state == state)
        if names:
            return text.format(" and ".join(names))
    return ""


def is_proven(routing: str, runs: Sequence[Run]) -> bool:
    """Whether all runs of a routing, at least one, are proven free of deadlock."""
    proofs = [run.is_proven for run in runs if run.routing == routing]
    return bool(proofs) and all(proofs)
