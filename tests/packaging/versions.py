"""Install routelab without its checkout with every supported Python, and run a small study there.

python tests/packaging/versions.py [FOLDER]

Builds wheel and sdist once. With each Python that is found, installs one of them into a new
environment and runs the study as a user would. All must give the same results. Dependencies have
the versions of constraints.txt; one more run has the lowest that pyproject.toml allows. Prints a
table, and exits with 1 if a run failed or no Python was found. FOLDER, a new one, keeps the
environments and results; without it they are deleted.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
ATTEMPTS = 3
"""Of an installation: a package index may have an old answer, which lacks a pinned version."""

SHOWN = 40
"""Lines of output of a failed command, the last ones."""

COUPLED = ("llvmlite", "pydantic-core")
"""Packages of which Numba and pydantic require one version; their pins fit the pinned ones only."""

STUDY = """\
title: Small
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
  loads: {rows: [routing], values: [max_load, mean_load, deadlock]}
figures:
  latency: {of: loads, kind: curve, x: load, y: latency_mean}
  net: {kind: network, colour: load}
"""
CORES = threading.Semaphore(len(os.sched_getaffinity(0)))
"""Studies that run at a time. All installations run together, as they mostly wait for downloads."""

KINDS = ("bounds", "flows", "routes", "simulations", "topologies")
"""Folders of results with outcomes of this study."""


class RunError(Exception):
    """A command that failed, with what it printed."""


@dataclass(frozen=True)
class Python:
    """An interpreter.

    Attributes
    ----------
    path : Path
    version : tuple of int
        Major, minor and patch.
    """

    path: Path
    version: tuple[int, int, int]

    @property
    def text(self) -> str:
        """Version as text."""
        return ".".join(map(str, self.version))


@dataclass(frozen=True)
class Run:
    """What is installed with which interpreter.

    Attributes
    ----------
    python : Python
    dependencies : str
        ``pinned`` or ``lowest``.
    distribution : Path
        Wheel or sdist.
    """

    python: Python
    dependencies: str
    distribution: Path

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.python.text}-{self.dependencies}"


def candidates(version: str) -> Iterator[Path]:
    """Yield the paths at which an interpreter of a minor version may be."""
    for folder in os.get_exec_path():
        yield Path(folder, f"python{version}")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted(pyenv.glob(f"versions/{version}.*")):
        yield folder / f"bin/python{version}"


def find_python(version: str) -> Python | None:
    """Return the interpreter with the lowest patch version of a minor version, if there is one."""
    # environments are left out: the interpreter that they are made of is what is tested
    code = (
        "import ensurepip, sys; sys.prefix != sys.base_prefix and sys.exit(1); "
        "print(*sys.version_info[:3])"
    )
    found = []
    for path in candidates(version):
        if not os.access(path, os.X_OK):
            continue
        # a program of pyenv is here also for versions that are not switched on, and fails then
        asked = subprocess.run([path, "-c", code], capture_output=True, text=True, check=False)
        numbers = tuple(map(int, asked.stdout.split())) if asked.returncode == 0 else ()
        if len(numbers) == 3 and f"{numbers[0]}.{numbers[1]}" == version:
            found.append(Python(path, numbers))
    return min(found, key=lambda python: python.version, default=None)


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
    call(run.python.path, "-m", "venv", folder / "venv", cwd=folder, env=installing)
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
    kinds = {path.relative_to(project / "results").parts[0] for path in outcomes}
    if kinds != set(KINDS):
        raise RunError(f"results are {', '.join(sorted(kinds))} instead of {', '.join(KINDS)}")
    for path in outcomes:
        outcome = json.loads(path.read_text(encoding="utf-8"))
        if outcome["status"] != "ok":
            raise RunError(f"{path}: {outcome['status']}: {outcome['reason']}")
    page = (project / "results/report/small/index.html").read_text(encoding="utf-8")
    if "<table" not in page or "<svg" not in page:
        raise RunError("the page of the study lacks its table or its figures")


def try_run(run: Run, above: Path) -> str:
    """Install and use; return what failed, empty if nothing did."""
    started = time.monotonic()
    folder = above / run.name
    folder.mkdir()
    try:
        env = install(run, folder)
        installed = time.monotonic()
        with CORES:
            use(folder, env)
    except RunError as error:
        print(f"{run.name}: failed\n{error}", file=sys.stderr, flush=True)
        return str(error)
    times = f"installed in {installed - started:.0f} s, ok after {time.monotonic() - started:.0f} s"
    print(f"{run.name}: {times}", flush=True)
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


def table(runs: list[Run], problems: dict[Run, str], missing: list[str]) -> str:
    """Return a line for every run and for every version without an interpreter."""
    rows = [("Python", "dependencies", "installed from", "result", "interpreter")]
    for run in runs:
        kind = "wheel" if run.distribution.suffix == ".whl" else "sdist"
        result = "failed" if problems[run] else "ok"
        rows.append((run.python.text, run.dependencies, kind, result, str(run.python.path)))
    rows += [(version, "", "", "not run", "no interpreter here") for version in missing]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def run_all(above: Path) -> int:
    """Run everything in a folder; return the exit code."""
    (above / "dist").mkdir()
    wheel, sdist = build(above / "dist")
    found = {version: find_python(version) for version in VERSIONS}
    missing = [version for version, python in found.items() if python is None]
    pythons = [python for python in found.values() if python]
    if not pythons:
        print(f"no Python found: none of {', '.join(VERSIONS)}", file=sys.stderr)
        return 1
    # the oldest interpreter has the lowest versions; the sdist is as good with any
    runs = [Run(pythons[0], "lowest", wheel), Run(pythons[0], "pinned", sdist)]
    runs += [Run(python, "pinned", wheel) for python in pythons[1:]]
    with ThreadPoolExecutor(len(runs)) as pool:
        found_problems = pool.map(lambda run: try_run(run, above), runs)
        problems = dict(zip(runs, found_problems, strict=True))
    first = next((run for run in runs if not problems[run]), runs[0])
    for run in runs:
        if run != first and not problems[run]:
            problems[run] = differences(first, run, above)
    print(table(runs, problems, missing))
    return int(any(problems.values()))


def main(arguments: list[str]) -> int:
    """Run in the folder of the first argument, or in one that is deleted."""
    if arguments:
        above = Path(arguments[0]).resolve()
        above.mkdir(parents=True)
        return run_all(above)
    with tempfile.TemporaryDirectory(prefix="routelab-versions-") as name:
        return run_all(Path(name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
