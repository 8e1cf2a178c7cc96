"""The guard acts when the driver has ended, and only then."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from routelab.cluster.bench.fabric.restore import Guard, wait_for_group

DRIVER = """
import subprocess, sys, time
from pathlib import Path
from routelab.cluster.bench.fabric.restore import Guard

folder = Path(sys.argv[1])
guard = Guard(lambda turn: (folder / "restored").write_text(str(turn)), folder / "log")
process = subprocess.Popen(["sleep", "600"], start_new_session=True)
guard.set_group(process.pid)
guard.set_turn(int(sys.argv[2]))
(folder / "ready.new").write_text(str(process.pid))
(folder / "ready.new").rename(folder / "ready")
time.sleep(600)
"""


def appears(path, seconds=60):
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.05)
    return path.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_driver_is_cleaned_up_after(tmp_path, number):
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path), "3"])
    assert appears(tmp_path / "ready")
    group = int((tmp_path / "ready").read_text())
    driver.send_signal(number)
    driver.wait()
    assert appears(tmp_path / "restored")
    assert wait_for_group(group, 60)
    assert (tmp_path / "restored").read_text() == "3"


def test_a_fabric_that_was_not_switched_is_not_restored(tmp_path):
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, str(tmp_path), "-1"])
    assert appears(tmp_path / "ready")
    driver.kill()
    driver.wait()
    assert wait_for_group(int((tmp_path / "ready").read_text()), 60)
    assert not (tmp_path / "restored").exists()


def test_a_dismissed_guard_does_nothing(tmp_path):
    guard = Guard(lambda turn: (tmp_path / "restored").write_text("x"), tmp_path / "log")
    guard.set_turn(2)
    guard.dismiss()
    assert not (tmp_path / "restored").exists()


def test_a_restore_that_fails_is_in_the_log(tmp_path):
    def fail(turn):
        raise RuntimeError("the switch does not answer")

    child = os.fork()
    if child == 0:
        guard = Guard(fail, tmp_path / "log")
        guard.set_turn(0)
        os._exit(0)
    os.waitpid(child, 0)
    log = Path(tmp_path / "log")
    until = time.monotonic() + 30
    while time.monotonic() < until and "does not answer" not in (
        log.read_text() if log.exists() else ""
    ):
        time.sleep(0.05)
    assert "the driver has ended" in log.read_text()
    assert "RuntimeError: the switch does not answer" in log.read_text()
