from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routelab import _numba_cache
from routelab._numba_cache import cache_name, compiled_modules, installed, set_cache_directory
from routelab._sources import Sources

ENTRY_POINTS = """
[console_scripts]
tool = unrelated:main
[routelab.rules]
one = stranger.rules:One
two = lonely [extra]
[routelab.metric]
three=other.metric:Three
"""

KERNELS = {
    "stranger/__init__.py": "import json\nfrom stranger.b import twice",
    "stranger/a.py": "from numba import njit\nfrom stranger.constants import STEP\n\n"
    "@njit(cache=True)\ndef step(x):\n    return x + STEP\n",
    "stranger/b.py": "from numba import njit\nfrom stranger.a import step\n\n"
    "@njit(cache=True)\ndef twice(x):\n    return step(step(x))\n",
    "stranger/constants.py": "STEP = 1\n",
    "stranger/jit.py": "import math, numba\nnjit = numba.njit\n",
    "stranger/c.py": "from stranger.jit import njit\n\n@njit(cache=True)\ndef f():\n    return 1\n",
    "stranger/report.py": "from typing import overload\nTITLE = 'made with numba'\n"
    "@overload\ndef jitter(): ...\n",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def name_of(folder: Path, numba: str = "numba-1") -> str:
    return cache_name(Sources([str(folder)]), {"stranger"}, numba)


@pytest.mark.parametrize(
    ("edited", "changes"),
    [
        ("stranger/a.py", True),
        ("stranger/b.py", True),
        ("stranger/constants.py", True),
        ("stranger/__init__.py", False),
        ("stranger/report.py", False),
    ],
)
def test_name_follows_compiled_sources_only(tmp_path: Path, edited: str, changes: bool) -> None:
    write(tmp_path, KERNELS)
    before = name_of(tmp_path)
    (tmp_path / edited).write_text(KERNELS[edited] + "\n# edited")
    assert (name_of(tmp_path) != before) is changes


def test_compiled_modules_are_those_that_use_numba(tmp_path: Path) -> None:
    write(tmp_path, KERNELS)
    found = compiled_modules(Sources([str(tmp_path)]), {"stranger"})
    assert found == ["stranger.a", "stranger.b", "stranger.c", "stranger.jit"]


def test_editing_code_that_is_not_compiled_costs_no_compilation() -> None:
    sources = Sources()
    compiled = compiled_modules(sources, {"routelab"})
    assert "routelab.kernels.graph" in compiled
    closure = sources.closure(compiled, {"routelab"}, packages=False)
    others = set(closure) - set(compiled)
    assert all(module.startswith("routelab.kernels") for module in others)


def test_name_knows_numba_and_not_the_place(tmp_path: Path) -> None:
    write(tmp_path / "x", KERNELS)
    write(tmp_path / "y" / "z", KERNELS)
    assert name_of(tmp_path / "x") == name_of(tmp_path / "y" / "z")
    assert name_of(tmp_path / "x") != name_of(tmp_path / "x", "numba-2")


def test_processor_facts_are_stable() -> None:
    first = _numba_cache._processor()
    time.sleep(0.05)  # the clock frequency in /proc/cpuinfo moves
    assert _numba_cache._processor() == first


def test_installed_reads_plugin_groups_only(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "stranger-1.dist-info/entry_points.txt": ENTRY_POINTS,
            "bystander-1.dist-info/entry_points.txt": "[console_scripts]\nx = bystander:main\n",
            "numba-0.99.dist-info/METADATA": "",
        },
    )
    modules, numba = installed([str(tmp_path), str(tmp_path / "missing")])
    assert modules == {"stranger", "lonely", "other"}
    assert numba == "numba-0.99.dist-info"


def test_installed_agrees_with_importlib() -> None:
    from importlib.metadata import distributions, version

    expected = {
        point.module.partition(".")[0]
        for distribution in distributions()
        for point in distribution.entry_points
        if point.group.startswith("routelab.")
    }
    modules, numba = installed(sys.path)
    assert modules - {"routelab_plugins"} == expected - {"routelab_plugins"}
    assert numba.startswith(f"numba-{version('numba')}")


@pytest.mark.parametrize(
    ("environ", "base"),
    [
        ({"ROUTELAB_CACHE_DIR": "{tmp}/own", "XDG_CACHE_HOME": "{tmp}/xdg"}, "{tmp}/own"),
        ({"XDG_CACHE_HOME": "{tmp}/xdg", "HOME": "{tmp}"}, "{tmp}/xdg/routelab"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "{tmp}"}, "{tmp}/.cache/routelab"),
        ({"HOME": "{tmp}"}, "{tmp}/.cache/routelab"),
        ({"NUMBA_CACHE_DIR": "{tmp}/user", "ROUTELAB_CACHE_DIR": "{tmp}/own"}, "{tmp}/user"),
    ],
)
def test_base_directory(tmp_path: Path, environ: dict[str, str], base: str) -> None:
    environ = {key: text.format(tmp=tmp_path) for key, text in environ.items()}
    directory = Path(set_cache_directory(environ))
    assert directory.parent == Path(base.format(tmp=tmp_path)) / "numba"
    assert directory.is_dir()
    assert environ["NUMBA_CACHE_DIR"] == str(directory)


def test_child_starts_from_the_base_of_its_parent(tmp_path: Path) -> None:
    environ = {"NUMBA_CACHE_DIR": str(tmp_path / "user"), "HOME": str(tmp_path)}
    first = set_cache_directory(environ)
    assert set_cache_directory(environ) == first
    environ = {"HOME": str(tmp_path)}
    set_cache_directory(environ)
    environ["ROUTELAB_CACHE_DIR"] = str(tmp_path / "own")
    assert Path(set_cache_directory(environ)).is_relative_to(tmp_path / "own")


def test_user_may_change_the_directory_for_a_child(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path)}
    set_cache_directory(environ)
    environ["NUMBA_CACHE_DIR"] = str(tmp_path / "mine")
    assert Path(set_cache_directory(environ)).is_relative_to(tmp_path / "mine")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory of our own, and a base that is a file: no directory fits there."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "file").write_text("")
    return tmp_path / "tmp"


def test_base_that_cannot_be_written_gives_a_private_directory(temporary: Path) -> None:
    blocked = str(temporary.parent / "file")
    directory = Path(set_cache_directory({"ROUTELAB_CACHE_DIR": blocked}))
    private = temporary / f"routelab-{os.getuid()}"
    assert directory.parent == private / "numba"
    assert private.stat().st_mode & 0o077 == 0
    assert set_cache_directory({"ROUTELAB_CACHE_DIR": blocked}) == str(directory)


def test_directory_that_others_can_write_is_not_trusted(temporary: Path) -> None:
    planted = temporary / f"routelab-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    directory = Path(set_cache_directory({"ROUTELAB_CACHE_DIR": str(temporary.parent / "file")}))
    assert not directory.is_relative_to(planted)
    assert directory.stat().st_mode & 0o077 == 0


def test_old_directories_are_pruned_and_only_they(tmp_path: Path) -> None:
    folder = tmp_path / "numba"
    month = 31 * 24 * 3600
    for name, age in (("a" * 32, month), ("b" * 32, 1000), ("kernels_" + "c" * 32, month)):
        (folder / name / "sub").mkdir(parents=True)
        os.utime(folder / name, (time.time() - age,) * 2)
    directory = Path(set_cache_directory({"ROUTELAB_CACHE_DIR": str(tmp_path)}))
    # none where no plugin with a kernel is installed: then the directory is the core's own
    shared = {link.readlink().parent.name for link in directory.iterdir()}
    names = {"b" * 32, "kernels_" + "c" * 32, directory.name, *shared}
    assert {entry.name for entry in folder.iterdir()} == names
    os.utime(directory, (0, 0))
    set_cache_directory({"ROUTELAB_CACHE_DIR": str(tmp_path)})
    assert time.time() - directory.stat().st_mtime < 60


def run(folder: Path, code: str, **environ: str) -> str:
    """What `code` prints in a new process that has `folder` on its path."""
    kept = {key: text for key, text in os.environ.items() if not key.endswith("CACHE_DIR")}
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environ},
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stdout.strip()


def test_edited_kernel_of_a_plugin_is_seen_by_its_callers(tmp_path: Path) -> None:
    plugin = tmp_path / "plugin"
    write(plugin, {**KERNELS, "stranger-1.dist-info/entry_points.txt": ENTRY_POINTS})
    call = "from stranger.b import twice; print(twice(1))"
    ruled = {"code": f"import routelab; {call}", "ROUTELAB_CACHE_DIR": str(tmp_path / "ruled")}
    plain = {"code": call, "NUMBA_CACHE_DIR": str(tmp_path / "plain")}
    assert run(plugin, **ruled) == run(plugin, **plain) == "3"
    write(plugin, {"stranger/a.py": KERNELS["stranger/a.py"].replace("x + STEP", "x + 10 * STEP")})
    assert run(plugin, **ruled) == "21"
    # numba on its own returns the old result: if it ever stops to, the rule has no reason left
    assert run(plugin, **plain) == "3"


def test_editing_a_plugin_compiles_no_kernel_of_the_core_anew(tmp_path: Path) -> None:
    plugin, cache = tmp_path / "plugin", tmp_path / "cache" / "numba"
    write(plugin, {**KERNELS, "stranger-1.dist-info/entry_points.txt": ENTRY_POINTS})

    def hits() -> str:
        """Functions of the core and of the plugin that were there already."""
        code = (
            "import routelab, numpy as np; from stranger.b import twice; twice(1)\n"
            "from routelab.kernels.distances import hop_distances\n"
            "one = np.zeros(1, np.int32)\n"
            "hop_distances(np.zeros(2, np.int32), one[:0], one[:0], 0, one, one.copy())\n"
            "print(*[len(f.stats.cache_hits) for f in (hop_distances, twice)])"
        )
        return run(plugin, code, ROUTELAB_CACHE_DIR=str(cache.parent))

    assert [hits(), hits()] == ["0 0", "1 1"]
    write(plugin, {"stranger/a.py": KERNELS["stranger/a.py"] + "# edited"})
    assert [hits(), hits()] == ["1 0", "1 1"]
    # what is shared may go away
    for entry in cache.iterdir():
        if not any(part.name.startswith("stranger") for part in entry.iterdir()):
            shutil.rmtree(entry)
    assert [hits(), hits()] == ["0 1", "1 1"]


def test_numba_that_was_imported_before_gets_the_directory_too(tmp_path: Path) -> None:
    code = (
        "import numba, routelab, os; print(numba.config.CACHE_DIR, os.environ['NUMBA_CACHE_DIR'])"
    )
    first, second = run(tmp_path, code, ROUTELAB_CACHE_DIR=str(tmp_path)).split()
    assert first == second
    assert Path(first).parent == tmp_path / "numba"


def test_importing_routelab_is_light() -> None:
    code = (
        "import sys; before = set(sys.modules); import routelab; print(*set(sys.modules) - before)"
    )
    heavy = {"numba", "numpy", "pathlib", "importlib.metadata"}
    assert not heavy & set(run(Path(), code).split())
