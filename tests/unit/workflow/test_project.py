"""``routelab init``: a working directory appears whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
from pathlib import Path

import pytest

from routelab.cli import main
from routelab.workflow.project import create_project, project_files

ROOT = Path(__file__).parents[3]
NOTEBOOK = ROOT / "docs/tutorial.ipynb"


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_the_files_are_those_of_the_repository(tmp_path: Path) -> None:
    create_project(tmp_path / "deep" / "new")
    written = files(tmp_path / "deep" / "new")
    assert written == set(project_files())
    for name in written - {"README.md"}:
        assert (tmp_path / "deep" / "new" / name).read_bytes() == (ROOT / name).read_bytes()
    shipped = {
        str(path.relative_to(ROOT))
        for folder in ("config", "profiles", "workflow/rules")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    assert written == shipped | {"README.md", "Snakefile", "workflow/envs/routelab.yaml"}


def test_the_notebook_is_an_option(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        folder = tmp_path / name
        assert main(["init", "--notebook", str(folder)]) == 0
        assert files(folder) == {*project_files(), "tutorial.ipynb"}
        assert (folder / "tutorial.ipynb").read_bytes() == NOTEBOOK.read_bytes()
        assert "tutorial.ipynb" in capsys.readouterr().out


def test_included_and_named_files_exist(tmp_path: Path) -> None:
    create_project(tmp_path / "new")
    snakefile = (tmp_path / "new/Snakefile").read_text()
    named = re.findall(r'^(?:include|configfile): "(.+)"', snakefile, re.MULTILINE)
    assert len(named) == 5
    readme = (tmp_path / "new/README.md").read_text()
    named += [name for name in re.findall(r"`([\w/.-]+)`", readme) if "/" in name]
    examples = re.findall(r"studies=(examples/[\w-]+)", readme)
    named += [f"config/studies/{name}.yaml" for name in examples]
    assert examples
    for name in named:
        assert (tmp_path / "new" / name).exists() or name.startswith("results/")


def test_an_empty_folder_is_filled_and_stays_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    assert main(["init", "."]) == 0
    assert "cd " not in capsys.readouterr().out
    assert tmp_path.stat().st_ino == before
    assert files(Path()) == set(project_files())
    assert not list(Path().glob(".*"))


def test_a_folder_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    assert main(["init", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert f"{tmp_path} is not empty (it contains thesis.tex); name a new folder" in error
    assert files(tmp_path) == {"thesis.tex"}
    assert main(["init", str(tmp_path / "thesis.tex")]) == 2
    assert "Not a directory" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize("exists", [True, False])
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    exists: bool,
) -> None:
    copied = []

    def copyfile(source: Path, target: Path) -> None:
        copied.append(source)
        if len(copied) > 5:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr(shutil, "copyfile", copyfile)
    folder = tmp_path / "new"
    if exists:
        folder.mkdir()
    assert main(["init", str(folder)]) == 2
    assert f"cannot write {folder}: No space left on device" in capsys.readouterr().err
    assert folder.exists() == exists
    assert [path for path in tmp_path.rglob("*") if path != folder] == []
