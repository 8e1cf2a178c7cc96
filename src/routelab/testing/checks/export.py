"""Checks of exports."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial, call_plugin

NETWORK = ("num_switches", "switch_names", "terminal_switch", "channel_source", "channel_target")
ROUTES = ("pair_start", "path_start", "hop_channel")


def round_trip(trial: Trial) -> str:
    """Check that reading the files gives the same network and routes, if ``read()`` exists."""
    files, table = trial.result, trial.value
    back: RouteTable | None = call_plugin("read()", lambda: trial.subject.plugin.read(files))
    if back is None:
        raise Skipped("read() does not read this format")
    if not isinstance(back, RouteTable):
        raise Failed(f"read() returned {type(back).__name__}, expected a RouteTable or None")
    differences = [
        name
        for name in NETWORK
        if not np.array_equal(getattr(back.topology, name), getattr(table.topology, name))
    ]
    differences += [
        name for name in ROUTES if not np.array_equal(getattr(back, name), getattr(table, name))
    ]
    if not differences and not np.allclose(back.path_weight, table.path_weight, rtol=1e-12, atol=0):
        differences = ["path_weight"]
    if differences:
        raise Failed(f"what is read back differs in {', '.join(differences)}")
    return f"{len(files)} files, {sum(map(len, files.values()))} characters"
