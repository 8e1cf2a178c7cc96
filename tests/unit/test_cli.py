import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from routelab.api import InputError, UnsupportedError
from routelab.api.errors import MissingInputError, RoutelabError
from routelab.api.verdicts import EXIT_CODES, PROVEN, Status
from routelab.cli import DEFECT, main, with_stack
from routelab.commands import plugins

HEAVY = (
    "numba",
    "numpy",
    "pandas",
    "networkx",
    "seaborn",
    "pydantic",
    "rich",
    "importlib.metadata",
)


@pytest.fixture
def raising(monkeypatch):
    """Let ``routelab plugins list`` raise an error."""

    def arrange(error):
        def run(arguments):
            raise error

        monkeypatch.setattr(plugins, "run_list", run)

    return arrange


def test_the_command_line_and_its_parsers_import_nothing_heavy():
    code = (
        "import sys, routelab.cli; routelab.cli.make_parser(); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("error", "code"), [(InputError("no such thing"), 2), (UnsupportedError("no such thing"), 1)]
)
def test_errors_on_purpose_are_one_message(raising, capsys, error, code):
    raising(error)
    assert main(["plugins", "list"]) == code
    assert capsys.readouterr() == ("", "routelab: error: no such thing\n")


def test_a_defect_keeps_its_traceback(raising, capsys):
    for error in (ZeroDivisionError("defect"), FileNotFoundError(2, "defect", "file")):
        raising(error)
        assert main(["plugins", "list"]) == 70
        printed = capsys.readouterr().err
        assert printed.startswith("Traceback (most recent call last)")
        assert "defect" in printed.splitlines()[-1]


def test_no_verdict_shares_its_exit_code_with_an_error_and_the_manual_lists_all():
    others = {InputError.exit_code, RoutelabError.exit_code, DEFECT, 130, 141}
    assert set(EXIT_CODES) == set(get_args(Status))
    faults = [code for verdict, code in EXIT_CODES.items() if verdict not in PROVEN]
    assert {EXIT_CODES[verdict] for verdict in PROVEN} == {0}
    assert len({*faults, *others}) == len(faults) + len(others)
    page = (Path(__file__).parents[2] / "docs/concepts/proof.md").read_text()
    rows = re.findall(r"^\| \*\*(.+)\*\* \| (\d) \|", page, re.MULTILINE)
    assert {verdict: int(code) for verdict, code in rows} == EXIT_CODES
    assert MissingInputError.exit_code == EXIT_CODES["not enough input"]


def test_an_interrupt_ends_with_its_code(raising, capsys):
    raising(KeyboardInterrupt())
    assert main(["plugins", "list"]) == 130
    assert capsys.readouterr().err == "routelab: interrupted\n"


@pytest.mark.parametrize("arguments", [["plugins", "list"], ["--help"], ["--version"]])
def test_a_reader_that_goes_away_is_no_crash(arguments):
    process = subprocess.Popen(
        [sys.executable, "-m", "routelab", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": ""},
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["plugins", "list"], ["--help"], ["--version"]])
def test_output_that_cannot_be_written_is_one_message(arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "routelab", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr == ("routelab: error: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_outputs_are_no_defect(closed):
    """Services are started so; what there is to tell is told nobody."""
    command = f"{sys.executable} -m routelab plugins list {closed}"
    other = " >/dev/null" if closed == "2>&-" else ""
    done = subprocess.run(["sh", "-c", command + other], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_loops_at_any_depth_keep_their_stack() -> None:
    """A loop whose calls cross the end of a block of stack takes a block at every call."""

    def leaf() -> None:
        pass

    def descend(depth: int) -> None:
        for _ in range(500):
            leaf()
        if depth:
            descend(depth - 1)

    def faults() -> int:
        descend(300)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        descend(300)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert with_stack(faults)() < 400
