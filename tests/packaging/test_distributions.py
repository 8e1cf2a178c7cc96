"""Wheel and sdist have all that routelab needs; `make versions` installs and uses them."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from routelab import __version__
from routelab.workflow.project import NOTEBOOK, project_files

ROOT = Path(__file__).parents[2]
PROJECT = "routelab/templates/project/"

pytestmark = pytest.mark.packaging

pytest.importorskip("hatchling", reason="builds without isolation need hatchling")


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
    assert {"routelab_plugins/works.py"} < names
    assert "routelab/report/templates/study.html.j2" in names
    assert f"{metadata}/licenses/LICENSE" in names
    assert {name for name in names if name.startswith(PROJECT)} == {
        PROJECT + name for name in {*project_files(), NOTEBOOK}
    }
    assert {name.partition("/")[0] for name in names} == {"routelab", "routelab_plugins", metadata}
    assert not [name for name in names if Path(name).match("test_*.py")]
    assert not [name for name in names if "/results/" in name.removeprefix("routelab/results/")]


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
