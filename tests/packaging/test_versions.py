"""The script that installs with several versions of Python: what it looks for and installs."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from . import versions

ROOT = Path(__file__).parents[2]
WHEEL, SDIST = Path("a.whl"), Path("a.tar.gz")

pytestmark = pytest.mark.packaging


def make_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_an_interpreter_that_works_is_found_on_the_path_and_in_pyenv(machine: Path) -> None:
    make_program(machine / "bin/python3.12", "exit 127")
    assert versions.find_python("3.12") is None
    real = make_program(machine / "pyenv/versions/3.12.1/bin/python3.12", "exit 0")
    assert versions.find_python("3.12") == real
    nearer = make_program(machine / "bin/python3.12", "exit 0")
    assert versions.find_python("3.12") == nearer
    assert versions.find_python("3.1") is None


@pytest.mark.parametrize(
    ("found", "every", "pinned"),
    [
        (["3.11", "3.12", "3.13", "3.14"], False, ["3.13"]),
        (["3.11", "3.12"], False, ["3.12"]),
        (["3.11"], False, ["3.11"]),
        (["3.11", "3.12", "3.13"], True, ["3.11", "3.12", "3.13"]),
    ],
)
def test_the_oldest_python_has_the_lowest_dependencies(
    found: list[str], every: bool, pinned: list[str]
) -> None:
    pythons = {version: Path(f"python{version}") for version in found}
    first, *others = versions.choose_runs(pythons, WHEEL, SDIST, every)
    assert (first.version, first.dependencies, first.distribution) == ("3.11", "lowest", WHEEL)
    assert [run.version for run in others] == pinned
    assert {(run.dependencies, run.distribution) for run in others} == {("pinned", SDIST)}


@pytest.mark.parametrize(("found", "differ", "code"), [(0, 0, 1), (1, 0, 0), (1, 1, 1)])
def test_no_python_and_different_results_are_failures(
    machine: Path, monkeypatch: pytest.MonkeyPatch, found: int, differ: int, code: int
) -> None:
    def install(run: versions.Run, above: Path) -> str:
        make_program(above / run.name / "venv/bin/routelab", f"exit {differ}")
        return ""

    if found:
        make_program(machine / "bin/python3.11", "exit 0")
    monkeypatch.setattr(versions, "build", lambda folder: (WHEEL, SDIST))
    monkeypatch.setattr(versions, "try_run", install)
    assert versions.main(["--keep", str(machine / "new")]) == code


def test_the_lowest_versions_are_those_of_the_project_file() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    pins = (ROOT / "constraints.txt").read_text()
    lines = versions.lowest_versions(project, pins).splitlines()
    names = [versions.normal(line.partition("==")[0]) for line in lines]
    assert len(set(names)) == len(names)
    assert "numba==0.62" in lines
    assert "matplotlib" in names
    assert not {"llvmlite", "pydantic-core"} & set(names)
    for line in lines:
        Requirement(line)
    with pytest.raises(ValueError, match="'numpy' has no lower bound"):
        versions.lowest_versions('project.dependencies = ["numpy"]', pins)


def test_the_classifiers_name_versions_that_are_tried() -> None:
    project = versions.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: 3."
    named = {text for text in project["classifiers"] if text.startswith(prefix)}
    assert named == {f"{prefix}{minor}" for minor in (11, 12, 13)}
    assert all(text.rpartition(" ")[2] in versions.VERSIONS for text in named)
