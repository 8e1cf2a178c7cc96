"""A folder with studies, and a `routelab` on the PATH that only notes how it was called."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

STUB = """\
#!/bin/sh
# notes the call and makes its output; files `wait` and `status` tell what else to do
printf '%s\\n' "NUMBA=$NUMBA_NUM_THREADS OMP=$OMP_NUM_THREADS $*" >> calls.txt
command=$1
for word; do
    [ "$previous" = -o ] && output=$word
    previous=$word
done
[ "$2" = --index ] && output=results/report/index.html
while [ -e wait ] && [ "$command" = route ]; do sleep 0.05; done
case $command:$output in
    topology:* | route:*)
        mkdir -p "$output"
        status=ok
        [ -e status ] && status=$(cat status)
        echo "{\\"status\\": \\"$status\\"}" > "$output/outcome.json" ;;
    report:*.html | warm:*) mkdir -p "$(dirname "$output")" && echo "$*" > "$output" ;;
    report:*) mkdir -p "$output" && echo "$*" > "$output/index.html" ;;
esac
"""

STUDY = """\
title: Small
topologies: [torus~dims=4, torus~dims=4x2]
routings:
  - dor
  - {angara-sssp: {tie_seed: {range: 2}}}
  - {use: "p-sssp@unrestricted@cycle-breaking", as: layered}
limits: {seconds: 60, memory_gb: 0.5}
"""


class Folder:
    """A project folder in which the workflow runs."""

    def __init__(self, path: Path, cache: Path) -> None:
        self.path = path
        self.cache = cache
        self.env = {
            **os.environ,
            "PATH": f"{path / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
            "ROUTELAB_CACHE_DIR": str(cache),
            "XDG_CACHE_HOME": str(cache),
        }

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def command(self, *arguments: str) -> list[str]:
        return [
            *(sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile")),
            *("--cores", "2", *arguments),
        ]

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A run in the background, in a process group of its own."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.path,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A run to its end; `calls` then has its calls only."""
        (self.path / "calls.txt").unlink(missing_ok=True)
        return subprocess.run(
            self.command(*arguments), cwd=self.path, env=self.env, capture_output=True, text=True
        )

    def ran(self, *arguments: str) -> list[str]:
        """Outputs that a successful run made, seen from results/."""
        run = self.run(*arguments)
        assert run.returncode == 0, run.stdout + run.stderr
        return self.made()

    def calls(self) -> list[list[str]]:
        """Words of every call of the stub so far, environment first."""
        path = self.path / "calls.txt"
        return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []

    def by_output(self) -> dict[str, list[str]]:
        """Calls so far by what they were to make, seen from results/."""
        return {output_of(call).removeprefix("results/"): call for call in self.calls()}

    def made(self) -> list[str]:
        """Outputs of every call so far, seen from results/, sorted."""
        return sorted(output_of(call).removeprefix("results/") for call in self.calls())

    def outcomes(self) -> set[str]:
        """Folders of results/ with an outcome."""
        results = self.path / "results"
        return {str(path.parent.relative_to(results)) for path in results.rglob("outcome.json")}

    def wait_for(self, condition: Callable[[], bool], run: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert run.poll() is None, run.communicate()[0]
            assert time.monotonic() < deadline, "the run makes no progress"
            time.sleep(0.05)


def output_of(call: list[str]) -> str:
    """What a call was to make; compiled kernels are `WARM`, as their name is a hash."""
    if call[2] == "warm":
        return "WARM"
    return call[call.index("-o") + 1] if "-o" in call else "results/report/index.html"


def make_folder(path: Path) -> Folder:
    folder = Folder(path, path.parent / "cache")
    stub = folder.write("bin/routelab", STUB)
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    folder.write("config/config.yaml", "studies: [small]\n")
    folder.write("config/studies/small.yaml", STUDY)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return make_folder(tmp_path / "project")


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A folder in which everything ran once; to be looked at only."""
    folder = make_folder(tmp_path_factory.mktemp("finished") / "project")
    folder.ran()
    return folder


@pytest.fixture
def finished(finished_run: Folder, tmp_path: Path) -> Folder:
    """A copy of the finished run, times and Snakemake's memory of it included."""
    shutil.copytree(finished_run.path, tmp_path / "project")
    return Folder(tmp_path / "project", finished_run.cache)
