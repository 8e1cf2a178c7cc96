"""The reference page of JSON output: keys and types of every command with ``--format json``.

The commands run on small inputs. A test compares the page with them, so that no change of an output
goes unnoticed.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from routelab.report.changes import Change
from routelab.stages.bench.texts import SUMMARY

REPOSITORY = Path(__file__).parents[1]
FABRIC = "tests/data/infiniband"

COMMANDS: Mapping[str, tuple[str, ...]] = {
    "topology": ("torus~dims=4x2",),
    "route": ("torus~dims=4x2 angara-sssp",),
    "evaluate": ("torus~dims=4x2 dor torus-2qos --bound",),
    "bound": ("torus~dims=4x2 angara", "torus~dims=4x4 --traffic transpose"),
    "simulate": (
        "torus~dims=4 dor uniform --load 0.1",
        "torus~dims=4 dor osu-alltoall --engine flow",
    ),
    "workload": ("osu-alltoall --ranks 4", "transpose --ranks 4"),
    "study plan": ("config/studies/examples/published-table.yaml",),
    "cluster check": ("local",),
    "cluster list": ("",),
    "cluster show": ("local",),
    "plugins list": ("rules",),
    "plugins columns": ("",),
    "plugins check": ("layers/none",),
    "infiniband check": (
        f"{FABRIC}/small.net --lfts {FABRIC}/opensm-lfts.dump",
        f"{FABRIC}/fabric.topo --lfts {FABRIC}/opensm.fdbs --mfts {FABRIC}/opensm.mcfdbs",
    ),
    "infiniband what-if": (f"{FABRIC}/small.net --lfts {FABRIC}/opensm-lfts.dump --cable all",),
    "bench parse": (
        "npb tests/data/bench/npb/lu-34.txt",
        "osu-alltoall tests/data/bench/osu-alltoall/full-7.txt",
    ),
}
"""Arguments of commands whose output has every key."""

TABLES: Mapping[str, Sequence[str]] = {"bench": SUMMARY, "compare": Change._fields}
"""Columns of commands that print a list of rows, in which all values are texts."""

TYPES = {str: "text", bool: "truth value", int: "integer", float: "number", type(None): "null"}


def json_lines() -> Iterator[str]:
    """Return the lines of the page below its title."""
    yield "Keys and types of the output of each command with `--format json`. `[]` is an item of a"
    yield "list. `null` is a value that does not exist."
    yield ""
    for name in sorted((*COMMANDS, *TABLES)):
        yield json_section(name, output_of(name))


def json_section(name: str, output: Mapping[str, set[str]]) -> str:
    """Return the section of a command, whose keys have these types."""
    rows = [f"| `{key}` | {' or '.join(sorted(types))} |" for key, types in output.items()]
    return "\n".join([f"## routelab {name}", "", "| key | type |", "| --- | --- |", *rows, ""])


def output_of(name: str) -> dict[str, set[str]]:
    """Return the types of all keys of a command's output."""
    found: dict[str, set[str]] = {}
    if name in TABLES:
        return {f"[].{column}": {"text"} for column in TABLES[name]}
    for words in COMMANDS[name]:
        command = [sys.executable, "-m", "routelab", *name.split(), *shlex.split(words)]
        done = subprocess.run(
            [*command, "--format", "json"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise ValueError(f"routelab {name} {words}: {done.stderr}")
        _collect(json.loads(done.stdout), "", found)
    return found


def _collect(value: Any, key: str, found: dict[str, set[str]]) -> None:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            _collect(item, f"{key}.{name}" if key else name, found)
    elif isinstance(value, list) and value:
        for item in value:
            _collect(item, f"{key}[]", found)
    elif isinstance(value, dict | list):
        found.setdefault(key, set()).add("empty")
    else:
        found.setdefault(key, set()).add(TYPES[type(value)])
