"""SimGrid as a second engine: schedules replayed, and MPI programs run, by its SMPI.

The settings make its model that of the flow engine as far as they can, see
``docs/concepts/simgrid.md``. They are for version 3.32 and later.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from routelab.api import InputError, RoutelabError
from routelab.simulation.flow.machine import Machine
from routelab.simulation.flow.result import last_half
from routelab.simulation.flow.schedule import Schedule
from routelab.simulation.smpi.blocks import smpi_program
from routelab.toolkit.workloads.traces import LIST, write_trace

PROGRAM, COMPILER, PACKAGE = "smpirun", "smpicc", "libsimgrid-dev"
"""Programs of SimGrid, and the Debian package that has them."""

MPICH = "--cfg=smpi/coll-selector:mpich"
"""For programs only: it breaks replays off."""

LARGEST_THRESHOLD = 2**31 - 1
"""Thresholds are C integers in SMPI."""

ENVELOPE = 16
"""Bytes that SMPI adds to every message."""

_TIME = re.compile(r"Simulated time: ([0-9.e+-]+) seconds")
_SPEED = re.compile(r'<host [^>]*speed="([0-9.e+-]+)f"')
_WAITING = re.compile(r"Actor \d+ \((\d+)@")
DEADLOCK = "Deadlock detected"
"""What SimGrid says of ranks that wait for each other; it tells a time and ends with 0 even so."""
SHOWN_LINES = 5
"""Last lines of SimGrid's output that an error shows."""


class SmpiError(RoutelabError):
    """SimGrid, or the program in it, did not come to an end."""


@dataclass(frozen=True)
class SmpiRun:
    """What SimGrid found.

    Attributes
    ----------
    seconds : float
        Simulated time; of a replayed schedule, from when the last rank comes to the timed part
        until the last rank leaves it, with what rounds that were not simulated would add.
    rounds, rounds_of : int
        Rounds of the outermost timed loop that were simulated, and that there are; 0 of a program.
    wall_seconds : float
        That all of it took, traces written and all replays included.
    smpirun_seconds : float
        That smpirun ran, all replays added up.
    replays : int
        How many there were; 0 of a program.
    output : str
        Standard output of a program.
    """

    seconds: float
    rounds: int = 0
    rounds_of: int = 0
    wall_seconds: float = 0.0
    smpirun_seconds: float = 0.0
    replays: int = 0
    output: str = ""


def find(program: str = PROGRAM) -> str:
    """The path of one of SimGrid's programs.

    Raises
    ------
    InputError
        If it is not installed.
    """
    found = shutil.which(program)
    if found is None:
        raise InputError(
            f"{program} is not on PATH; install SimGrid (Debian and Ubuntu: the package {PACKAGE})"
        )
    return found


def settings(machine: Machine, *, fair: bool = True) -> list[str]:
    """Options of SMPI under which it models what the flow engine does.

    Parameters
    ----------
    machine : Machine
    fair : bool
        Share links max-min; this takes a platform on which all routes have one latency. Otherwise
        as SimGrid does by default: the longer the latency, the smaller the share.
    """
    # SMPI asks for fewer bytes, the machine for so many at most
    eager = min(int(machine.eager_bytes) + 1, LARGEST_THRESHOLD)
    chosen = {
        # a factor for all sizes; without the leading size it breaks off
        "smpi/bw-factor": "0:1.0",
        # a handshake is a latency more; factors go by the size with the envelope, up to and with it
        "smpi/lat-factor": f"0:1.0;{eager - 1 + ENVELOPE}:2.0" if machine.handshake else "0:1.0",
        "network/crosstraffic": "no",
        "network/TCP-gamma": "0",
        # without a receiver, a message flows only if it is small; a sender goes on if detached
        "smpi/async-small-thresh": str(eager),
        "smpi/send-is-detached-thresh": str(eager),
        "smpi/display-timing": "yes",
    }
    if fair:
        chosen["network/weight-S"] = "0"
    return [f"--cfg={name}:{value}" for name, value in chosen.items()]


def host_speed(platform: str) -> float:
    """Operations per second of the hosts of a platform, which have one speed.

    Raises
    ------
    InputError
        If there is no host, or speeds differ.
    """
    speeds = set(_SPEED.findall(platform))
    if len(speeds) != 1:
        raise InputError("platform: expected hosts of one speed")
    return float(speeds.pop())


def replay(
    schedule: Schedule,
    platform: str,
    hosts: Sequence[str],
    machine: Machine,
    *,
    fair: bool = True,
    limit: float | None = None,
) -> SmpiRun:
    """Run a program's schedule in SimGrid.

    Parameters
    ----------
    schedule : Schedule
    platform : str
        XML, as the export ``simgrid`` writes it.
    hosts : sequence of str
        The host of each rank.
    machine : Machine
    fair : bool
        See `settings`.
    limit : float, optional
        Seconds of each replay; there is more than one if anything comes before the timed part, or
        if rounds are left out.

    Raises
    ------
    InputError
        If SimGrid is not installed, or there are more or fewer hosts than ranks.
    SmpiError
        If it ends without a time or in a deadlock, or exceeds the limit.
    """
    if len(hosts) != schedule.ranks:
        raise InputError(
            f"placement: {len(hosts)} ranks are placed, the program has {schedule.ranks}"
        )
    program = find()
    speed = host_speed(platform)
    began = time.perf_counter()
    ran: list[float] = []

    @lru_cache
    def upto(places: int) -> float:
        """When the last rank is through with so many places of the tape."""
        if not places:
            return 0.0
        with tempfile.TemporaryDirectory(prefix="routelab-smpi-") as name:
            folder = Path(name)
            told = smpi_program(schedule, places, machine, speed)
            for file, text in write_trace(told).items():
                (folder / file).write_text(text, "utf-8")
            more = ["-replay", LIST, *settings(machine, fair=fair)]
            started = time.perf_counter()
            simulated, _ = _smpirun(program, folder, platform, hosts, more, limit)
            ran.append(time.perf_counter() - started)
            return simulated

    seconds = upto(schedule.timed[1]) - upto(schedule.timed[0])
    missing, half = schedule.rounds_of - schedule.rounds, last_half(schedule)
    if missing:
        start = schedule.round_start
        seconds += (upto(int(start[-1])) - upto(int(start[-1 - half]))) * missing / half
    return SmpiRun(
        seconds,
        schedule.rounds,
        schedule.rounds_of,
        wall_seconds=time.perf_counter() - began,
        smpirun_seconds=sum(ran),
        replays=len(ran),
    )


def run_executable(
    executable: Path,
    platform: str,
    hosts: Sequence[str],
    machine: Machine,
    arguments: Sequence[str] = (),
    *,
    options: Sequence[str] = (),
    real_speed: float | None = None,
    limit: float | None = None,
) -> SmpiRun:
    """Run an MPI program in SimGrid.

    Parameters
    ----------
    executable : Path
        Built with ``smpicc``.
    platform : str
        XML, as the export ``simgrid`` writes it.
    hosts : sequence of str
        The host of each rank.
    machine : Machine
    arguments : sequence of str
        Of the program.
    options : sequence of str
        Of smpirun, ``--cfg=smpi/alltoall:pair``; they go before ours. Collectives are chosen as
        MPICH does where they do not say otherwise.
    real_speed : float, optional
        Operations per second of the machine that this runs on. What the program computes is timed
        and scaled from it to the machine's `compute_rate`; without it computing takes no time.
    limit : float, optional
        Seconds.

    Raises
    ------
    InputError
        If SimGrid is not installed, or there is no such program.
    SmpiError
        If it ends without a time or in a deadlock, or exceeds the limit.
    """
    program = find()
    if not (executable.is_file() and os.access(executable, os.X_OK)):
        raise InputError(f"{executable} is no program; build one with {COMPILER} and give its path")
    speed = (
        "--cfg=smpi/simulate-computation:no"
        if real_speed is None
        else f"--cfg=smpi/host-speed:{real_speed!r}"
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="routelab-smpi-") as name:
        # SMPI has an overhead for messages that do not wait for their receivers only
        calls = [f"--cfg=smpi/{name}:0:{machine.overhead!r}:0" for name in ("os", "ois", "or")]
        more = [
            MPICH,
            *options,
            *settings(machine),
            *calls,
            speed,
            str(executable.resolve()),
            *arguments,
        ]
        seconds, output = _smpirun(program, Path(name), platform, hosts, more, limit)
    return SmpiRun(seconds, wall_seconds=time.perf_counter() - began, output=output)


def _smpirun(
    program: str,
    folder: Path,
    platform: str,
    hosts: Sequence[str],
    more: Sequence[str],
    limit: float | None,
) -> tuple[float, str]:
    """Simulated seconds and standard output of one run in a folder of its own."""
    (folder / "platform.xml").write_text(platform, "utf-8")
    (folder / "hosts").write_text("".join(f"{host}\n" for host in hosts), "utf-8")
    given = ["-np", str(len(hosts)), "-platform", "platform.xml", "-hostfile", "hosts"]
    # files, not pipes: a pipe stays open as long as anything that smpirun started is left
    files = folder / "output.txt", folder / "messages.txt"
    with files[0].open("wb") as out, files[1].open("wb") as err:
        process = subprocess.Popen(
            [program, *given, *more],
            cwd=folder,
            env=os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    try:
        process.wait(limit)
    except subprocess.TimeoutExpired:
        raise SmpiError(f"SimGrid took more than {limit:g} s; raise the limit") from None
    finally:
        # smpirun is a script: what it started would go on without it
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    output, messages = (path.read_text("utf-8", "replace") for path in files)
    if DEADLOCK in messages:
        waiting = _WAITING.findall(messages)
        more = ["..."] if len(waiting) > SHOWN_LINES else []
        ranks = ", ".join([*waiting[:SHOWN_LINES], *more])
        raise SmpiError(
            f"program: {len(waiting)} of {len(hosts)} ranks wait for each other in SimGrid "
            f"(ranks {ranks}); if blocking sends face each other, receive first on one side, send "
            "without blocking, or raise eager_bytes"
        )
    found = _TIME.findall(messages)
    # an exit code of 0 alone does not say that it ran
    if process.returncode or not found:
        lines = [line for line in messages.splitlines() if line.strip()][-SHOWN_LINES:]
        told = "\n    ".join([f"exit code {process.returncode}", *lines])
        raise SmpiError(f"SimGrid told no time: {told}")
    return float(found[-1]), output
