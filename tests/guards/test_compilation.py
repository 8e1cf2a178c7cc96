"""What commands compile in an empty cache: nothing twice, and nothing that they do not need."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

LISTEN = """
import os, sys
from numba.core import event

class Note(event.Listener):
    def on_start(self, one):
        function = one.data["dispatcher"].py_func
        line = f"{function.__module__} {function.__qualname__}\\n"
        os.write(notes, line.encode())

    def on_end(self, one):
        pass

# jobs are forked: all of them write to the one file
notes = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
event.register("numba:compile", Note())
"""

COMMAND = """
from routelab.cli import main
sys.exit(main(sys.argv[2:]))
"""

ALL_PLUGINS = """
from routelab.kernels.hops import is_kernel
from routelab.registry.catalogue import installed_catalogue
assert all(entry.plugin for entry in installed_catalogue().entries())
values = [value for module in list(sys.modules.values()) for value in vars(module).values()]
kernels = [value for value in values if is_kernel(value)]
assert len(kernels) > 20
ready = [kernel.__module__ for kernel in kernels if kernel.signatures]
assert not ready, ready
"""

HOP = """
from routelab.kernels.order_hops import order_hop
assert not order_hop.signatures
order_hop.compile()
assert len(order_hop.signatures) == 1
"""

NETWORK = ("torus~dims=4x2x2x2", "angara-sssp")

SEVERAL_TYPES = {
    # with all arrays of the engine, and with those of `QueueArrays`
    "routelab.simulation.packet.kernels.candidates candidate_units",
    "routelab.simulation.packet.kernels.candidate_ranking class_units",
    # units are counted in 16 bits in one place, and in 32 in the other
    "routelab.simulation.packet.kernels.buffers push_unit",
    # with all arrays of the engine, and with those of `Sources`
    "routelab.simulation.packet.kernels.injection next_gap",
    "routelab.kernels.bits draw",
    "routelab.kernels.bits mark",
    "routelab.kernels.hops pick_word",
    # equal types, but other options: in a hop function, and inserted into the engine
    "routelab.kernels.table_hops follow_path",
}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Counter[str]]:
    """Functions that `evaluate`, and `simulate` after it, compile."""
    folder = tmp_path_factory.mktemp("compilation")
    return {
        command[0]: compiled_by(COMMAND, folder, *command)
        for command in (
            ["evaluate", *NETWORK],
            ["simulate", *NETWORK, "uniform", "--load", "0.3"],
        )
    }


def compiled_by(code: str, folder: Path, *arguments: str) -> Counter[str]:
    """Run code in a process of its own; return the functions that it compiles.

    The folder has Numba's cache.
    """
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", dir=folder) as notes:
        subprocess.run(
            [sys.executable, "-c", LISTEN + code, notes.name, *arguments],
            env={**os.environ, "ROUTELAB_CACHE_DIR": str(folder), "NUMBA_CACHE_DIR": ""},
            cwd=folder,
            check=True,
            capture_output=True,
        )
        return Counter(notes.read().splitlines())


def test_plugins_that_are_loaded_compile_and_load_nothing(tmp_path: Path) -> None:
    """Plans, pages and lists of plugins load all plugins, and use no hop-by-hop function."""
    assert compiled_by(ALL_PLUGINS, tmp_path) == Counter()


def test_a_hop_function_is_compiled_once_for_all_processes(tmp_path: Path) -> None:
    first, second = compiled_by(HOP, tmp_path), compiled_by(HOP, tmp_path)
    assert first["routelab.kernels.order_hops order_hop"] == 1
    assert second == Counter()


@pytest.mark.parametrize("command", ["evaluate", "simulate"])
def test_no_function_is_compiled_for_several_types(
    compiled: dict[str, Counter[str]], command: str
) -> None:
    several = {name for name, count in compiled[command].items() if count > 1}
    assert {name for name in several if not name.startswith("numba.")} <= SEVERAL_TYPES


def test_evaluate_compiles_no_engine(compiled: dict[str, Counter[str]]) -> None:
    engines = ("routelab.simulation", "routelab.kernels.hops")
    assert [name for name in compiled["evaluate"] if name.startswith(engines)] == []


def test_simulate_compiles_only_additional_functions(compiled: dict[str, Counter[str]]) -> None:
    ours = {name for name in compiled["evaluate"] if not name.startswith("numba.")}
    assert ours
    assert not ours & set(compiled["simulate"])


@pytest.mark.parametrize("command", ["evaluate", "simulate"])
def test_nothing_sorts_or_prints(compiled: dict[str, Counter[str]], command: str) -> None:
    """Copying slices, `np.sort` and messages with values compile dozens of functions each."""
    costly = ("numba.cpython.unicode", "numba.misc.quicksort")
    assert [name for name in compiled[command] if name.startswith(costly)] == []


@pytest.mark.parametrize(("command", "most"), [("evaluate", 85), ("simulate", 100)])
def test_number_of_functions(compiled: dict[str, Counter[str]], command: str, most: int) -> None:
    assert 20 < compiled[command].total() <= most
