"""How long the command line takes before it does anything, beside the bare interpreter."""

from __future__ import annotations

import subprocess
import sys

import pytest

COMMANDS = {
    "python": ["-c", "pass"],
    "import routelab": ["-c", "import routelab"],
    "routelab --version": ["-m", "routelab", "--version"],
    "import routelab.api": ["-c", "import routelab.api"],
    "import numba": ["-c", "import numba"],
    "routelab plugins list": ["-m", "routelab", "plugins", "list"],
    "routelab evaluate": ["-m", "routelab", "evaluate", "torus~dims=4x2", "dor"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_start_time(benchmark, name: str) -> None:
    command = [sys.executable, *COMMANDS[name]]
    benchmark.group = "start"
    run = lambda: subprocess.run(command, check=True, capture_output=True)  # noqa: E731
    run()
    benchmark.pedantic(run, rounds=5)
