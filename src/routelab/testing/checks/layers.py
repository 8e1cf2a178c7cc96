"""Checks of layers."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial

ROUTE_ARRAYS = ("pair_start", "path_start", "path_weight", "hop_channel")


def same_routes(trial: Trial) -> str:
    """Check that layers keep the routes and their weights."""
    table: RouteTable = trial.result
    differences = [
        name
        for name in ROUTE_ARRAYS
        if not np.array_equal(getattr(table, name), getattr(trial.value, name))
    ]
    if differences:
        raise Failed(f"it changed the routes ({', '.join(differences)}); layers only set hop_vc")
    return ""


def multipath(trial: Trial) -> str:
    """Check, if claimed, that tables with several paths per pair are supported."""
    table: RouteTable = trial.value
    most_paths = np.diff(table.pair_start).max(initial=0)
    if not trial.subject.capabilities.multipath or most_paths < 2:
        raise Skipped("no claim, or no pair with several paths")
    if trial.refusal is not None:
        raise Failed(f"it claims multipath and refuses several paths per pair: {trial.refusal}")
    return ""
