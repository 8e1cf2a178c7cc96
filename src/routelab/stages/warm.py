"""Compile kernels once, so that the jobs of a run find them in numba's cache."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from routelab.api import build_grid
from routelab.artifacts.atomic import atomic_file
from routelab.artifacts.provenance import Measured
from routelab.registry.catalogue import installed
from routelab.registry.instances import load, load_routing
from routelab.stages.limits import Breach, run_limited
from routelab.stages.prepared import PREPARE_SECONDS
from routelab.stages.route import compute, write_result

STEP_SECONDS = PREPARE_SECONDS
"""How long a routing may take before it is looked whether anything was compiled."""


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
    metrics = installed().default_metrics()
    skipped = [reason for name in routings if (reason := _compile(name, metrics))]
    with atomic_file(stamp) as new:
        new.write_text("\n".join(["warm", *skipped]) + "\n", encoding="utf-8")
    return skipped


def _compile(routing: str, metrics: Sequence[str]) -> str | None:
    """Rehearse in another process, which a plugin may kill or hold up.

    A process that takes too long may have been compiling: then the next one finds in the cache
    what it compiled, and gets further.
    """

    def work() -> int:
        reason = rehearse(routing, metrics)
        if reason:
            print(reason, flush=True)
        return 1 if reason else 0

    while True:
        before = _cached()
        ended = run_limited(work, STEP_SECONDS, None)
        if not isinstance(ended, Breach):
            return f"{routing}: see above" if ended else None
        if ended.status == "failed" or _cached() == before:
            return f"{routing}: {ended.reason}"


def _cached() -> int:
    return sum(1 for _ in Path(os.environ["NUMBA_CACHE_DIR"]).rglob("*.nbc"))


def rehearse(routing: str, metrics: Sequence[str]) -> str | None:
    """Send a tiny network through the whole chain, so that all that a job loads is loaded.

    Returns
    -------
    reason : str or None
        Why the routing does not work on the tiny network.
    """
    chosen = load_routing(routing)
    try:
        network = build_grid("torus", (3, 2), wrap=True)
        with Measured() as measured:
            result = compute(network, chosen, [load("metric", name) for name in metrics])
        with tempfile.TemporaryDirectory() as folder:
            write_result(result, Path(folder), measured.provenance(chosen.plugins))
    except Exception as error:  # the plugin's job will tell, with its own outcome
        return f"{routing}: {type(error).__name__}: {error}"
    return None
