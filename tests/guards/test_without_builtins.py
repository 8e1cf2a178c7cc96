"""The core works without the built-in plugins: a stranger's plugins are on equal footing."""

from __future__ import annotations

import os
import subprocess
import sys

PLUGINS = """
import numpy as np
from routelab.api import RouteTable, RoutingPlugin, TopologyPlugin
from routelab.toolkit import build_grid


class Pair(TopologyPlugin):
    name = "pair"
    summary = "Two switches"

    def build(self):
        return build_grid("pair", (2,), wrap=False)


class Only(RoutingPlugin):
    name = "only"
    summary = "The only route"

    def route(self, topology):
        return RouteTable.from_next_hops(topology, [[-1, 0], [1, -1]])
"""

HIDDEN = """
import importlib.metadata
import pkgutil
import sys

BUILTINS = "routelab_plugins"


class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == BUILTINS:
            raise ModuleNotFoundError(f"{name} is hidden", name=name)


sys.meta_path.insert(0, Hidden())
declared = importlib.metadata.Distribution.entry_points.fget
importlib.metadata.Distribution.entry_points = property(
    lambda self: importlib.metadata.EntryPoints(
        point for point in declared(self) if point.value.partition(".")[0] != BUILTINS
    )
)

import routelab
from routelab.cli import main

modules = [name for _, name, _ in pkgutil.walk_packages(routelab.__path__, "routelab.")]
for name in modules:
    if not name.endswith("__main__"):
        importlib.import_module(name)
assert len(modules) > 100
print("exit", main(["evaluate", "torus~dims=4", "dor"]))
print("exit", main(["evaluate", "pair", "only", "--format", "csv"]))
"""


def test_all_modules_load_and_only_the_strangers_plugins_are_found(tmp_path):
    (tmp_path / "stranger.py").write_text(PLUGINS)
    info = tmp_path / "stranger-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[routelab.topology]\npair = stranger:Pair\n[routelab.routing]\nonly = stranger:Only\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    run = subprocess.run(
        [sys.executable, "-c", HIDDEN],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no topology plugin is called 'torus'" in run.stderr
    refused, header, row, accepted = run.stdout.splitlines()
    assert (refused, accepted) == ("exit 2", "exit 0")
    result = dict(zip(header.split(","), row.split(","), strict=True))
    assert (result["status"], result["max_load"], result["deadlock"]) == ("ok", "1", "proven")
