"""Processes of a session are found by their mark."""

import signal
import subprocess
import time
from pathlib import Path

from routelab.cluster.bench.launchers import Launch, run_launch
from routelab.cluster.bench.processes import marks


def alive(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def test_ranks_in_sessions_of_their_own_are_ended_with_their_launcher(tmp_path):
    launches = "setsid sleep 600 & echo $! > pid; while [ ! -e /proc/$(cat pid)/comm ]; do :; done"
    launch = Launch(("sh", "-c", launches), {})
    ended = run_launch(launch, tmp_path, 60.0, "abc123")
    assert ended.exit_code == 0
    rank = int((tmp_path / "pid").read_text())
    until = time.monotonic() + 30
    while alive(rank) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(rank)
    # nothing has no mark, and what has another one is let alone
    assert (marks.kill_marked(""), marks.kill_marked("abc")) == (0, 0)


def test_processes_without_variables_are_examined_again(tmp_path, monkeypatch):
    # others may be hidden for good
    marks.kill_marked("nobody")
    monkeypatch.setattr(marks, "_EXEC_SECONDS", 60.0)
    find, looks = marks._find_marked, []

    def look(wanted):
        looks.append(find(wanted))
        (tmp_path / "go").touch()
        return looks[-1]

    monkeypatch.setattr(marks, "_find_marked", look)
    # without variables until it is examined, as while a program replaces another one
    wait = f"while [ ! -e {tmp_path}/go ]; do :; done; {marks.MARK}=late exec sleep 600"
    with subprocess.Popen(["env", "-i", "/bin/sh", "-c", wait], start_new_session=True) as process:
        try:
            # while a program replaces another one, its variables are missing, too
            while Path(f"/proc/{process.pid}/comm").read_text() != "sh\n":
                time.sleep(0.001)
            while Path(f"/proc/{process.pid}/environ").read_bytes():
                time.sleep(0.001)
            assert marks.kill_marked("late") == 1
            assert process.wait(60) == -signal.SIGKILL
        finally:
            process.kill()
    marked, hidden = looks[0]
    assert not marked
    assert str(process.pid) in dict(hidden)
