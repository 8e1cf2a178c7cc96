"""The run without built-ins would prove nothing if they still showed."""

import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parents[1]
HIDDEN = """
import conftest, importlib, importlib.metadata
conftest.hide_builtins()
print(len(importlib.metadata.entry_points(group="routelab.topology")))
print(len(importlib.metadata.entry_points(group="console_scripts", name="routelab")))
try:
    importlib.import_module("routelab_plugins.topology")
except ModuleNotFoundError as error:
    print(error)
"""


def test_hidden_builtins_cannot_be_found_or_imported():
    run = subprocess.run(
        [sys.executable, "-c", HIDDEN], cwd=TESTS, capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["0", "1", "routelab_plugins is hidden in this run"]
