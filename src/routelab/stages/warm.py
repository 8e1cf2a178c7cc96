"""Compile kernels once, so that the jobs of a run find them in numba's cache."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from routelab.api import RoutelabError, build_grid
from routelab.artifacts.atomic import atomic_file
from routelab.registry.catalogue import installed
from routelab.registry.instances import load, load_routing
from routelab.stages.route import compute, write_result


def run(routings: Sequence[str], stamp: Path) -> list[str]:
    """Send a tiny network through the whole chain for each routing.

    Parameters
    ----------
    routings : sequence of str
        Instance names.
    stamp : path
        File that says it was done.

    Returns
    -------
    skipped : list of str
        Routings that do not work on the tiny network; their jobs compile what they need.
    """
    metrics = [load("metric", e.key) for e in installed().entries("metric") if e.plugin]
    skipped = []
    network = build_grid("torus", (3, 2), wrap=True)
    for name in routings:
        routing = load_routing(name)
        try:
            result = compute(network, routing, metrics)
            with tempfile.TemporaryDirectory() as folder:
                write_result(result, Path(folder), {})
        except RoutelabError as error:
            skipped.append(f"{name}: {error}")
    with atomic_file(stamp) as new:
        new.write_text("\n".join(["warm", *skipped]) + "\n", encoding="utf-8")
    return skipped
