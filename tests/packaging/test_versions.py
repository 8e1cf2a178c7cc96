"""The script that tries all versions of Python: what it looks for, and what it installs."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from . import versions

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.packaging


def make_python(folder: Path, version: str) -> Path:
    """A program that answers like a Python of this version."""
    minor = version.rpartition(".")[0]
    program = folder / f"python{minor}"
    folder.mkdir(parents=True, exist_ok=True)
    program.write_text(f"#!/bin/sh\necho {version.replace('.', ' ')}\n")
    program.chmod(0o755)
    return program


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without any Python."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    return tmp_path


def test_the_lowest_patch_version_on_the_path_and_in_pyenv_is_found(machine: Path) -> None:
    assert versions.find_python("3.12") is None
    later = make_python(machine / "bin", "3.12.9")
    assert versions.find_python("3.12") == versions.Python(later, (3, 12, 9))
    first = make_python(machine / "pyenv/versions/3.12.1/bin", "3.12.1")
    assert versions.find_python("3.12") == versions.Python(first, (3, 12, 1))
    assert versions.find_python("3.1") is None


def test_programs_that_fail_or_are_another_version_do_not_count(machine: Path) -> None:
    make_python(machine / "bin", "3.12.9").write_text("#!/bin/sh\nexit 127\n")
    make_python(machine / "pyenv/versions/3.13.1/bin", "3.13.1").write_text("#!/bin/sh\necho 3 9 1")
    assert versions.find_python("3.12") is None
    assert versions.find_python("3.13") is None


def test_an_environment_does_not_count(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    venv.create(machine / "environment", with_pip=False)
    program = machine / f"environment/bin/python{version}"
    if not program.exists():
        program.symlink_to("python")
    monkeypatch.setenv("PATH", str(program.parent))
    assert versions.find_python(version) is None
    (machine / "environment/pyvenv.cfg").unlink()
    found = versions.find_python(version)
    assert found
    assert found.path == program


def test_without_any_python_the_run_fails(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(versions, "build", lambda folder: (folder / "a.whl", folder / "a.tar.gz"))
    assert versions.main([str(machine / "new")]) == 1
    assert capsys.readouterr().err == "no Python found: none of 3.11, 3.12, 3.13, 3.14\n"


def test_the_table_says_what_ran_and_what_was_not_found(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in ("3.11.2", "3.13.0"):
        make_python(machine / "bin", version)
    monkeypatch.setattr(versions, "build", lambda folder: (folder / "a.whl", folder / "a.tar.gz"))
    monkeypatch.setattr(
        versions, "try_run", lambda run, above: "no wheel" if run.python.version[1] == 13 else ""
    )
    monkeypatch.setattr(versions, "differences", lambda first, other, above: "")
    assert versions.main([str(machine / "new")]) == 1
    assert [line.split() for line in capsys.readouterr().out.splitlines()[1:]] == [
        ["3.11.2", "lowest", "wheel", "ok", f"{machine}/bin/python3.11"],
        ["3.11.2", "pinned", "sdist", "ok", f"{machine}/bin/python3.11"],
        ["3.13.0", "pinned", "wheel", "failed", f"{machine}/bin/python3.13"],
        ["3.12", "not", "run", "no", "interpreter", "here"],
        ["3.14", "not", "run", "no", "interpreter", "here"],
    ]


def test_different_results_are_a_failure(
    machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def install_one_that_finds_a_difference(run: versions.Run, above: Path) -> str:
        program = above / run.name / "venv/bin/routelab"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$@"; exit 1\n')
        program.chmod(0o755)
        return ""

    make_python(machine / "bin", "3.11.2")
    monkeypatch.setattr(versions, "build", lambda folder: (folder / "a.whl", folder / "a.tar.gz"))
    monkeypatch.setattr(versions, "try_run", install_one_that_finds_a_difference)
    assert versions.main([str(machine / "new")]) == 1
    results = [f"{machine}/new/3.11.2-{kind}/project/results" for kind in ("lowest", "pinned")]
    printed = capsys.readouterr()
    assert "3.11.2-pinned: other results than 3.11.2-lowest" in printed.err
    assert f"compare {' '.join(results)}" in printed.err
    assert printed.out.count("failed") == 1


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


def test_the_classifiers_name_the_versions_that_ci_has() -> None:
    project = versions.tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    prefix = "Programming Language :: Python :: 3."
    named = {text for text in project["classifiers"] if text.startswith(prefix)}
    assert named == {f"{prefix}{minor}" for minor in (11, 12, 13)}
    assert all(text.rpartition(" ")[2] in versions.VERSIONS for text in named)
