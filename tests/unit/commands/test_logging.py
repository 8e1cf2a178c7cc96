"""What reaches standard error: messages, JSON lines, and progress on a terminal only."""

from __future__ import annotations

import json
import logging
import os
import pty
import re
import subprocess
import sys
from datetime import datetime

import pytest

from routelab._runtime.progress import LOGGER, WAITING, report_phase
from routelab.cli import main
from routelab.commands import plugins

EVALUATE = ["evaluate", "torus~dims=4x2", "angara-bfs", "dor"]
PHASES = ["loading kernels", "rules", "selection", "layers", "legality", "proof", "facts", "ok"]


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


def test_errors_of_the_user_are_json_too(capsys):
    assert main(["plugins", "show", "nothing", "--log-json"]) == 2
    line = json.loads(capsys.readouterr().err)
    assert line["level"] == "error"
    assert line["message"].startswith("no plugin is called 'nothing'")


def test_nothing_stays_configured_after_a_command(telling, capsys):
    assert main(["plugins", "list", "-v"]) == 0
    capsys.readouterr()
    report_phase("a task", "a phase")
    logging.getLogger("routelab.some.module").error("an error")
    assert capsys.readouterr().err == ""


def routelab(*words: str, **settings) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "routelab", *words]
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False, **settings)


def on_a_terminal(*words: str) -> tuple[str, str]:
    """Standard output, which is a pipe, and what a terminal gets on standard error."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "40"}
    process = subprocess.Popen(
        [sys.executable, "-m", "routelab", *words],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=environment,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other side was closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    printed, _ = process.communicate()
    assert process.returncode == 0, shown.decode()
    return printed.decode(), shown.decode()


def test_a_terminal_sees_each_routing_and_its_phase():
    printed, shown = on_a_terminal(*EVALUATE)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown)
    for routing in ("angara-bfs", "dor"):
        seen = re.findall(rf"{routing} +(\w[ \w]*?) +[\d:-]+", text)
        steps = list(dict.fromkeys(seen))
        assert [step for step in steps if step in PHASES] == PHASES
        assert steps[0] == WAITING
    assert printed.startswith("routing ")  # the result, undisturbed
    assert "max_load" not in shown


def test_a_terminal_stays_empty_if_told_to():
    assert on_a_terminal(*EVALUATE, "--quiet")[1] == ""


def test_pipes_get_no_progress_and_rich_is_not_imported():
    done = routelab(*EVALUATE, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "")
    code = (
        "import sys; from routelab.cli import main; "
        f"main({EVALUATE!r}); print('rich' in sys.modules)"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (run.stdout.splitlines()[-1], run.stderr) == ("False", "")


def test_verbose_tells_the_phases_in_order():
    done = routelab(*EVALUATE, "-v", stderr=subprocess.PIPE)
    told = [line for line in done.stderr.splitlines() if line.startswith("dor: ")]
    assert told == [f"dor: {phase}" for phase in (WAITING, *PHASES)]


def test_messages_of_the_plugins_that_are_part_of_routelab_are_shown(capsys, tmp_path):
    for number, (flags, shown) in enumerate((([], True), (["--quiet"], False))):
        command = ["export", "opensm", "torus~dims=5", "dfsssp", "-o", str(tmp_path / str(number))]
        assert main([*command, *flags]) == 0
        assert ("leaves out packets of subnet" in capsys.readouterr().err) is shown
