"""However `routelab simulate --engine smpi` ends, SimGrid ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
from process_trees import Processes, left_after, thoroughly, wait_until

from routelab.simulation.smpi import simgrid as smpi

pytestmark = pytest.mark.usefixtures("default_signals")

ENDLESS = r"""
#include <mpi.h>
int main(int count, char **words)
{
    volatile int on = 1;
    MPI_Init(&count, &words);
    while (on)
        ;
    MPI_Finalize();
    return 0;
}
"""

LINKS = ("command", "supervisor", "worker", "smpirun", "SimGrid")


@pytest.fixture(scope="module")
def endless(tmp_path_factory):
    folder = tmp_path_factory.mktemp("endless")
    (folder / "endless.c").write_text(ENDLESS)
    subprocess.run(
        [smpi.find_program("smpicc"), "endless.c", "-o", "endless"], cwd=folder, check=True
    )
    return folder / "endless"


@pytest.fixture
def chain(endless, tmp_path):
    """The command that runs an endless program, and the PIDs of its processes by link."""
    words = ["simulate", "torus~dims=2", "dor", str(endless), "--engine", "smpi"]
    with (tmp_path / "output.txt").open("w") as output:
        command = subprocess.Popen(
            [sys.executable, "-m", "routelab", *words],
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:

        def simulates() -> bool:
            now = Processes()
            below = now.below(command.pid)
            return any("smpimain" in now.command[pid].split()[0] for pid in below)

        wait_until(lambda: command.poll() is not None or simulates(), 240, "SimGrid does not start")
        assert command.poll() is None, (tmp_path / "output.txt").read_text()
        pids = Processes().below(command.pid)
        assert len(pids) >= len(LINKS) - 1
        yield command, dict(zip(LINKS, [command.pid, *pids[:3], pids[-1]], strict=True)), pids
    finally:
        if command.poll() is None:  # else its number may be that of another process
            for pid in [*Processes().below(command.pid), command.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        command.wait()


@pytest.mark.parametrize(
    "link", ["command", "smpirun", *thoroughly("supervisor", "worker", "SimGrid")]
)
def test_whichever_link_is_killed_nothing_is_left(chain, link):
    command, pids, below = chain
    known = Processes().identities(below)
    assert "smpirun" in Processes().command[pids["smpirun"]]
    os.kill(pids[link], signal.SIGKILL)
    assert left_after(known, 60.0) == []
    assert command.wait(60) != 0


@pytest.mark.parametrize("number", [signal.SIGINT, *thoroughly(signal.SIGTERM)])
def test_a_signal_to_the_command_ends_simgrid(chain, number):
    command, _, below = chain
    known = Processes().identities(below)
    command.send_signal(number)
    assert left_after(known, 60.0) == []
    assert command.wait(60) == (130 if number == signal.SIGINT else -signal.SIGTERM)
