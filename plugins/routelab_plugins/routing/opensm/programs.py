"""OpenSM on a simulated fabric: private sockets and folders, ended after the answer."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from routelab.api import UnsupportedError
from routelab.toolkit.programs import Process, end_process, start_program

PROGRAMS = ("opensm", "ibsim")
PACKAGES = "opensm ibsim-utils libumad2sim0 infiniband-diags"
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
LIBRARIES = ("umad2sim/libumad2sim.so", "libibmad.so.5")
QUERIES = Path(__file__).with_name("path_queries.py")
NO_ANSWER = 255
"""What the program `QUERIES` writes for a pair without a path record."""
POLL_SECONDS = 0.02
SHOWN_LINES = 3

_TIME_OF_DAY = re.compile(
    r"^\w{3} +\d+ (?P<hours>\d\d):(?P<minutes>\d\d):(?P<seconds>\d\d) (?P<micros>\d{6})"
)
"""Begin of a line of OpenSM's log, such as ``Nov 23 15:52:27 123456``."""


def opensm_program() -> str | None:
    """Return the path of OpenSM; None if it is not installed."""
    return shutil.which("opensm", path=PATH)


def library(name: str) -> Path | None:
    """Return a library below ``/usr/lib``; None if it is not installed."""
    paths = sorted([*Path("/usr/lib").glob(name), *Path("/usr/lib").glob(f"*/{name}")])
    return paths[0] if paths else None


def missing_programs() -> str | None:
    """Return a text that names programs and libraries that are not installed; None if all are."""
    missing = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    missing += [Path(name).name for name in LIBRARIES if library(name) is None]
    if not missing:
        return None
    return f"{', '.join(missing)} not installed; on Debian: apt-get install {PACKAGES}"


@dataclass(frozen=True)
class Fabric:
    """A network for the simulator ibsim, and the files that OpenSM is started with on it.

    Attributes
    ----------
    network : str
        Network file of ibsim.
    files : mapping of str to str
        Text of further files, by name in OpenSM's folder. ``cache/guid2lid`` and ``options`` are
        always read.
    nodes, switches : int
        Number of channel adapters and switches together, and of switches alone.
    ports : int
        Number of ports of all nodes, with port 0 of each.
    hosts : tuple of str
        Names of the channel adapters in the network file. OpenSM runs on the first one.
    """

    network: str
    files: Mapping[str, str]
    nodes: int
    switches: int
    ports: int
    hosts: tuple[str, ...]


class RunningFabric:
    """The simulator and OpenSM as child processes, from `start` to `stop`.

    Parameters
    ----------
    fabric : Fabric
    folder : Path
        Empty folder for all files.
    seconds : float
        Limit of the wall time of everything together.
    """

    def __init__(self, fabric: Fabric, folder: Path, seconds: float) -> None:
        self.folder = folder
        self._fabric = fabric
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds
        self._processes: list[Process] = []
        for name, text in fabric.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        (folder / "fabric.net").write_text(fabric.network, "utf-8")
        self._environment = {
            "PATH": PATH,
            "LC_ALL": "C",
            "IBSIM_SOCKNAME": f"{folder.name}-{os.getpid()}",
            "OSM_CACHE_DIR": str(folder / "cache"),
            "OSM_TMP_DIR": str(folder),
        }

    def start(self, arguments: Sequence[str]) -> float:
        """Start both programs, wait until the subnet is up, and return OpenSM's routing time.

        The time, in seconds, is from the line "building routing" to "tables configured" in its log:
        it includes the writing of the tables to the switches, and of the log.

        Raises
        ------
        UnsupportedError
            If the subnet does not come up; with the cause from OpenSM's log.
        """
        fabric = self._fabric
        # limits for the simulator: nodes (-N), switches (-S), ports (-P), one more than there are
        limits = ("-N", fabric.nodes + 1, "-S", fabric.switches + 1, "-P", fabric.ports + 1)
        # -s: start the network; -n: no console
        simulator = self._launch("ibsim", "-s", "-n", *map(str, limits), "fabric.net")
        socket = self._environment["IBSIM_SOCKNAME"]
        # The simulator opens its sockets when the network is ready. Linux lists them in this file.
        self._wait(simulator, lambda: socket in Path("/proc/net/unix").read_text())
        log = LogReader(self.folder / "opensm.log")
        # -e: erase the log; -D: log errors (1), info (2) and verbose lines (4), dump routes (0x40)
        options = ("-e", "-f", str(log.path), "--dump_files_dir", str(self.folder), "-D", "0x47")
        manager = self._launch(
            "opensm", *options, "-F", str(self.folder / "options"), *arguments, host=fabric.hosts[0]
        )
        self._wait(manager, lambda: log.is_up() or bool(log.problem))
        if log.problem:
            raise UnsupportedError(f"OpenSM says: {log.problem}")
        return log.seconds

    def service_levels(self, ports: Sequence[tuple[str, int]]) -> bytes:
        """Return the service level of each ordered pair of ports, one byte each.

        Parameters
        ----------
        ports : sequence of (str, int)
            GUID of the port of each host, and its switch.

        Raises
        ------
        UnsupportedError
            If the subnet administrator does not answer.
        """
        queries, answers = self.folder / "ports", self.folder / "levels"
        queries.write_text("".join(f"{guid} {switch}\n" for guid, switch in ports))
        # -I and -S: without variables such as PYTHONPATH, and without installed packages
        command = (sys.executable, "-I", "-S", str(QUERIES), str(queries), str(answers))
        client = self._launch(*command, host=self._fabric.hosts[-1])
        self._wait(client, lambda: client.poll() is not None)
        # a client that failed has written no answers
        levels = answers.read_bytes() if answers.exists() else b""
        if len(levels) != len(ports) ** 2 or NO_ANSWER in levels:
            raise UnsupportedError("OpenSM gives no path record for some pair of hosts")
        return levels

    def stop(self) -> None:
        """End all processes at once, because OpenSM would clear up for seconds."""
        for process in self._processes:
            end_process(process)

    def _launch(self, *command: str, host: str = "") -> Process:
        """Start a command in a separate session, with its output in the file ``<program>.out``.

        Parameters
        ----------
        *command : str
        host : str
            Channel adapter of the simulated fabric on which the command runs; "" for the simulator
            itself, which runs on none.
        """
        environment = dict(self._environment)
        if host:
            environment |= {"SIM_HOST": host, "LD_PRELOAD": str(library(LIBRARIES[0]))}
        # With `timeout`, the command ends even if this process is killed. It ends 5 s after the
        # deadline, so that `_wait` reports the deadline first.
        seconds_left = max(self._deadline - time.monotonic(), 1)
        limited = ("timeout", "-k", "1", f"{seconds_left + 5:.0f}")
        # The program `env` sets the variables, so that the command loads the simulator's library
        # (LD_PRELOAD), but `timeout` does not.
        assignments = (f"{name}={value}" for name, value in environment.items())
        wrapped = ("env", *assignments, *command)
        with (self.folder / f"{Path(command[0]).name}.out").open("wb") as output:
            process = start_program(
                [*limited, *wrapped],
                stdout=output,
                stderr=output,
                environment=self._environment,
                folder=self.folder,
            )
        self._processes.append(process)
        return process

    def _wait(self, process: Process, is_reached: Callable[[], bool]) -> None:
        """Wait until `is_reached` returns True, while a process runs.

        Raises
        ------
        UnsupportedError
            If the process ends before, or at the deadline.
        """
        while not is_reached():
            # Call it once more: the process may have reached the state and ended since the first
            # call.
            if process.poll() is not None and not is_reached():
                *_, last_output = sorted(self.folder.glob("*.out"), key=os.path.getmtime)
                lines = last_output.read_text("utf-8", "replace").splitlines()[-SHOWN_LINES:]
                raise UnsupportedError(f"{last_output.stem} ended: {' / '.join(lines)}")
            if time.monotonic() > self._deadline:
                raise UnsupportedError(f"OpenSM took more than {self._seconds:g} s; raise seconds")
            time.sleep(POLL_SECONDS)


class LogReader:
    """Reader of OpenSM's growing log, until the subnet is up or has a problem.

    Attributes
    ----------
    path : Path
    problem : str
        Errors in the log, if no routing engine could compute tables; "" until then.
    seconds : float
        Routing time; NaN until the log tells it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.problem = ""
        self.seconds = float("nan")
        self._offset = 0
        self._incomplete_line = ""
        self._routing_start = float("nan")
        self._errors: list[str] = []

    def is_up(self) -> bool:
        """Read the lines since the last call; return whether one says that the subnet is up.

        Sets `seconds` and `problem` if the lines name them.
        """
        if not self.path.exists():
            return False
        with self.path.open("rb") as file:
            file.seek(self._offset)
            text = file.read()
        self._offset += len(text)
        new_text = self._incomplete_line + text.decode("utf-8", "replace")
        *lines, self._incomplete_line = new_text.split("\n")
        for line in lines:
            if "building routing with" in line:
                self._routing_start = _seconds_of_day(line)
            elif "tables configured on all switches" in line:
                # modulo a day, because midnight may be between the two lines
                self.seconds = (_seconds_of_day(line) - self._routing_start) % 86400
            elif "-> SUBNET UP" in line:
                return True
            elif ": ERR " in line:
                self._errors.append(line.partition("-> ")[2])
            if "No routing engine able" in line:
                self.problem = " / ".join(self._errors[:SHOWN_LINES]) or "no routing engine able"
                return False
        return False


def _seconds_of_day(line: str) -> float:
    """Return the time of a line of the log, in seconds since midnight; NaN if it has none."""
    time_of_day = _TIME_OF_DAY.match(line)
    if time_of_day is None:
        return float("nan")
    hours, minutes = int(time_of_day["hours"]), int(time_of_day["minutes"])
    seconds, micros = int(time_of_day["seconds"]), int(time_of_day["micros"])
    return hours * 3600 + minutes * 60 + seconds + micros / 1e6
