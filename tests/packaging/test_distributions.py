"""Wheel and sdist: built, installed into a fresh environment, and used there without a clone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from routelab import __version__
from routelab.stages.workflow.project import NOTEBOOK, project_files

ROOT = Path(__file__).parents[2]
PROJECT = "routelab/templates/project/"

pytestmark = [pytest.mark.packaging, pytest.mark.builtins]

pytest.importorskip("hatchling", reason="builds without isolation need hatchling")

STUDY = """\
title: Tiny
cites: mukosey2020
topologies: [torus~dims=4x2]
routings: [dor]
tables:
  loads:
    rows: [routing, nodes]
    values: [max_load]
    beside: {reference: table2.csv, on: [routing, nodes]}
"""


def done(*command: str | Path, **settings: object) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=False, **settings)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def built(source: Path, folder: Path) -> Path:
    """The wheel of a source tree."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
    done(*pip, "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, source)
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    done(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


def contents(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {item.filename: item.CRC for item in archive.infolist()}


def test_the_wheel_has_all_that_runs_and_nothing_else(wheel: Path) -> None:
    names = set(contents(wheel))
    metadata = f"routelab-{__version__}.dist-info"
    code = {
        str(path.relative_to(ROOT / above))
        for above, package in (("src", "routelab"), ("plugins", "routelab_plugins"))
        for path in (ROOT / above / package).rglob("*")
        if path.is_file() and path.parent.name != "__pycache__"
    }
    assert code <= names
    assert {"routelab/py.typed", "routelab_plugins/py.typed"} < names
    assert {"routelab/references.bib", "routelab_plugins/references.bib"} < names
    assert "routelab/report/templates/study.html.j2" in names
    assert f"{metadata}/licenses/LICENSE" in names
    assert {name for name in names if name.startswith(PROJECT)} == {
        PROJECT + name for name in {*project_files(), NOTEBOOK}
    }
    assert {name.partition("/")[0] for name in names} == {"routelab", "routelab_plugins", metadata}
    assert not [name for name in names if Path(name).match("test_*.py") or "/results/" in name]


def test_the_sdist_makes_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        # Debian 12's Python has no filters
        safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path / "source", **safe)
    (source,) = (tmp_path / "source").iterdir()
    assert source.name == f"routelab-{__version__}"
    assert {path.name for path in (source / "results").rglob("*")} <= {".gitkeep"}
    again = contents(built(source, tmp_path / "wheel"))
    record = f"routelab-{__version__}.dist-info/RECORD"
    first = contents(wheel)
    assert {**again, record: 0} == {**first, record: 0}


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment: the wheel is installed, dependencies are those of this one."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    others = folder / "others"
    others.mkdir()
    # all but routelab, which would be found here if the wheel lacked something
    for place in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for path in Path(place).iterdir():
            if "routelab" not in path.name.lower() and path.suffix != ".pth":
                (others / path.name).symlink_to(path)
    (site,) = (folder / "venv/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{others}\n")
    python = folder / "venv/bin/python"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    done(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel)
    return folder / "venv"


def test_a_study_runs_without_a_clone(environment: Path, tmp_path: Path) -> None:
    env = {name: text for name, text in os.environ.items() if not name.startswith("PYTHON")} | {
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.defpath}",
        "ROUTELAB_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    code = "import routelab, routelab_plugins; print(routelab.__file__, routelab_plugins.__file__)"
    found = done(environment / "bin/python", "-c", code, cwd=tmp_path, env=env)
    assert all(Path(path).is_relative_to(environment) for path in found.split())

    project = tmp_path / "project"
    routelab = environment / "bin/routelab"
    done(routelab, "init", "project", cwd=tmp_path, env=env)
    for name, source in project_files().items():
        assert (project / name).read_bytes() == source.read_bytes()

    (project / "config/studies/tiny.yaml").write_text(STUDY)
    done(routelab, "study", "check", "config/studies/tiny.yaml", cwd=project, env=env)
    snakemake = [environment / "bin/python", "-m", "snakemake", "--cores", "2", "report"]
    done(*snakemake, "--config", "studies=tiny", cwd=project, env=env)
    outcome = json.loads((project / "results/routes/torus~dims=4x2/dor/outcome.json").read_text())
    assert (outcome["status"], outcome["facts"]["max_load"]) == ("ok", 4)
    assert outcome["provenance"]["git_commit"] is None
    assert "<table" in (project / "results/report/tiny/index.html").read_text()
    again = done(routelab, "study", "plan", "config/studies/tiny.yaml", cwd=project, env=env)
    assert "route tables: 1 (1 cached)" in again
