"""The run without built-ins would prove nothing if they still showed."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
HIDDEN = """
import conftest, importlib, importlib.metadata
conftest.hide_builtins()
points = list(importlib.metadata.entry_points())
print(sum(point.value.startswith("routelab_plugins") for point in points))
print(any(point.value == "routelab.cli:main" for point in points))
for name in ("routelab_plugins", "routelab_plugins.topology.torus"):
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        print(error)
"""


def test_hidden_builtins_cannot_be_found_or_imported():
    run = subprocess.run(
        [sys.executable, "-c", HIDDEN], cwd=TESTS, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == [
        "0",
        "True",
        "routelab_plugins is hidden in this run",
        "routelab_plugins.topology.torus is hidden in this run",
    ]
