"""Series of a figure that have no value, and the reasons."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import pandas as pd

from routelab.report.figures.kinds import OF_SERIES
from routelab.report.figures.panels import panel_title
from routelab.report.figures.request import FigureRequest
from routelab.report.rows.row_set import OK, key_text
from routelab.results.missing_results import status_text
from routelab.study.views import BENCHMARKS

MOST = 12
"""Largest number of sentences below a figure."""

COMPLETE_STATES = ("stationary", "finished")
"""States of simulations in which every value is known."""


def absent_series(request: FigureRequest, data: pd.DataFrame | None) -> list[str]:
    """Return a sentence for each series without a value in a panel where it has runs.

    For bars of measurements, return one for each missing bar.

    Parameters
    ----------
    request : FigureRequest
    data : DataFrame or None
        Data of the drawing; None if nothing was drawn.

    Returns
    -------
    list of str
        In the order of the runs; empty for figures whose colours stand for numbers.

    Raises
    ------
    InputError
        If a column does not exist.
    """
    spec, row_set, hue = request.spec, request.row_set, request.hue
    if spec.kind not in OF_SERIES:
        return []
    where = {key: value for key, value in spec.where.items() if key in row_set.jobs}
    jobs = row_set.select(where, request.pooled, request.place, spec.relative)
    if hue not in jobs:
        # this column distinguishes parts of runs
        return []
    value = request.x if spec.kind in ("ecdf", "histogram") else request.y
    facets = [hue, *([spec.col] if spec.col and spec.col in jobs else [])]
    if spec.kind == "bar" and spec.of in BENCHMARKS:
        # a missing bar is not visible among bars of other benchmarks
        facets.append(request.x)
    keys_with_value: list[tuple[str, ...]] = []
    if data is not None:
        keys_with_value = _keys(data.dropna(subset=[value]) if value in data else data, facets)
    absent: dict[tuple[str, ...], list[dict[Hashable, Any]]] = {}
    for key, run in zip(_keys(jobs, facets), jobs.to_dict("records"), strict=True):
        if key not in keys_with_value:
            absent.setdefault(key, []).append(run)
    causes: dict[tuple[str, str], list[str]] = {}
    for key, runs in absent.items():
        panels = causes.setdefault((key[0], _cause(runs, request.label(value))), [])
        beside = zip(facets[1:], key[1:], strict=True)
        if title := ", ".join(panel_title(name, text, spec.of) for name, text in beside):
            panels.append(title)
    between = "; " if len(facets) > 2 else ", "
    sentences = [
        f"Without a value: {name}{' in ' if panels else ''}{between.join(panels)} ({cause})."
        for (name, cause), panels in causes.items()
    ]
    more = len(sentences) - MOST
    return [*sentences[:MOST], *([f"{more} more series have no value."] if more > 0 else [])]


def _keys(frame: pd.DataFrame, facets: list[str]) -> list[tuple[str, ...]]:
    return list(zip(*(frame[name].map(key_text) for name in facets), strict=True))


def _cause(runs: Iterable[Mapping[Hashable, Any]], quantity: str) -> str:
    """Return why runs have no value: no result, the final state of simulations, or no number."""
    loads: dict[str, list[float]] = {}
    for run in runs:
        state = key_text(run.get("state"))
        if run["status"] != OK:
            state = f"no result: {status_text(run['status'], run['reason'])}"
        elif not state or state in COMPLETE_STATES:
            state = f"no {quantity}" + (f": {run['reason']}" if run.get("reason") else "")
        loads.setdefault(state, []).append(float(run.get("load") or 0))
    return "; ".join(f"{state}{_at(where)}" for state, where in loads.items())


def _at(loads: list[float]) -> str:
    """Return the offered loads as text; empty if there are none."""
    positive = sorted({load for load in loads if load > 0})
    if not positive:
        return ""
    if len(positive) == 1:
        return f" at load {positive[0]:g}"
    return f" at loads from {positive[0]:g} to {positive[-1]:g}"
