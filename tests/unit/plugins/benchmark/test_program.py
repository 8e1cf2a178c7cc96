"""The program of mpi-patterns, run for real where there is an MPI."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from routelab.api import BenchmarkError, BenchmarkTask, RunOutput
from routelab.registry.instances import load

pytest.importorskip("mpi4py")
MPIEXEC = shutil.which("mpiexec.mpich")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="needs MPICH's mpiexec (Debian: mpich)")

SETTINGS = "size=1KiB,doublings=2,iterations=3,warm_up=1"


def launched(folder, command, ranks=2, separate=False):
    """Run a command on a few processes; `separate`: they do not find each other."""
    hidden = [f"--unset=PMI_{name}" for name in ("FD", "PORT", "RANK", "SIZE")]
    alone = ["env", *hidden] if separate else []
    done = subprocess.run(
        # on this machine, also if the tests run in a job of a batch system
        [str(MPIEXEC), "-launcher", "fork", "-rmk", "user", "-n", str(ranks), *alone, *command],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    return RunOutput(done.stdout, done.stderr, done.returncode)


def prepared(folder, pattern, ranks):
    plugin = load("benchmark", f"mpi-patterns~pattern={pattern},{SETTINGS}")
    task = BenchmarkTask(ranks, 1, Path(plugin.executables(ranks)[0]), folder)
    for name, text in plugin.files(task).items():
        (folder / name).write_text(text)
    return plugin, task


@pytest.mark.parametrize(
    ("pattern", "ranks"), [("transpose", 4), ("neighbor", 2), ("tornado", 3), ("alltoall", 3)]
)
def test_it_measures_the_requested_sizes(pattern, ranks, tmp_path):
    plugin, task = prepared(tmp_path, pattern, ranks)
    output = launched(tmp_path, plugin.command(task), ranks)
    result = plugin.parse(output, task)
    assert result.facts == {"pattern": pattern, "processes": ranks}
    measured = {(figure.metric, figure.size) for figure in result.figures}
    names = ("latency_avg", "latency_min", "latency_max", "iterations")
    assert measured == {(name, size) for name in names for size in (1024, 2048, 4096)}
    assert {figure.value for figure in result.figures if figure.metric == "iterations"} == {3.0}
    # nothing is left of the links to an MPI of another name
    assert [path.name for path in tmp_path.iterdir()] == ["mpi_patterns.py"]


def test_processes_that_do_not_find_each_other_are_noticed(tmp_path):
    plugin, task = prepared(tmp_path, "neighbor", 2)
    output = launched(tmp_path, plugin.command(task), separate=True)
    assert output.exit_code == 0
    with pytest.raises(BenchmarkError) as error:
        plugin.parse(output, task)
    assert error.value.failure == "wrong-processes"


def test_wrong_contents_are_noticed(tmp_path):
    plugin, task = prepared(tmp_path, "alltoall", 2)
    (tmp_path / "liar.py").write_text(
        "import sys, mpi_patterns\n"
        "honest, calls = mpi_patterns.content, []\n"
        "def content(*arguments):\n"
        "    calls.append(arguments)\n"
        "    return honest(*arguments) + (len(calls) == 4)\n"
        "mpi_patterns.content = content\n"
        "sys.exit(mpi_patterns.main())\n"
    )
    command = [str(tmp_path / "liar.py") if "patterns.py" in x else x for x in plugin.command(task)]
    output = launched(tmp_path, command)
    assert output.exit_code
    with pytest.raises(BenchmarkError) as error:
        plugin.parse(output, task)
    assert error.value.failure == "verification-failed"


def test_a_python_without_mpi4py_is_named(tmp_path):
    plugin, task = prepared(tmp_path, "neighbor", 2)
    (tmp_path / "mpi4py.py").write_text("raise ModuleNotFoundError('mpi4py')\n")
    output = launched(tmp_path, plugin.command(task))
    with pytest.raises(BenchmarkError, match=f"{sys.executable} has no mpi4py") as error:
        plugin.parse(output, task)
    assert error.value.failure == "error-text"


@pytest.mark.parametrize(
    "arguments", ["nobody", "neighbor -m 5:4", "neighbor -m 0:4", "neighbor -m x"]
)
def test_wrong_arguments_are_refused(arguments, tmp_path):
    plugin, task = prepared(tmp_path, "neighbor", 2)
    command = [*plugin.command(task)[:2], *arguments.split()]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: argument" in done.stderr
