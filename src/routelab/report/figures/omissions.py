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

MAX_SENTENCES = 12
"""Largest number of sentences below a figure."""

COMPLETE_STATES = ("stationary", "finished")
"""States of simulations that do not explain why a value is missing."""


def absent_series(request: FigureRequest, data: pd.DataFrame | None) -> list[str]:
    """Return a sentence for each series without a value in a panel where it has runs, and why.

    Such as ``Without a value: dor in uniform (saturated at load 0.9).``, for the notes below the
    figure. For bars of benchmark measurements, return a sentence for each missing bar.

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
    # Conditions on details of runs, such as the direction of channels, do not select runs.
    where = {key: value for key, value in spec.where.items() if key in row_set.frame}
    frame = row_set.select(where, request.pooled, request.place, spec.relative)
    if hue not in frame:
        # The series are details of runs, which have neither a status nor a reason.
        return []
    value = request.x if spec.kind in ("ecdf", "histogram") else request.y
    # 1. The columns whose values identify a series in a panel (the key); the series comes first.
    facets = [hue]
    if spec.col and spec.col in frame:
        facets.append(spec.col)
    if spec.kind == "bar" and spec.of in BENCHMARKS:
        # a missing bar is not visible among bars of other benchmarks
        facets.append(request.x)
    # 2. The runs of each series in a panel that the drawing has no value for.
    keys_with_value: list[tuple[str, ...]] = []
    if data is not None:
        with_value = data.dropna(subset=[value]) if value in data else data
        keys_with_value = _key_texts(with_value, facets)
    runs_of: dict[tuple[str, ...], list[dict[Hashable, Any]]] = {}
    for key, run in zip(_key_texts(frame, facets), frame.to_dict("records"), strict=True):
        if key not in keys_with_value:
            runs_of.setdefault(key, []).append(run)
    # 3. A sentence for each series and cause, with the titles of all panels concerned.
    panels_of: dict[tuple[str, str], list[str]] = {}
    for key, runs in runs_of.items():
        series, *panel_key = key
        panels = panels_of.setdefault((series, _cause(runs, request.label(value))), [])
        titles = [
            panel_title(column, text, spec.of)
            for column, text in zip(facets[1:], panel_key, strict=True)
        ]
        if title := ", ".join(titles):
            panels.append(title)
    # titles of two columns have commas inside
    separator = "; " if len(facets) > 2 else ", "
    sentences = [
        f"Without a value: {series}{' in ' if panels else ''}{separator.join(panels)} ({cause})."
        for (series, cause), panels in panels_of.items()
    ]
    num_more = len(sentences) - MAX_SENTENCES
    more = [f"{num_more} more series have no value."] if num_more > 0 else []
    return [*sentences[:MAX_SENTENCES], *more]


def _key_texts(frame: pd.DataFrame, facets: list[str]) -> list[tuple[str, ...]]:
    """Return the key of each row: the texts of its values in these columns."""
    return list(zip(*(frame[name].map(key_text) for name in facets), strict=True))


def _cause(runs: Iterable[Mapping[Hashable, Any]], quantity: str) -> str:
    """Return why runs have no value: no result, the final state of simulations, or no number.

    Such as ``saturated at loads from 0.4 to 0.9; no result: failed at load 1``. `quantity` is the
    label of the value.
    """
    loads_of: dict[str, list[float]] = {}
    for run in runs:
        state = key_text(run.get("state"))  # empty if the run has none
        if run["status"] != OK:
            cause = f"no result: {status_text(run['status'], run['reason'])}"
        elif state and state not in COMPLETE_STATES:
            cause = state
        else:
            cause = f"no {quantity}" + (f": {run['reason']}" if run.get("reason") else "")
        # 0 stands for a run without an offered load
        loads_of.setdefault(cause, []).append(float(run.get("load") or 0))
    return "; ".join(f"{cause}{_loads_text(loads)}" for cause, loads in loads_of.items())


def _loads_text(loads: list[float]) -> str:
    """Return positive offered loads as text, ``at load 0.4``; 0 stands for runs without a load."""
    positive = sorted({load for load in loads if load > 0})
    if not positive:
        return ""
    if len(positive) == 1:
        return f" at load {positive[0]:g}"
    return f" at loads from {positive[0]:g} to {positive[-1]:g}"
