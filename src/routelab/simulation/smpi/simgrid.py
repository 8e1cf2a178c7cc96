"""SimGrid as a second engine: replay of schedules, and runs of MPI programs, by its SMPI.

The settings make its model as similar to that of the flow engine as possible, see
``docs/concepts/simgrid.md``. They are for version 3.32 and later.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from routelab.api import InputError, RoutelabError
from routelab.simulation.flow.result import num_steady_rounds
from routelab.simulation.flow.schedule import Schedule
from routelab.simulation.smpi.blocks import smpi_program
from routelab.toolkit.input_files import is_regular
from routelab.toolkit.machine import Machine
from routelab.toolkit.programs import run_program
from routelab.toolkit.workloads.traces import LIST, write_trace

PROGRAM, COMPILER, PACKAGE = "smpirun", "smpicc", "libsimgrid-dev"
"""Programs of SimGrid, and their Debian package."""

MPICH_COLLECTIVES = "--cfg=smpi/coll-selector:mpich"
"""Option for MPI programs; a replay with it aborts."""

MAX_THRESHOLD = 2**31 - 1
"""Thresholds are C integers in SMPI."""

ENVELOPE_BYTES = 16
"""Bytes that SMPI adds to every message."""

_SIMULATED_TIME = re.compile(r"Simulated time: ([0-9.e+-]+) seconds")
_HOST_SPEED = re.compile(r'<host [^>]*speed="([0-9.e+-]+)f"')
_WAITING_RANK = re.compile(r"Actor \d+ \((\d+)@")
DEADLOCK = "Deadlock detected"
"""Message of SimGrid about a deadlock of ranks; it still prints a time and exits with 0."""
SHOWN_LINES = 5
"""Largest number of last lines of SimGrid's output, or of waiting ranks, in an error."""


class SmpiError(RoutelabError):
    """SimGrid, or the program in it, did not finish."""


@dataclass(frozen=True)
class SmpiRun:
    """Result of SimGrid.

    Attributes
    ----------
    seconds : float
        Simulated time; for a replayed schedule, from when the last rank enters the timed part until
        the last rank leaves it, with an extrapolation for rounds that were not simulated.
    rounds, total_rounds : int
        Simulated rounds, and all rounds, of the outermost timed loop; 0 for a program.
    wall_seconds : float
        Total wall time, including traces and all replays.
    smpirun_seconds : float
        Wall time of smpirun, summed over all replays.
    replays : int
        Number of replays; 0 for a program.
    output : str
        Standard output of a program.
    """

    seconds: float
    rounds: int = 0
    total_rounds: int = 0
    wall_seconds: float = 0.0
    smpirun_seconds: float = 0.0
    replays: int = 0
    output: str = ""


def find_program(program: str = PROGRAM) -> str:
    """Find one of SimGrid's programs; return its path.

    Raises
    ------
    InputError
        If the program is not installed.
    """
    path = shutil.which(program)
    if path is None:
        raise InputError(
            f"{program} is not on PATH; install SimGrid (Debian and Ubuntu: the package {PACKAGE})"
        )
    return path


def settings(machine: Machine, *, fair: bool = True) -> list[str]:
    """Return options with which SMPI has the same model as the flow engine.

    Parameters
    ----------
    machine : Machine
    fair : bool
        Share links max-min, which needs a platform on which all routes have one latency. Otherwise
        use SimGrid's default: the longer the latency, the smaller the share.
    """
    # Messages of up to `eager_bytes` are eager, and in SMPI those below the threshold.
    threshold = min(int(machine.eager_bytes) + 1, MAX_THRESHOLD)
    # "size:factor;..." has a factor for messages above each size. SMPI aborts at a factor without a
    # size.
    unchanged = "0:1.0"
    # A handshake is one more latency, for messages above `eager_bytes` (threshold − 1). The sizes
    # of this option include the envelope, those of the thresholds do not.
    handshake = f"{unchanged};{threshold - 1 + ENVELOPE_BYTES}:2.0"
    options = {
        "smpi/bw-factor": unchanged,
        "smpi/lat-factor": handshake if machine.handshake else unchanged,
        # bandwidths as they are, not those of TCP
        "network/crosstraffic": "no",
        "network/TCP-gamma": "0",
        # messages below it flow without their receiver
        "smpi/async-small-thresh": str(threshold),
        # senders of messages below it continue immediately
        "smpi/send-is-detached-thresh": str(threshold),
        "smpi/display-timing": "yes",  # prints the simulated time
    }
    if fair:
        options["network/weight-S"] = "0"
    return [f"--cfg={name}:{value}" for name, value in options.items()]


def host_speed(platform: str) -> float:
    """Return the operations per second of the hosts of a platform, which must be equal.

    Raises
    ------
    InputError
        If the platform has no host, or speeds differ.
    """
    speeds = set(_HOST_SPEED.findall(platform))
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
    """Run a program's schedule in SimGrid; return the time of its timed part.

    Parameters
    ----------
    schedule : Schedule
    platform : str
        XML from the export ``simgrid``.
    hosts : sequence of str
        The host of each rank.
    machine : Machine
    fair : bool
        Whether flows share links max-min (`settings`), or by SimGrid's default.
    limit : float, optional
        Time limit of each replay, in seconds; a run has several replays if steps precede the timed
        part, or if rounds are extrapolated.

    Raises
    ------
    InputError
        If SimGrid is not installed.
    SmpiError
        If SimGrid ends without a time or in a deadlock, or exceeds the limit.
    """
    smpirun = find_program()
    speed = host_speed(platform)
    began = time.perf_counter()
    replay_seconds: list[float] = []  # wall time of each

    # SMPI prints only the time when all ranks have ended. So to get the time of a point within the
    # program, replay the program up to this point.
    @lru_cache
    def end_time(tape_length: int) -> float:
        """Return when the last rank finishes the first `tape_length` blocks of the tape."""
        if not tape_length:
            return 0.0
        with tempfile.TemporaryDirectory(prefix="routelab-smpi-") as name:
            folder = Path(name)
            beginning = smpi_program(schedule, tape_length, machine, host_speed=speed)
            for file, text in write_trace(beginning).items():
                (folder / file).write_text(text, "utf-8")
            arguments = ["-replay", LIST, *settings(machine, fair=fair)]
            started = time.perf_counter()
            simulated, _ = _run_smpirun(
                smpirun, folder, platform, hosts, arguments=arguments, limit=limit
            )
            replay_seconds.append(time.perf_counter() - started)
            return simulated

    timed_begin, timed_end = schedule.timed
    seconds = end_time(timed_end) - end_time(timed_begin)
    # Rounds that are not simulated take as long as the steady ones, the last simulated ones.
    # `round_start` has the index of each round's first block on the tape, and the end of the last.
    if missing_rounds := schedule.total_rounds - schedule.rounds:
        steady_rounds, round_start = num_steady_rounds(schedule), schedule.round_start.tolist()
        steady_seconds = end_time(round_start[-1]) - end_time(round_start[-1 - steady_rounds])
        seconds += steady_seconds * missing_rounds / steady_rounds
    return SmpiRun(
        seconds,
        rounds=schedule.rounds,
        total_rounds=schedule.total_rounds,
        wall_seconds=time.perf_counter() - began,
        smpirun_seconds=sum(replay_seconds),
        replays=len(replay_seconds),
    )


def run_executable(
    executable: Path,
    platform: str,
    hosts: Sequence[str],
    machine: Machine,
    arguments: Sequence[str] = (),
    *,
    options: Sequence[str] = (),
    limit: float | None = None,
) -> SmpiRun:
    """Run an MPI program in SimGrid; its computations take no time.

    Parameters
    ----------
    executable : Path
        Built with ``smpicc``.
    platform : str
        XML from the export ``simgrid``.
    hosts : sequence of str
        The host of each rank.
    machine : Machine
    arguments : sequence of str
        Arguments of the program.
    options : sequence of str
        Options of smpirun, such as ``--cfg=smpi/alltoall:pair``. They come after the choice of
        collectives as in MPICH, and before all other options of routelab.
    limit : float, optional
        Time limit, in seconds.

    Raises
    ------
    InputError
        If SimGrid is not installed, or the program does not exist.
    SmpiError
        If SimGrid ends without a time or in a deadlock, or exceeds the limit.
    """
    smpirun = find_program()
    if not (is_regular(executable) and os.access(executable, os.X_OK)):
        raise InputError(
            f"{executable} is not an executable program; build one with {COMPILER} and give its "
            "path"
        )
    began = time.perf_counter()
    # SMPI's overheads of send, isend and receive, "size:seconds:seconds per byte". It has them only
    # for messages that do not wait for their receivers.
    overheads = [f"--cfg=smpi/{name}:0:{machine.overhead!r}:0" for name in ("os", "ois", "or")]
    smpirun_arguments = [
        MPICH_COLLECTIVES,
        *options,
        *settings(machine),
        *overheads,
        "--cfg=smpi/simulate-computation:no",
        str(executable.resolve()),
        *arguments,
    ]
    with tempfile.TemporaryDirectory(prefix="routelab-smpi-") as name:
        seconds, output = _run_smpirun(
            smpirun, Path(name), platform, hosts, arguments=smpirun_arguments, limit=limit
        )
    return SmpiRun(seconds, wall_seconds=time.perf_counter() - began, output=output)


def _run_smpirun(
    smpirun: str,
    folder: Path,
    platform: str,
    hosts: Sequence[str],
    *,
    arguments: Sequence[str],
    limit: float | None,
) -> tuple[float, str]:
    """Run the program smpirun in a folder; return simulated seconds and standard output.

    Raises
    ------
    SmpiError
        If SimGrid ends without a time or in a deadlock, or exceeds the limit.
    """
    (folder / "platform.xml").write_text(platform, "utf-8")
    (folder / "hosts").write_text("".join(f"{host}\n" for host in hosts), "utf-8")
    options = ["-np", str(len(hosts)), "-platform", "platform.xml", "-hostfile", "hosts"]
    # Files instead of pipes: a pipe stays open as long as any process that smpirun, a script, has
    # started.
    output_file, message_file = folder / "output.txt", folder / "messages.txt"
    end = run_program(
        [smpirun, *options, *arguments],
        stdout=output_file,
        stderr=message_file,
        environment=os.environ | {"LC_ALL": "C", "TMPDIR": str(folder)},
        folder=folder,
        seconds=math.inf if limit is None else limit,
    )
    if end.timed_out:
        raise SmpiError(f"SimGrid took more than {limit:g} s; raise the limit")
    output = output_file.read_text("utf-8", errors="replace")
    messages = message_file.read_text("utf-8", errors="replace")
    if DEADLOCK in messages:
        waiting = _WAITING_RANK.findall(messages)
        ellipsis = ["..."] if len(waiting) > SHOWN_LINES else []
        ranks = ", ".join([*waiting[:SHOWN_LINES], *ellipsis])
        raise SmpiError(
            f"program: {len(waiting)} of {len(hosts)} ranks wait for each other in SimGrid "
            f"(ranks {ranks}); if blocking sends face each other, receive first on one side, send "
            "without blocking, or raise eager_bytes"
        )
    times = _SIMULATED_TIME.findall(messages)
    # SimGrid may exit with 0 although it has failed.
    if end.exit_code or not times:
        lines = [line for line in messages.splitlines() if line.strip()][-SHOWN_LINES:]
        message = "\n    ".join([f"exit code {end.exit_code}", *lines])
        raise SmpiError(f"SimGrid printed no simulated time: {message}")
    return float(times[-1]), output
