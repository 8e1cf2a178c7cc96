"""A folder with studies, and a `routelab` on the PATH that only notes how it was called."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .preloaded import PreloadedSnakemake

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

STUB = f"""\
#!{sys.executable}
# notes its call and the jobs it does, and makes outputs; files tell what else: `wait`, `status`
# (of all jobs) and `statuses` (by parts of folders, with reasons)
import json, os, sys, time
from pathlib import Path

words = sys.argv[1:]
def held():  # as long as `wait` is there, if as many routes are made as it says
    try:
        enough = int(Path("wait").read_text() or 0)
    except FileNotFoundError:
        return False
    return len(list(Path("results").glob("*/routes/*/*/outcome.json"))) >= enough
def note(text):
    with open("calls.txt", "a") as file:
        file.write(text + "\\n")

note(" ".join(["NUMBA=" + os.environ.get("NUMBA_NUM_THREADS", ""),
               "OMP=" + os.environ.get("OMP_NUM_THREADS", ""), *words]))
if words[0] == "warm":
    print("compiling dor\\ncompiling layered\\nlayered: not on this network", flush=True)
    if Path("slow").exists():
        time.sleep(float(Path("slow").read_text()))
        note("JOB compiled")
    sys.exit()
if "-o" in words:
    output = Path(words[words.index("-o") + 1])
else:
    output = Path("results/report/index.html")
if words[0] == "report" and output.suffix != ".html":
    output = output / "index.html"
output.parent.mkdir(parents=True, exist_ok=True)
option = next((word for word in words if word in ("batch", "--comparison")), None)
if option:
    spec = json.loads(Path(words[words.index(option) + 1]).read_text())
    assert (spec["format"], spec["results"]) == ("batch/2", "results"), spec
    for job in spec["jobs"]:
        path = Path(job["folder"], "outcome.json")
        if path.exists():
            try:
                found = json.loads(path.read_text())
                known = found["provenance"]["fingerprint"] == job["fingerprint"]
                if known and found["status"] not in ("failed", "timeout"):
                    continue
            except (ValueError, KeyError):
                pass
        note("JOB " + job["folder"])
        while job["class"].endswith(":RouteJob") and held():
            time.sleep(0.05)
        path.parent.mkdir(parents=True, exist_ok=True)
        status, reason = Path("status").read_text() if Path("status").exists() else "ok", ""
        if Path("statuses").exists():
            for part, found in json.loads(Path("statuses").read_text()).items():
                if part in job["folder"]:
                    status, reason = found
        provenance = {{"fingerprint": job["fingerprint"]}}
        outcome = {{"status": status, "reason": reason, "provenance": provenance}}
        path.write_text(json.dumps(outcome))
output.write_text(json.dumps({{"replaces": spec["replaces"]}}) if option else " ".join(words))
if "--index" in words:
    output.with_name("values.html").write_text(" ".join(words))
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

    def __init__(self, path: Path, cache: Path, snakemake: PreloadedSnakemake) -> None:
        self.path = path
        self.cache = cache
        self.snakemake = snakemake
        self.env = {
            **os.environ,
            "PATH": f"{path / 'bin'}{os.pathsep}{BIN}{os.pathsep}{os.environ['PATH']}",
            "ROUTELAB_CACHE_DIR": str(cache),
            "XDG_CACHE_HOME": str(cache),
        }

    @property
    def results(self) -> Path:
        """Folder of the results of the study `small`."""
        return self.path / "results" / "small"

    def write(self, name: str, text: str) -> Path:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def use_real_command(self) -> None:
        """Take the stub away; kernels that were compiled before are used."""
        (self.path / "bin/routelab").unlink()
        for name in ("ROUTELAB_CACHE_DIR", "XDG_CACHE_HOME"):
            self.env.pop(name)
            if name in os.environ:
                self.env[name] = os.environ[name]

    def arguments(self, *more: str) -> list[str]:
        return ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2", *more]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "snakemake", *self.arguments(*arguments)]

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
        return self.snakemake.run(self.arguments(*arguments), self.path, self.env)

    def ran(self, *arguments: str) -> list[str]:
        """Outputs that a successful run made, see `seen`."""
        run = self.run(*arguments)
        assert run.returncode == 0, run.stdout + run.stderr
        return self.outputs()

    def _noted(self) -> list[list[str]]:
        path = self.path / "calls.txt"
        return [line.split(" ") for line in path.read_text().splitlines()] if path.exists() else []

    def calls(self) -> list[list[str]]:
        """Words of every call of the stub so far, environment first."""
        return [line for line in self._noted() if line[0] != "JOB"]

    def jobs(self) -> list[str]:
        """Folders of the jobs that batches did so far, see `seen`."""
        return [seen(line[1]) for line in self._noted() if line[0] == "JOB"]

    def by_output(self) -> dict[str, list[str]]:
        """Calls so far by what they were to make, see `seen`."""
        return {seen(output_of(call)): call for call in self.calls()}

    def outputs(self) -> list[str]:
        """Jobs, reports and compiled kernels so far, see `seen`, sorted."""
        calls = [call for call in self.calls() if not {"batch", "--comparison"} & set(call)]
        outputs = [output_of(call) for call in calls]
        return sorted([*self.jobs(), *map(seen, outputs)])

    def outcomes(self) -> set[str]:
        """Folders of results/ with an outcome, see `seen`."""
        paths = (self.path / "results").rglob("outcome.json")
        return {seen(str(path.parent.relative_to(self.path))) for path in paths}

    def wait_for(self, condition: Callable[[], bool], run: subprocess.Popen[str]) -> None:
        deadline = time.monotonic() + 120
        while not condition():
            assert run.poll() is None, run.communicate()[0]
            assert time.monotonic() < deadline, "the run makes no progress"
            time.sleep(0.05)


def seen(name: str) -> str:
    """Path seen from the folder of the study `small`, or else from results/."""
    return name.removeprefix("results/").removeprefix("small/")


def output_of(call: list[str]) -> str:
    """What a call was to make; compiled kernels are `WARM`."""
    if call[2] == "warm":
        return "WARM"
    return call[call.index("-o") + 1] if "-o" in call else "results/report/index.html"


def make_folder(path: Path, snakemake: PreloadedSnakemake) -> Folder:
    folder = Folder(path, path.parent / "cache", snakemake)
    stub = folder.write("bin/routelab", STUB)
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    folder.write("config/config.yaml", "studies: [small]\n")
    folder.write("config/studies/small.yaml", STUDY)
    return folder


@pytest.fixture(scope="module")
def snakemake() -> Iterator[PreloadedSnakemake]:
    process = PreloadedSnakemake()
    yield process
    process.close()


@pytest.fixture
def folder(tmp_path: Path, snakemake: PreloadedSnakemake) -> Folder:
    return make_folder(tmp_path / "project", snakemake)


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory, snakemake: PreloadedSnakemake) -> Folder:
    """A folder in which everything ran once; to be looked at only."""
    folder = make_folder(tmp_path_factory.mktemp("finished") / "project", snakemake)
    folder.ran()
    return folder


@pytest.fixture
def finished(finished_run: Folder, tmp_path: Path) -> Folder:
    """A copy of the finished run, times and Snakemake's memory of it included."""
    shutil.copytree(finished_run.path, tmp_path / "project")
    return Folder(tmp_path / "project", finished_run.cache, finished_run.snakemake)
