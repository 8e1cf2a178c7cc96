"""Kernels are compiled when something that they are made of has changed, and only then."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from routelab._runtime import numba_cache, sources
from routelab._runtime.numba_cache import Locator, usable_directory
from routelab._runtime.numba_hook import LOCATOR

ENTRY_POINTS = """
[console_scripts]
tool = unrelated:main
[routelab.rules]
one = stranger.rules:One
"""
INSTALLED = {
    "stranger-1.dist-info/entry_points.txt": ENTRY_POINTS,
    "stranger-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: stranger\nVersion: 1\n",
}

KERNELS = {
    "stranger/__init__.py": "import json",
    "stranger/a.py": "from numba import njit\nfrom stranger.constants import STEP\n\n"
    "@njit(cache=True)\ndef step(x):\n    return x + STEP\n",
    "stranger/b.py": "from numba import njit\nfrom stranger.a import step\n\n"
    "@njit(cache=True)\ndef twice(x):\n    return step(step(x))\n",
    "stranger/c.py": "from numba import njit\nfrom .a import step\n\n"
    "@njit(cache=True)\ndef back(x):\n    return x - step(0)\n",
    "stranger/d.py": "from numba import njit\n\n"
    "@njit(cache=True)\ndef half(x):\n    return x / 2\n",
    "stranger/constants.py": "STEP = 1\n",
}
ALL = ["back", "half", "step", "twice"]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a plugin that is installed there."""
    folder = tmp_path / "site"
    write(folder, KERNELS | INSTALLED)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(numba_cache, "_states", {})
    sources.forget()
    yield folder
    monkeypatch.undo()
    sources.forget()
    for name in [name for name in sys.modules if name.partition(".")[0] == "stranger"]:
        del sys.modules[name]


# --- which sources count ---------------------------------------------------------------------


def test_flags_are_compared_as_numba_does_but_not_option_by_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from numba.core.compiler import Flags

    flags, other = Flags(), Flags()
    other.nrt = not Flags.options["nrt"].default
    assert flags != other
    flags.nrt = other.nrt
    assert flags == other
    assert hash(flags) == hash(other)
    # an option that is set to its default equals one that is not set
    other.fastmath = Flags.options["fastmath"].default
    assert flags == other
    assert flags != "flags"
    monkeypatch.setattr(Flags, "values", None)
    assert flags == flags.copy()
    assert hash(flags) == hash(flags.copy())


def state_of(module: str, file: Path, line: int = 1) -> str:
    return numba_cache._module_state(module, str(file), line)


def test_a_state_knows_numpy_and_the_place(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exceptions of compiled code name its files: plugins are blamed by them."""
    before = state_of("stranger.b", stranger / "stranger/b.py")
    monkeypatch.setattr("numpy.__version__", "0.1")
    assert state_of("stranger.b", stranger / "stranger/b.py") != before
    monkeypatch.undo()
    write(tmp_path / "elsewhere", KERNELS)
    monkeypatch.syspath_prepend(str(tmp_path / "elsewhere"))
    sources.forget()
    assert state_of("stranger.b", tmp_path / "elsewhere/stranger/b.py") != before


# --- how Numba comes to it -------------------------------------------------------------------


def run(folder: Path, code: str, **environ: str) -> str:
    """What `code` prints in a new process that has `folder` on its path."""
    kept = {
        key: text
        for key, text in os.environ.items()
        if not key.startswith("NUMBA_") and not key.endswith("CACHE_DIR")
    }
    path = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**kept, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", **environ},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.mark.parametrize("first", ["numba, routelab", "routelab, numba"])
def test_numba_has_the_locator_and_the_environment_has_not(tmp_path: Path, first: str) -> None:
    code = (
        f"import os; before = dict(os.environ); import {first}\n"
        "from numba.core import caching, config\n"
        f"names = ['{LOCATOR}'] + [one.__name__ for one in caching.CacheImpl._locator_classes]\n"
        "assert config.CACHE_LOCATOR_CLASSES.split(',') == names\n"
        "assert dict(os.environ) == before\n"
        # so it does when the number of threads is set, and the next function is compiled
        "os.environ['NUMBA_OPT'] = '2'\n"
        "numba.config.reload_config()\n"
        "assert config.OPT == 2\n"
        "assert config.CACHE_LOCATOR_CLASSES.split(',') == names\n"
        "from importlib.util import find_spec; assert find_spec('numba.core.caching')\n"
        "print('done')"
    )
    assert run(tmp_path, code) == "done"


def test_a_child_without_routelab_can_cache(tmp_path: Path) -> None:
    child = "import sys; sys.modules['routelab'] = None; from bystander import f; print(f(1))"
    write(
        tmp_path,
        {
            "bystander.py": "from numba import njit\n@njit(cache=True)\ndef f(x): return x + 1\n",
            **KERNELS,
            **INSTALLED,
        },
    )
    code = (
        "import routelab, subprocess, sys; from stranger.d import half; half(1)\n"
        f"subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    )
    assert run(tmp_path, code, ROUTELAB_CACHE_DIR=str(tmp_path / "cache")) == "2"
    assert list(tmp_path.glob("__pycache__/bystander.f-*.nbi"))


# --- what is compiled ------------------------------------------------------------------------

USE = """
import routelab
from numba.core import event
with event.install_recorder("numba:compile") as recorder:
    from stranger.b import twice
    from stranger.c import back
    from stranger.d import half
    print(twice(1), back(10), half(8))
print(*sorted({e.data["dispatcher"].__name__ for _, e in recorder.buffer if e.is_start}))
"""


def use(folder: Path, cache: Path, code: str = USE) -> tuple[list[float], list[str]]:
    """Results of the plugin's kernels, and names of the functions that were compiled."""
    results, _, compiled = run(folder, code, ROUTELAB_CACHE_DIR=str(cache)).partition("\n")
    return [float(result) for result in results.split()], compiled.split()


def test_edits_are_seen_and_nothing_is_compiled_without_need(tmp_path: Path) -> None:
    plugin, cache = tmp_path / "plugin", tmp_path / "cache"
    write(plugin, KERNELS | INSTALLED)
    assert use(plugin, cache) == ([3, 9, 4], ALL)
    edited = KERNELS["stranger/a.py"].replace("x + STEP", "x + 10 * STEP")
    write(plugin, {"stranger/a.py": edited})
    assert use(plugin, cache) == ([21, 0, 4], ALL)  # callers in other files, too
    write(plugin, KERNELS)
    assert use(plugin, cache) == ([3, 9, 4], [])
    write(plugin, {"stranger/constants.py": "STEP = 2\n"})
    assert use(plugin, cache)[0] == [5, 8, 4]


def test_kernels_edited_while_running_are_not_cached_for_others(tmp_path: Path) -> None:
    """The compiled constant is that of the loaded module, the file has another one."""
    plugin, cache = tmp_path / "plugin", tmp_path / "cache"
    write(plugin, KERNELS | INSTALLED)
    file = plugin / "stranger/constants.py"
    code = (
        "import routelab, stranger.constants, pathlib\n"
        f"pathlib.Path({str(file)!r}).write_text('STEP = 5\\n')\n"
        "from stranger.a import step; print(step(1))"
    )
    assert use(plugin, cache, code) == ([2], [])
    assert use(plugin, cache)[0] == [11, 5, 4]


def test_two_states_at_once_do_not_overwrite_each_other(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    write(tmp_path / "x", KERNELS | INSTALLED)
    write(tmp_path / "y", {**KERNELS, **INSTALLED, "stranger/constants.py": "STEP = 2\n"})
    assert use(tmp_path / "x", cache) == ([3, 9, 4], ALL)
    assert use(tmp_path / "y", cache) == ([5, 8, 4], ALL)
    assert use(tmp_path / "x", cache) == ([3, 9, 4], [])
    assert use(tmp_path / "y", cache) == ([5, 8, 4], [])


def test_processes_may_compile_at_the_same_time(tmp_path: Path) -> None:
    plugin, cache = tmp_path / "plugin", tmp_path / "cache"
    write(plugin, KERNELS | INSTALLED)
    code = USE.replace("back(10), ", "")  # one signature of each function
    with ThreadPoolExecutor() as pool:
        outcomes = list(pool.map(lambda _: use(plugin, cache, code), range(3)))
    assert [results for results, _ in outcomes] == [[3, 4]] * 3
    assert use(plugin, cache, code) == ([3, 4], [])


def test_a_plugin_compiles_its_own_kernels_only(tmp_path: Path) -> None:
    plugin, cache = tmp_path / "plugin", tmp_path / "cache"
    core = (
        "import numpy as np; from routelab.kernels.distances import hop_distances\n"
        "    one = np.zeros(1, np.int32)\n"
        "    hop_distances(np.zeros(2, np.int32), one[:0], one[:0], 0, one, one.copy())\n"
    )
    together = USE.replace("from stranger.b", f"{core}    from stranger.b", 1)
    alone = together.replace("from stranger", "pass # from stranger").replace("print(twice", "#", 1)
    plugin.mkdir()
    _, compiled = use(plugin, cache, f"print(1)\n{alone}")
    assert "hop_distances" in compiled
    write(plugin, KERNELS | INSTALLED)
    assert use(plugin, cache, together) == ([3, 9, 4], ALL)
    write(plugin, {"stranger/b.py": KERNELS["stranger/b.py"] + "# edited"})
    assert use(plugin, cache, together) == ([3, 9, 4], ALL)


def test_a_script_is_compiled_anew_when_its_callee_is_edited(tmp_path: Path) -> None:
    write(tmp_path, KERNELS)
    script = (
        "import routelab; from numba import njit; from stranger.a import step\n"
        "@njit(cache=True)\ndef f(x): return step(x)\n"
        "print(f(1), len(f.stats.cache_misses))"
    )
    write(tmp_path, {"script.py": script})
    command = f"import subprocess, sys; subprocess.run([sys.executable, '{tmp_path}/script.py'])"
    for step, expected in ((1, "2 1"), (1, "2 0"), (2, "3 1")):
        write(tmp_path, {"stranger/constants.py": f"STEP = {step}\n"})
        assert run(tmp_path, command, ROUTELAB_CACHE_DIR=str(tmp_path / "cache")) == expected


# --- directories -----------------------------------------------------------------------------


def place(monkeypatch: pytest.MonkeyPatch, **environ: str) -> Path:
    """The directory of kernels called ``x`` in an environment."""
    for name in ("NUMBA_CACHE_DIR", "ROUTELAB_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, text in environ.items():
        monkeypatch.setenv(name, text)
    return Path(usable_directory("x"))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory of our own, and a base that is a file: no directory fits there."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    (tmp_path / "file").write_text("")
    return tmp_path / "tmp"


def test_base_that_cannot_be_written_gives_a_private_directory(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = temporary.parent / "own"
    (base / "numba" / "x").mkdir(parents=True)
    access = os.access
    monkeypatch.setattr(
        "os.access",
        lambda path, mode: not Path(path).is_relative_to(base) and access(path, mode),
    )
    directory = place(monkeypatch, ROUTELAB_CACHE_DIR=str(base))
    assert directory == temporary / f"routelab-{os.getuid()}" / "numba" / "x"


def test_directory_that_others_can_write_is_not_trusted(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted = temporary / f"routelab-{os.getuid()}"
    planted.mkdir()
    planted.chmod(0o777)
    directory = place(monkeypatch, ROUTELAB_CACHE_DIR=str(temporary.parent / "file"))
    assert not directory.is_relative_to(planted)
    assert directory.parents[1].stat().st_mode & 0o077 == 0


def test_old_directories_are_pruned_and_only_they(
    stranger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache" / "numba"
    month = 31 * 24 * 3600
    ages = {
        "a" * 32: month,  # of an earlier version
        "b" * 32: 1000,
        "kernels_" + "c" * 40: month,  # Numba's own
        "some.kernels-" + "d" * 32: month,
        "some.kernels-" + "e" * 32: 1000,
        "warm/old": month,
        "warm/new": 1000,
    }
    (folder / "warm").mkdir(parents=True)
    for name in ages:
        if name.startswith("warm/"):
            (folder / name).touch()
        else:
            (folder / name / "sub").mkdir(parents=True)
    for name, age in ages.items():
        os.utime(folder / name, (time.time() - age,) * 2)
    file = str(stranger / "stranger/b.py")
    stranger_b = importlib.import_module("stranger.b")
    locator = Locator.from_function(stranger_b.twice.py_func, file)
    assert locator is not None
    new = Path(locator.get_cache_path())
    assert new.name == "stranger.b"
    left = {str(path.relative_to(folder)) for path in [*folder.iterdir(), *folder.glob("warm/*")]}
    assert left >= {"b" * 32, "kernels_" + "c" * 40, "some.kernels-" + "e" * 32, "warm/new"}
    assert not left & {"a" * 32, "some.kernels-" + "d" * 32, "warm/old"}
    # what is used is young
    os.utime(new.parent, (0, 0))
    numba_cache._make_usable_directory.cache_clear()
    Locator.from_function(stranger_b.twice.py_func, file)
    assert time.time() - new.parent.stat().st_mtime < 60
