"""Commands of a fabric that hang, fail, are missing or print anything, and their files."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from routelab.api import InputError, PluginError, RouteTable, UnsupportedError
from routelab.cluster.bench.fabric import switching
from routelab.cluster.bench.fabric.fabric import Fabric, FabricError, FabricJob
from routelab.cluster.bench.fabric.files import write_fabric_files
from routelab.cluster.bench.fabric.switching import LoggedSwitch
from routelab.cluster.bench.processes.signals import StopRequest, StopSignals
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.study.cluster.fabric import FabricCommands
from routelab.study.cluster.keys import load_cluster
from routelab.toolkit import build_grid, programs

LONG = 60.0


@pytest.fixture
def switch(tmp_path):
    return LoggedSwitch(tmp_path / "logs" / "fabric.log")


@pytest.fixture
def log(tmp_path):
    def lines():
        """The log without its time stamps, which are checked."""
        logged = (tmp_path / "logs" / "fabric.log").read_text().splitlines()
        stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00 "
        assert all(re.match(stamp, line) or line.startswith("| ") for line in logged)
        return [re.sub(stamp, "", line) for line in logged]

    return lines


def python(text, *arguments):
    return [sys.executable, "-c", text, *arguments]


# --- commands -----------------------------------------------------------------------------------


def test_output_of_a_command_is_returned_and_logged(switch, log):
    assert switch.run(["sh", "-c", "echo out; echo err >&2"], LONG) == "out\nerr\n"
    switch.run(["true"], LONG)
    assert log() == [
        "$ sh -c 'echo out; echo err >&2'",
        "| out",
        "| err",
        "exit code 0",
        "$ true",
        "exit code 0",
    ]


HOSTILE = [
    "a b",
    "it's",
    '"q"',
    "$(touch x)",
    "`id`",
    "; rm x",
    "&& false",
    "*",
    "",
    "-n",
    "a\nb",
    "ä",
]


def test_arguments_arrive_verbatim(switch):
    """No shell sees them: no blank splits, no quote ends, nothing is expanded."""
    print_all = "import sys; sys.stdout.write('\\0'.join(sys.argv[1:]))"
    assert switch.run(python(print_all, *HOSTILE), LONG).split("\0") == HOSTILE


def test_a_failure_is_reported_with_its_last_lines(switch, log):
    text = "for n in 1 2 3 4 5 6 7; do echo line $n; done; exit 3"
    with pytest.raises(FabricError) as raised:
        switch.run(["sh", "-c", text], LONG)
    assert str(raised.value) == (
        f"sh -c '{text}': exit code 3; its last lines:"
        "\n    line 3\n    line 4\n    line 5\n    line 6\n    line 7"
    )
    assert log()[-2:] == ["| line 7", "exit code 3"]
    with pytest.raises(FabricError, match="false: exit code 1; it printed no output"):
        switch.run(["false"], LONG)
    with pytest.raises(FabricError, match="exit code -9"):
        switch.run(["sh", "-c", "kill -9 $$"], LONG)


def test_commands_that_cannot_start_are_reported(switch, log, tmp_path):
    (tmp_path / "plain").write_text("text")
    (tmp_path / "odd").write_text("no program")
    (tmp_path / "odd").chmod(0o755)
    for arguments, said in (
        (["/no/such program", "x"], "'/no/such program' x: cannot be started: No such file"),
        ([str(tmp_path / "plain")], "plain: cannot be started: Permission denied"),
        ([str(tmp_path / "odd")], "odd: cannot be started: Exec format error"),
    ):
        with pytest.raises(FabricError, match=re.escape(said)):
            switch.run(arguments, LONG)
    assert log()[:2] == [
        "$ '/no/such program' x",
        "cannot be started: No such file or directory",
    ]


def test_any_bytes_may_be_printed(switch, log):
    garbage = bytes(range(256)) * 3
    write = f"import sys; sys.stdout.buffer.write({garbage!r}); sys.exit(int(sys.argv[1]))"
    assert "\N{REPLACEMENT CHARACTER}" in switch.run(python(write, "0"), LONG)
    with pytest.raises(FabricError) as raised:
        switch.run(python(write, "4"), LONG)
    # nothing that a terminal would obey
    assert all(c.isprintable() or c == "\n" for c in str(raised.value))
    assert all(line.isprintable() for line in log())


def test_endless_output_is_kept_at_its_end(switch, monkeypatch):
    monkeypatch.setattr(switching, "MAX_LOGGED_BYTES", 1000)
    output = switch.run(python("for n in range(20000): print(n)"), LONG)
    assert output.startswith("(beginning omitted)\n")
    assert output.endswith("19998\n19999\n")
    assert len(output) < 200_000


def test_a_command_has_no_input(switch):
    assert switch.run(["cat"], LONG) == ""


# --- limits ---------------------------------------------------------------------------------------


def gone(pid):
    """Whether a process has ended, be it that nobody has asked for its exit code."""
    for _ in range(6000):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("trap", ["", "trap '' TERM;"])
def test_at_its_limit_a_command_is_ended_with_its_children(
    trap, switch, log, tmp_path, monkeypatch
):
    """Also if parent and child do not heed the first signal."""
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.5)
    pids = tmp_path / "pids"
    text = f"{trap} sh -c '{trap} echo $$ >> {pids}; echo child; sleep 300; sleep 300' & "
    text += f"echo $$ >> {pids}; while :; do sleep 300; done"
    # the clock starts before the shell does, so it gets some seconds to say who it is
    with pytest.raises(FabricError, match=r"took longer than 3 s and was ended; its last lines:"):
        switch.run(["sh", "-c", text], 3)
    children = [int(pid) for pid in pids.read_text().split()]
    assert len(children) == 2
    assert all(gone(pid) for pid in children)
    assert log()[-2:] == ["| child", "took longer than 3 s and was ended"]


def test_a_failed_command_leaves_no_children(switch, tmp_path, monkeypatch):
    """Nothing goes on changing a fabric while it is restored."""
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.5)
    pid = tmp_path / "pid"
    with pytest.raises(FabricError, match="exit code 3"):
        switch.run(["sh", "-c", f"sleep 300 & echo $! > {pid}; exit 3"], LONG)
    assert gone(int(pid.read_text()))


def test_processes_of_another_user_are_named(switch, monkeypatch):
    """No signal reaches what sudo has started; the message names what is left."""
    monkeypatch.setattr(programs, "GRACE_SECONDS", 0.1)
    pids = []

    def refuse(group, _):
        pids.append(group)
        raise PermissionError

    monkeypatch.setattr(os, "killpg", refuse)
    with pytest.raises(FabricError) as raised:
        switch.run(["sleep", "300"], 0.2)
    monkeypatch.undo()
    (pid,) = set(pids)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert f"and could not be ended, because it runs as another user (process group {pid})" in str(
        raised.value
    )


def test_a_command_may_leave_a_daemon(switch, tmp_path):
    """One that ended well is not waited for because its child holds its output open."""
    pid = tmp_path / "pid"
    assert switch.run(["sh", "-c", f"sleep 300 & echo $! > {pid}; echo on"], LONG) == "on\n"
    child = int(pid.read_text())
    time.sleep(0.3)  # one that was killed would have ended by now
    assert Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    os.kill(child, signal.SIGKILL)


def test_an_interruption_ends_the_command(log, tmp_path):
    """The fabric is restored then, and nothing of the command may go on."""
    pid = tmp_path / "pid"

    text = f"echo $$ > {pid}; kill -TERM {os.getpid()}; while :; do sleep 300; done"
    with StopSignals() as signals, pytest.raises(StopRequest):
        LoggedSwitch(tmp_path / "logs" / "fabric.log", starting=signals.hold_back).run(
            ["sh", "-c", text], LONG
        )
    assert gone(int(pid.read_text()))
    assert log()[-1] == "interrupted"


def test_without_a_log_a_command_runs_all_the_same(tmp_path, caplog):
    """On a full disk a fabric is still restored."""
    (tmp_path / "file").write_text("")
    assert LoggedSwitch(tmp_path / "file" / "log").run(["echo", "on"], LONG) == "on\n"
    assert "it lacks: $ echo on" in caplog.text


# --- files of clusters --------------------------------------------------------------------------


def chosen(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    return load_cluster(path).cluster.fabric


def test_a_fabric_of_a_cluster(tmp_path):
    fabric = chosen(
        tmp_path,
        "fabric:\n  apply: [sudo, -n, /opt/c++/apply, '{folder}', 'a b']\n"
        "  restore: [/opt/restore]\n  seconds: 30\n",
    )
    assert fabric.apply == ["sudo", "-n", "/opt/c++/apply", "{folder}", "a b"]
    assert (fabric.seconds, fabric.export) == (30, "angara")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("use: own\n  apply: [a]\n  restore: [b]", {2: "fabric.use: 'own' should be 'command'"}),
        ("use: command", {1: "'apply' is missing", 2: ""}),
        ("apply: on\n  restore: [off, 3]\n  second: 3\n  seconds: 0",
         {2: "is text; write a list", 3: "string", 4: "did you mean 'seconds'?", 5: "seconds"}),
    ],
)  # fmt: skip
def test_all_mistakes_are_reported_together(tmp_path, text, places):
    with pytest.raises(InputError) as raised:
        chosen(tmp_path, f"fabric:\n  {text}\n")
    lines = str(raised.value).splitlines()
    assert len(lines) == len(places)
    assert all(word in line for word, line in zip(places.values(), lines, strict=True)), lines


# --- the files of a job -------------------------------------------------------------------------


@cache
def table(routing="angara-sssp") -> RouteTable:
    return Routing.from_name(routing).table(build_grid("torus", (4, 2), wrap=True))


def command(**more):
    return Fabric(FabricCommands(apply=["a"], restore=["b"], **more))


def test_the_files_of_a_job(tmp_path):
    hosts = tuple(f"n{number}" for number in range(8))
    job = FabricJob("angara-sssp", table(), hosts, tmp_path)
    (tmp_path / "state").write_text("of the site's tool")
    files = write_fabric_files(command(), job)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*files, "state"])
    assert all((tmp_path / name).read_text() == text for name, text in files.items())
    assert files["hosts.txt"].splitlines()[7] == "7 n7"
    exported = load("export", "angara").read(files)
    assert exported.hop_channel.tolist() == table().hop_channel.tolist()
    # the same again touches no file, and one that was damaged is mended
    before = (tmp_path / "network.txt").stat().st_ino
    (tmp_path / "node-0.0.txt").write_text("damaged")
    assert write_fabric_files(command(), job) == files
    assert (tmp_path / "network.txt").stat().st_ino == before
    assert (tmp_path / "node-0.0.txt").read_text() == files["node-0.0.txt"]


def test_no_file_is_written_that_is_not_needed_or_cannot_be(tmp_path):
    job = FabricJob("dor", table(), (), tmp_path)
    assert write_fabric_files(command(export=""), job) == {}
    assert "hosts.txt" not in write_fabric_files(command(export="booksim"), job)
    full = tmp_path / "full"
    grid = Routing.from_name("dor").table(build_grid("torus", (4, 4), wrap=True))
    with pytest.raises(UnsupportedError, match="is not an Angara route"):
        write_fabric_files(command(), FabricJob("dor", grid, (), full))
    assert not full.exists()


def test_files_of_other_routes_are_never_written(tmp_path, monkeypatch):
    plugin = type(load("export", "angara"))
    honest = plugin.export
    monkeypatch.setattr(plugin, "export", lambda self, _, machine: honest(self, other, machine))
    other = table("first@direction-order")
    with pytest.raises(PluginError, match="its files do not hold the routes: from"):
        write_fabric_files(command(), FabricJob("angara-sssp", table(), (), tmp_path))
    assert list(tmp_path.iterdir()) == []
