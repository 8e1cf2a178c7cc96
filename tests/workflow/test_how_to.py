"""The how-to pages as a reader uses them: files are written, commands and Python run in order.

Every page has a project of its own, as ``routelab init`` makes it; all share ``results``, so that a
study of two pages runs once.
"""

from __future__ import annotations

import contextlib
import io
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from installed_in_place import write_metadata

from routelab.workflow.project import create_project

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs/how-to").glob("*.md"))
BLOCK = re.compile(r"^(?:[^\n]*`([\w./-]+)`:\n\n)?```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INSTALL = re.compile(r"^python -m pip install --no-deps --editable (\S+)$", re.MULTILINE)

INSTEAD = {
    # 515 runs, which are part of `make report`
    "--config studies=angara-table2": "--dry-run --config studies=angara-table2",
}
"""What replaces a part of a command that would take minutes."""

QUICK = ("changes", "cite")
"""Pages whose commands no other test runs one after the other; CI leaves out the others."""

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def project(tmp_path, results):
    folder = tmp_path / "project"
    create_project(folder)
    (folder / "results").symlink_to(results)
    return folder


def run_commands(text, project):
    """Standard output of commands that all succeed."""
    for part, replacement in INSTEAD.items():
        text = text.replace(part, replacement)
    output, site = "", project / ".site"
    for position, part in enumerate(INSTALL.split(text)):
        if position % 2:
            write_metadata(project / part, site)  # tests/thirdparty runs pip
            continue
        packages = [str(site), *map(str, project.glob("routelab-*"))]
        ended = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", part],
            cwd=project,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": os.pathsep.join([*packages, os.environ.get("PYTHONPATH", "")]),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, part + ended.stdout + ended.stderr
        output += ended.stdout
    return output


def run_python(text, names):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "how-to", "exec"), names)
    return output.getvalue()


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem in QUICK else pytest.mark.thorough)
        for page in PAGES
        if page.stem != "table-3"  # needs a Slurm: tests/slurm/test_desmos_studies.py
    ],
)
def test_everything_on_the_page_works(page, project, monkeypatch):
    if page.stem == "cluster" and shutil.which("mpiexec.mpich") is None:
        pytest.skip("needs MPICH: install Debian's package mpich")
    monkeypatch.chdir(project)
    names: dict[str, object] = {}
    printed = ""
    for file, language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        if file:
            Path(file).write_text(text, encoding="utf-8")
        elif language == "sh":
            printed = run_commands(text, project)
        elif language == "python":
            printed = run_python(text, names)
        elif language == "text":
            assert printed.split() == text.split()
        else:
            assert language == "bibtex", f"{page.name}: a block of {language} is not checked"


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_commands_of_the_first_pages_work(page, project, monkeypatch):
    monkeypatch.chdir(project)
    text = (ROOT / page).read_text(encoding="utf-8")
    for file, _, content in BLOCK.findall(text):
        if file:
            Path(file).write_text(content, encoding="utf-8")
    commands = re.findall(r"^    (routelab (?!completion).+)$", text, re.MULTILINE)
    assert len(commands) >= 3
    run_commands("\n".join(commands), project)


def test_the_readme_shows_the_output_of_its_commands(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^    routelab (.+)\n\n```text\n([^`]*)```", text, re.MULTILINE)
    assert len(shown) == 3
    for file, _, content in BLOCK.findall(text):
        if file:
            Path(file).write_text(content, encoding="utf-8")
    for command, lines in shown:
        main, terminal = pty.openpty()
        command = [sys.executable, "-m", "routelab", *command.split()]
        wide = os.environ | {"COLUMNS": "110"}
        process = subprocess.Popen(command, env=wide, stdout=terminal, stderr=subprocess.DEVNULL)
        os.close(terminal)
        printed = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(main, 1 << 16):
                printed += chunk
        assert process.wait() == 0
        assert lines.splitlines() == printed.decode().splitlines()[: lines.count("\n")]


def test_the_index_lists_every_page():
    listed = (ROOT / "docs/how-to/index.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\(([\w-]+\.md)\)", listed)) == [
        page.name for page in PAGES if page.stem != "index"
    ]
