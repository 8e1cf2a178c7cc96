"""Snakemake in forks of a process that has imported it, as that takes longer than most runs.

Only what others wrote is imported before: every fork imports routelab and its plugins itself.
Started as a program, this module reads requests, a line of JSON each, and answers with exit codes.
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path


class PreloadedSnakemake:
    """A process that runs Snakemake like ``python -m snakemake``; close it at the end."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            # a fork sets its own import path
            env={name: text for name, text in os.environ.items() if name != "PYTHONPATH"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(
        self, arguments: Sequence[str], cwd: Path, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run Snakemake to its end in a folder and an environment."""
        assert self._process.stdin
        assert self._process.stdout
        with tempfile.TemporaryDirectory() as folder:
            outputs = [Path(folder, name) for name in ("stdout", "stderr")]
            request = [list(arguments), str(cwd), dict(env), [str(path) for path in outputs]]
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
            stdout, stderr = (path.read_text() for path in outputs)
        return subprocess.CompletedProcess(list(arguments), int(answer), stdout, stderr)

    def close(self) -> None:
        """End the process, with a run that a failed test left."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def serve() -> tuple[list[str], str, dict[str, str], list[str]] | None:
    """Fork for every request; return the request in the fork, and None when no more come."""
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            return tuple(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return None


def become(arguments: list[str], cwd: str, env: dict[str, str], outputs: list[str]) -> None:
    """Take on what ``python -m snakemake`` starts with in a folder and an environment."""
    for number, name in enumerate([os.devnull, *outputs]):
        opened = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    before = filter(None, env.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = [cwd, *before, *sys.path[1:]]
    sys.argv = ["snakemake", *arguments]


MODULES = ("snakemake.cli", "snakemake.report.html_reporter", "numba", "pandas", "pydantic")
"""What takes long to import."""

if __name__ == "__main__":
    for name in MODULES:
        importlib.import_module(name)
    assert not [name for name in sys.modules if name.startswith("routelab")]
    request = serve()
    if request:
        become(*request)
        runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
