"""The recipe of the container image: its steps run here, and a study runs in what they install."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from routelab.stages.workflow.project import create_project

ROOT = Path(__file__).parents[2]
RECIPE = (ROOT / "Containerfile").read_text()

pytestmark = [pytest.mark.packaging, pytest.mark.thorough]

STUDY = """\
title: Tiny
topologies: [torus~dims=4x2]
routings: [dor]
tables: {loads: {rows: [routing], values: [max_load]}}
"""


def instructions(recipe: str) -> list[tuple[str, str]]:
    """Instructions of a recipe with their arguments, without comments."""
    lines = [line for line in recipe.splitlines() if line.strip() and not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    pairs = [line.partition(" ") for line in joined.splitlines()]
    return [(name, arguments.strip()) for name, _, arguments in pairs]


@dataclass
class Steps:
    """Instructions that run in a folder instead of a container.

    Absolute paths of the recipe are below the folder, those of the system are this system's.
    """

    folder: Path
    workdir: Path = Path("/")
    env: dict[str, str] = field(default_factory=lambda: {"PATH": os.defpath})
    packages: list[str] = field(default_factory=list)

    def below(self, text: str) -> str:
        return re.sub(r"(?<![\w.$/])/(?=opt/|usr/src/|work$)", f"{self.folder}/", text)

    def run(self, name: str, text: str) -> None:
        getattr(self, f"run_{name.lower()}")(text)

    def run_from(self, text: str) -> None:
        assert text == "debian:bookworm-slim"

    def run_env(self, text: str) -> None:
        for setting in shlex.split(text):
            variable, _, value = setting.partition("=")
            known = re.sub(r"\$(\w+)", lambda match: self.env[match[1]], value)
            self.env[variable] = self.below(known)

    def run_workdir(self, text: str) -> None:
        self.workdir = Path(self.below(text))
        self.workdir.mkdir(parents=True)

    def run_copy(self, text: str) -> None:
        *sources, target = text.split()
        for source in sources:
            if (ROOT / source).is_dir():
                ignored = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, self.workdir / target, ignore=ignored)
            else:
                assert target.endswith("/")
                (self.workdir / target).mkdir(exist_ok=True)
                shutil.copy(ROOT / source, self.workdir / target)

    def run_run(self, text: str) -> None:
        first, _, others = text.partition("&&")
        if first.split() == ["apt-get", "update"]:  # not on the system of this machine
            install, _, clean = others.partition("&&")
            assert clean.strip() == "rm -rf /var/lib/apt/lists/*"
            words = install.split()
            assert words[:4] == ["apt-get", "install", "--yes", "--no-install-recommends"]
            self.packages += words[4:]
            return
        outside = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PYTHON", "PIP_CONSTRAINT"))
        }
        done = subprocess.run(
            ["/bin/sh", "-c", self.below(text)],
            cwd=self.workdir,
            env=outside | self.env | {"CC": "false", "CXX": "false"},  # the image has no compiler
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def run_cmd(self, text: str) -> None:
        done = subprocess.run(
            json.loads(text), cwd=self.workdir, env=self.env, capture_output=True, check=True
        )
        assert b"routelab evaluate" in done.stdout


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Steps:
    steps = Steps(tmp_path_factory.mktemp("image"))
    for name, text in instructions(RECIPE):
        steps.run(name, text)
    return steps


def test_the_recipe_installs_the_pinned_versions_and_nothing_of_the_checkout(steps: Steps) -> None:
    python = steps.folder / "opt/routelab/bin/python"
    pip = [python, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run([*pip, "list", "--format", "freeze"], env=steps.env, capture_output=True)
    found = set(done.stdout.decode().splitlines())
    pins = {line for line in (ROOT / "constraints.txt").read_text().splitlines() if "==" in line}
    tools = ("pip==", "setuptools==", "routelab==")
    others = {line for line in found if not line.startswith(tools)}
    assert len(others) > 50
    assert normal(others) <= normal(pins)
    code = "import routelab, routelab_plugins; print(routelab.__file__, routelab_plugins.__file__)"
    done = subprocess.run([python, "-c", code], env=steps.env, capture_output=True, text=True)
    assert all(Path(path).is_relative_to(steps.folder / "opt") for path in done.stdout.split())


def normal(lines: set[str]) -> set[str]:
    return {re.sub(r"[-_.]+(?=.*==)", "-", line).lower() for line in lines}


def test_the_packages_of_the_recipe_exist(steps: Steps) -> None:
    assert steps.packages == ["python3-venv"]
    if not shutil.which("apt-cache"):
        pytest.skip("needs apt-cache")
    done = subprocess.run(
        ["apt-cache", "show", *steps.packages], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_study_runs_in_what_the_recipe_installs(steps: Steps, tmp_path: Path) -> None:
    project = tmp_path / "project"
    create_project(project)
    (project / "config/studies/tiny.yaml").write_text(STUDY)
    done = subprocess.run(
        ["snakemake", "--cores", "2", "report", "--config", "studies=tiny"],
        cwd=project,
        env=steps.env | {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads((project / "results/routes/torus~dims=4x2/dor/outcome.json").read_text())
    assert (outcome["status"], outcome["facts"]["max_load"]) == ("ok", 4)
    assert "<table" in (project / "results/report/tiny/index.html").read_text()
