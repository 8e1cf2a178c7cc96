"""What reaches standard error: messages, JSON lines, and progress on a terminal only."""

from __future__ import annotations

import json
import logging
from datetime import datetime

import pytest

from routelab._runtime.progress import LOGGER, report_phase
from routelab.cli import main
from routelab.commands import plugins


@pytest.fixture
def telling(monkeypatch):
    """Let ``routelab plugins list`` log one message of each level, and a phase."""

    def run(arguments):
        logger = logging.getLogger("routelab.some.module")
        report_phase("a task", "a phase")
        for level in ("debug", "info", "warning", "error"):
            getattr(logger, level)("%s here", level)
        print("a result")
        return 0

    monkeypatch.setattr(plugins, "run_list", run)


TEXT = {
    "debug": "a task: a phase\ndebug here\n",
    "info": "info here\n",
    "rest": "routelab: warning: warning here\nroutelab: error: error here\n",
}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], TEXT["info"] + TEXT["rest"]),
        (["--verbose"], TEXT["debug"] + TEXT["info"] + TEXT["rest"]),
        (["-v"], TEXT["debug"] + TEXT["info"] + TEXT["rest"]),
        (["--quiet"], TEXT["rest"]),
        (["-q"], TEXT["rest"]),
    ],
)
def test_options_stand_before_or_after_the_command(telling, capsys, options, said):
    for words in ([*options, "plugins", "list"], ["plugins", "list", *options]):
        assert main(words) == 0
        assert capsys.readouterr() == ("a result\n", said)
    assert main(["plugins", *options, "list"]) == 0
    assert capsys.readouterr().err == said


def test_json_lines_have_time_level_logger_and_message(telling, capsys):
    assert main(["--log-json", "plugins", "list", "-v"]) == 0
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.err.splitlines()]
    assert printed.out == "a result\n"
    assert [(line["level"], line["message"]) for line in lines] == [
        ("debug", "a task: a phase"),
        *((level, f"{level} here") for level in ("debug", "info", "warning", "error")),
    ]
    assert (lines[0]["logger"], lines[0]["task"], lines[0]["phase"]) == (
        LOGGER,
        "a task",
        "a phase",
    )
    assert set(lines[1]) == {"time", "level", "logger", "message"}
    assert all(datetime.fromisoformat(line["time"]).utcoffset() is not None for line in lines)
