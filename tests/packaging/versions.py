"""Install routelab without its checkout, and run a small study there as a user would.

python tests/packaging/versions.py [--all] [--keep FOLDER]

The wheel is installed with the oldest Python that is found and the lowest dependencies that
pyproject.toml allows, the sdist with Python 3.13, or else the newest, and the versions of
constraints.txt. With --all, the sdist is installed with every Python. All must give the same
results. Exits with 1 if a run failed or no Python was found. FOLDER, a new one, keeps the
environments and results; without it they are deleted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
USUAL = "3.13"
"""With the pinned dependencies, unless all are tried."""

ATTEMPTS = 3
"""Of an installation: a package index may have an old answer, which lacks a pinned version."""

SHOWN = 40
"""Lines of output of a failed command, the last ones."""

COUPLED = ("llvmlite", "pydantic-core")
"""Packages of which Numba and pydantic require one version; their pins fit the pinned ones only."""

STUDY = """\
title: Small
cites: mukosey2020
topologies: [torus~dims=4x2]
routings:
  - dor
  - angara-sssp
  - {use: "p-sssp@unrestricted@cycle-breaking", as: layered}
traffic: [uniform]
simulation: {loads: [0.1, 0.5], precision: 0.2, max_cycles: 6400}
workloads: [{use: "npb-cg~class=S", as: CG}]
flow: {iterations: {by: {CG: 2}}}
bound: true
tables:
  loads:
    rows: [routing, nodes]
    values: [max_load, mean_load, deadlock]
    beside: {reference: table2.csv, on: [routing, nodes]}
figures:
  latency: {of: loads, kind: curve, x: load, y: latency_mean}
  net: {kind: network, colour: load}
"""

KINDS = ("bounds", "flows", "metrics", "routes", "simulations", "topologies")
"""Folders of the study with outcomes of this study."""


class RunError(Exception):
    """A command that failed, with what it printed."""


@dataclass(frozen=True)
class Run:
    """What is installed with which interpreter.

    Attributes
    ----------
    version : str
        Minor version of Python.
    python : Path
    dependencies : str
        ``pinned`` or ``lowest``.
    distribution : Path
        Wheel or sdist.
    """

    version: str
    python: Path
    dependencies: str
    distribution: Path

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.version}-{self.dependencies}"


def find_python(version: str) -> Path | None:
    """Return an interpreter of a minor version, from PATH or pyenv's folder."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    folders = [*map(Path, os.get_exec_path()), *sorted(pyenv.glob(f"versions/{version}.*/bin"))]
    for program in (folder / f"python{version}" for folder in folders):
        if os.access(program, os.X_OK):
            # a program of pyenv is here also for versions that are not switched on, and fails then
            probe = subprocess.run([program, "-c", "import ensurepip"], capture_output=True)
            if probe.returncode == 0:
                return program
    return None


def choose_runs(pythons: dict[str, Path], wheel: Path, sdist: Path, every: bool) -> list[Run]:
    """Return the runs with the interpreters that were found, by version from the oldest."""
    oldest, newest = next(iter(pythons)), list(pythons)[-1]
    preferred = USUAL if USUAL in pythons else newest
    pinned = pythons if every else [preferred]
    return [
        Run(oldest, pythons[oldest], "lowest", wheel),
        *(Run(version, pythons[version], "pinned", sdist) for version in pinned),
    ]


def normal(name: str) -> str:
    """Return a package's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def lowest_versions(project: str, pins: str) -> str:
    """Return constraints with the lowest versions of all dependencies.

    Parameters
    ----------
    project : str
        Content of pyproject.toml.
    pins : str
        Content of constraints.txt, for the dependencies of dependencies.
    """
    lowest = {}
    for text in tomllib.loads(project)["project"]["dependencies"]:
        bound = re.match(r"([\w.-]+)>=([\w.]+)", text)
        if not bound:
            raise ValueError(f"pyproject.toml: dependency '{text}' has no lower bound; add '>='")
        lowest[normal(bound[1])] = bound[2]
    others = [
        line
        for line in pins.splitlines()
        if "==" in line and normal(line.partition("==")[0]) not in {*lowest, *COUPLED}
    ]
    return "\n".join([*(f"{name}=={version}" for name, version in lowest.items()), *others, ""])


def call(*command: str | Path, cwd: Path, env: dict[str, str]) -> str:
    """Run a command and return its output; it must succeed."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        printed = "\n".join((done.stdout + done.stderr).splitlines()[-SHOWN:])
        raise RunError(f"$ {' '.join(map(str, command))}\n{printed}\nexit code {done.returncode}")
    return done.stdout


def build(folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist of the checkout."""
    call(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT, env=dict(os.environ))
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return wheel, sdist


def install(run: Run, folder: Path) -> dict[str, str]:
    """Install into a new environment; return the variables with which to use it."""
    constraints = folder / "constraints.txt"
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    if run.dependencies == "lowest":
        project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        pins = lowest_versions(project, pins)
    constraints.write_text(pins, encoding="utf-8")
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")} | {
        "PATH": f"{folder / 'venv/bin'}{os.pathsep}{os.defpath}",
        "XDG_CACHE_HOME": str(folder / "cache"),
    }
    # packages that others downloaded may be used; compiled kernels may not
    installing = {name: text for name, text in env.items() if name != "XDG_CACHE_HOME"} | {
        "PIP_CONSTRAINT": str(constraints),
        "PIP_BUILD_CONSTRAINT": str(constraints),
    }
    call(run.python, "-m", "venv", folder / "venv", cwd=folder, env=installing)
    pip = (folder / "venv/bin/python", "-m", "pip", "--disable-pip-version-check")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            call(
                *(*pip, "install", "--no-compile", run.distribution),
                cwd=folder,
                env=installing,
            )
            break
        except RunError:
            if attempt == ATTEMPTS:
                raise
            time.sleep(10 * attempt)
    call(*pip, "check", cwd=folder, env=installing)
    return env


def use(folder: Path, env: dict[str, str]) -> None:
    """Run the study in a new working directory."""
    code = "import routelab, routelab_plugins as p; print(routelab.__file__, p.__file__)"
    modules = call(folder / "venv/bin/python", "-c", code, cwd=folder, env=env).split()
    if not all(Path(module).is_relative_to(folder / "venv") for module in modules):
        raise RunError(f"not the installed modules: {' '.join(modules)}")
    program = folder / "venv/bin"
    call(program / "routelab", "init", "project", cwd=folder, env=env)
    project = folder / "project"
    (project / "config/studies/small.yaml").write_text(STUDY, encoding="utf-8")
    call(program / "routelab", "study", "check", "config/studies/small.yaml", cwd=project, env=env)
    snakemake = (program / "snakemake", "--cores", "1", "report", "--config", "studies=small")
    call(*snakemake, cwd=project, env=env)
    outcomes = sorted((project / "results").rglob("outcome.json"))
    kinds = {path.relative_to(project / "results").parts[1] for path in outcomes}
    if kinds != set(KINDS):
        raise RunError(f"results are {', '.join(sorted(kinds))} instead of {', '.join(KINDS)}")
    for path in outcomes:
        outcome = json.loads(path.read_text(encoding="utf-8"))
        if outcome["status"] != "ok":
            raise RunError(f"{path}: {outcome['status']}: {outcome['reason']}")
        if outcome["provenance"]["git_commit"] is not None:
            raise RunError(f"{path}: has the commit of a repository")
    page = (project / "results/report/small/index.html").read_text(encoding="utf-8")
    if not all(part in page for part in ("<table", "figures/latency.svg", "figures/net.svg")):
        raise RunError("the page of the study lacks its table or its figures")


def try_run(run: Run, above: Path) -> str:
    """Install and use; return what failed, empty if nothing did."""
    started = time.monotonic()
    folder = above / run.name
    folder.mkdir()
    try:
        env = install(run, folder)
        installed = time.monotonic()
        use(folder, env)
    except RunError as error:
        print(f"{run.name}: failed\n{error}", file=sys.stderr, flush=True)
        return str(error)
    times = f"installed in {installed - started:.0f} s, ok after {time.monotonic() - started:.0f} s"
    print(f"{run.name}, {run.distribution.name}, {run.python}: {times}", flush=True)
    return ""


def differences(first: Run, other: Run, above: Path) -> str:
    """Print and return how the results of two runs differ; empty if they are equal."""
    folder = above / first.name
    old, new = (above / run.name / "project/results" for run in (first, other))
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")}
    try:
        call(folder / "venv/bin/routelab", "compare", old, new, cwd=folder, env=env)
    except RunError as error:
        print(f"{other.name}: other results than {first.name}\n{error}", file=sys.stderr)
        return str(error)
    return ""


def run_all(above: Path, every: bool) -> int:
    """Run everything in a folder; return the exit code."""
    programs = {version: find_python(version) for version in VERSIONS}
    pythons = {version: python for version, python in programs.items() if python}
    if not pythons:
        print(f"no Python found: none of {', '.join(VERSIONS)}", file=sys.stderr)
        return 1
    (above / "dist").mkdir()
    runs = choose_runs(pythons, *build(above / "dist"), every)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        problems = list(pool.map(lambda run: try_run(run, above), runs))
    if not any(problems):
        problems = [differences(runs[0], run, above) for run in runs[1:]]
    return int(any(problems))


def main(arguments: list[str]) -> int:
    """Run in a folder that is kept, or in one that is deleted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="try every Python that is found")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="new folder for all files")
    options = parser.parse_args(arguments)
    if options.keep:
        options.keep.mkdir(parents=True)
        return run_all(options.keep.resolve(), options.all)
    with tempfile.TemporaryDirectory(prefix="routelab-versions-") as name:
        return run_all(Path(name), options.all)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
