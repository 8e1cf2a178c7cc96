"""The run without built-ins would prove nothing if they still showed."""

import subprocess
import sys
from pathlib import Path

import pytest
from plugin_sight import PluginSight

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


@pytest.mark.parametrize(
    ("text", "finds"),
    [
        ("from routelab.api import Topology", False),
        ("from routelab.kernels.bits import mark", False),
        ("import simulated", False),
        ("from routelab.registry.catalogue import installed_catalogue", True),
        # through other modules of the core, and of tests
        ("from routelab.stages.chain import apply_routing", True),
        ("import small_graphs", True),
        pytest.param(
            "def test():\n    from routelab_plugins.topology.torus import Torus",
            True,
            marks=pytest.mark.builtins,
        ),
        ("def test():\n    importlib.import_module('routelab_plugins.topology')", True),
    ],
)
def test_files_that_can_find_a_plugin_are_known_by_their_imports(text, finds, tmp_path):
    file = tmp_path / "test_it.py"
    file.write_text(text)
    assert PluginSight().can_find_plugins(file) == finds


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ((), ["test_quick"]),
        (("--slow",), ["test_far", "test_marked", "test_quick"]),
        (("--all",), ["test_far", "test_marked", "test_quick", "test_thorough"]),
        (("-m", "slow"), ["test_far", "test_marked", "test_thorough"]),
        (("golden",), ["test_far", "test_thorough"]),
        (("-n", "1"), ["test_quick"]),
        (("golden", "-n", "1"), ["test_far", "test_thorough"]),
    ],
)
def test_slow_tests_run_only_when_asked_for(tmp_path, arguments, names):
    """The same choice with and without processes of xdist, whose workers get other arguments."""
    (tmp_path / "conftest.py").write_text(
        (TESTS / "conftest.py").read_text().replace("Path(__file__).parent", "Path.cwd()", 1)
    )
    (tmp_path / "reference").symlink_to(TESTS / "reference")
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = unit golden\n")
    quick = (
        "from examples import examples\n"
        "def test_quick(pytestconfig):\n"
        "    assert examples(40) == (40 if pytestconfig.getoption('slow') else 8)\n"
    )
    marked = "import pytest\n@pytest.mark.{}\ndef test_{}(): pass\n"
    for folder, text in (
        ("unit", marked.format("slow", "marked") + quick),
        ("golden", marked.format("thorough", "thorough") + "def test_far(): pass\n"),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"test_{folder}.py").write_text(text)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    found = {
        line.rpartition("::")[2].split()[0] for line in run.stdout.splitlines() if "::" in line
    }
    assert sorted(found) == names
    assert ("make test-all" in run.stdout) == (names == ["test_quick"])
