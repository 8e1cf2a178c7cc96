"""The reference page of JSON output: keys and types of every command with ``--format json``.

The commands run on small inputs. A test compares the page with them, so that no change of an output
goes unnoticed.
"""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from routelab.cli import main

FABRIC = "tests/data/infiniband"

CASES: Mapping[str, tuple[str, ...]] = {
    "topology": ("torus~dims=4x2",),
    "route": ("torus~dims=4x2 angara-sssp",),
    "evaluate": ("torus~dims=4x2 dor angara-sssp --bound",),
    "bound": ("torus~dims=4x2 angara", "torus~dims=4x2 --traffic transpose"),
    "simulate": (
        "torus~dims=4x2 dor uniform --load 0.1",
        "torus~dims=4x2 dor osu-alltoall --engine flow",
    ),
    "workload": ("osu-alltoall --ranks 4",),
    "study check": (),
    "study plan": ("config/studies/examples/published-table.yaml",),
    "cluster check": ("local",),
    "cluster list": ("",),
    "cluster show": ("local",),
    "plugins list": ("routing",),
    "plugins columns": ("",),
    "plugins check": ("rules/angara",),
    "infiniband check": (f"{FABRIC}/fabric.topo --lfts {FABRIC}/opensm-lfts.dump",),
    "infiniband what-if": (f"{FABRIC}/fabric.topo --lfts {FABRIC}/opensm-lfts.dump",),
    "bench parse": ("npb tests/data/bench/npb",),
}
