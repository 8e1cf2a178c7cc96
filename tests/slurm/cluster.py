"""A private Slurm on this machine: munged, slurmctld and one slurmd for each node, on loopback.

Everything lies in one temporary folder and on ports of its own, so that several can run at a time
beside each other and beside the machine's own Slurm. `VirtualSlurm.stop` ends what the pid files
name, and what is left of steps.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

PROGRAMS = (
    "munged",
    "slurmctld",
    "slurmd",
    "srun",
    "salloc",
    "scancel",
    "scontrol",
    "sinfo",
    "squeue",
)
PACKAGES = "slurm-wlm munge"
PARTITION = "virtual"
PORTS = range(10_000, 32_000, 40)
"""First port of each block; below the ports that the kernel gives to those who do not care."""

DAEMONS = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
SECONDS = 180
"""How long a start, a state or an end is waited for; a busy machine needs a few."""

CONF = """\
ClusterName=virtual
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/pids/slurmctld
SlurmdPidFile={folder}/pids/%n
SlurmctldLogFile={folder}/logs/slurmctld
SlurmdLogFile={folder}/logs/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=pmi2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
SlurmdParameters=config_overrides
ReturnToService=2
MailProg=/bin/true
{settings}
NodeName={nodes} NodeHostname={nodes} NodeAddr={addresses} Port={ports} CPUs=4 RealMemory=2000
PartitionName={partition} Nodes={nodes} Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""

SETTINGS = {
    # on a busy machine, daemons may answer late: no node is lost by that, and no command fails
    "SlurmdTimeout": "600",
    "SlurmctldTimeout": "600",
    "MessageTimeout": "100",
    # ended jobs are listed until their test looks for them
    "MinJobAge": "3600",
    "KillWait": "2",
    "Waittime": "0",
}
"""Defaults of `VirtualSlurm`."""


class ClusterError(Exception):
    """Slurm did not do what was asked; the text holds the ends of its logs."""


def missing() -> list[str]:
    """Programs that are not installed."""
    path = os.pathsep.join([os.environ.get("PATH", ""), DAEMONS["PATH"]])
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


class VirtualSlurm:
    """A private Slurm; it runs from `start` to `stop`, or as a context.

    Parameters
    ----------
    nodes : int
        How many, at most 32.
    settings : mapping, optional
        Lines of slurm.conf that are added or differ.

    Attributes
    ----------
    folder : Path
        Logs, pid files, spools; short, because sockets lie in it.
    conf : Path
        Its slurm.conf.
    names : list of str
        ``n01``, ``n02``, ...
    environ : dict of str to str
        What clients need besides the environment there is.
    """

    def __init__(self, nodes: int = 32, settings: Mapping[str, str] | None = None) -> None:
        if not 1 <= nodes <= 32:
            raise ValueError(f"1 to 32 nodes, not {nodes}")
        self.names = [f"n{number:02d}" for number in range(1, nodes + 1)]
        self.settings = SETTINGS | dict(settings or {})
        self.folder = Path()
        self._claim: socket.socket | None = None

    @property
    def conf(self) -> Path:
        return self.folder / "slurm.conf"

    @property
    def environ(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.conf)}

    def start(self) -> VirtualSlurm:
        """Start everything, and wait until all nodes are idle."""
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        try:
            self._prepare()
            self._munged()
            self._daemon("slurmctld")
            for name in self.names:
                self._daemon("slurmd", "-N", name)
            self.wait_until(lambda: all(map(self.pid, self.names)), "all pid files are written")
            self.wait_for("idle")
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End everything by its pid file, then what is left of steps; remove the folder."""
        pids = self.folder / "pids"
        names = [path.name for path in pids.glob("n*")] if pids.is_dir() else []
        for group in (["slurmctld"], names, ["munged"]):
            self._end([pid for name in group if (pid := self.pid(name)) is not None])
            if group == names:
                self._end(self.processes() - {self.pid("munged")}, signal.SIGKILL)
        if self._claim is not None:
            self._claim.close()
            self._claim = None
        if self.folder.name.startswith("slurm-"):
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> VirtualSlurm:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # --- What people and tests do with it ---------------------------------------------------

    def run(self, *arguments: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
        """Run a command of Slurm's, whatever its exit code."""
        return subprocess.run(
            arguments,
            env=os.environ | self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
        )

    def nodes(self, state: str | None = None) -> list[str]:
        """Names of all nodes, or of those in a state such as ``idle``, ``drained``, ``down``."""
        listed = self.run("sinfo", "--noheader", "--Node", "--format=%N %T").stdout
        pairs = sorted({tuple(line.split()) for line in listed.splitlines()})
        # a node that does not answer (*) is in no state that a test waits for, except down
        silent = "*" if state == "down" else ""
        return [name for name, now in pairs if state in (None, now.rstrip(f"{silent}~#$@+-"))]

    def jobs(self) -> list[str]:
        """Numbers of the jobs that there are, ended ones excepted."""
        listed = self.run("squeue", "--noheader", "--format=%i")
        if listed.returncode != 0:  # else a Slurm that does not answer would have no jobs
            raise ClusterError(f"{listed.stderr}{self.logs()}")
        return listed.stdout.split()

    def tidy(self) -> None:
        """End all jobs, and make all nodes as they were at the start."""
        if numbers := self.jobs():
            self.run("scancel", *numbers)
        self.wait_until(self._tidied, "no jobs, all nodes idle")

    def _tidied(self) -> bool:
        for name in self.nodes("drained"):
            self.run("scontrol", "update", f"NodeName={name}", "State=RESUME")
        return not self.jobs() and self.nodes("idle") == self.names

    def wait_for(self, state: str, names: Iterable[str] | None = None) -> None:
        """Wait until nodes (all, by default) are in a state."""
        wanted = set(self.names if names is None else names)
        self.wait_until(lambda: wanted <= set(self.nodes(state)), f"{sorted(wanted)} are {state}")

    def wait_until(self, done: Callable[[], bool], what: str) -> None:
        """Wait until something is so; the error says what is not."""
        end = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > end:
                states = self.run("sinfo", "--Node", "--long").stdout
                raise ClusterError(f"not after {SECONDS} s: {what}\n{states}{self.logs()}")
            time.sleep(0.05)

    def pid(self, name: str) -> int | None:
        """Process of ``munged``, ``slurmctld`` or a node; None if it does not run."""
        with contextlib.suppress(OSError, ValueError):
            pid = int((self.folder / "pids" / name).read_text())
            if pid in self.processes([pid]):
                return pid
        return None

    def processes(self, among: Iterable[int] | None = None) -> set[int]:
        """Processes of this Slurm: daemons, steps and what they run.

        All that was started by it, or for it, has its slurm.conf or its folder in the environment.
        """
        mark = f"{self.folder}/".encode()
        return {pid for pid in (_pids() if among is None else among) if mark in _environ(pid)}

    # --- How it is started and ended ---------------------------------------------------------

    def _prepare(self) -> None:
        self.folder.chmod(0o755)  # munged wants its folder to be seen by all, written by one
        for part in ("state", "spool", "pids", "logs"):
            (self.folder / part).mkdir(mode=0o755)
        for name in self.names:
            (self.folder / "spool" / name).mkdir(mode=0o755)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o400)
        self._claim, port = _free_ports(len(self.names) + 1)
        count = len(self.names)
        self.conf.write_text(
            CONF.format(
                host=socket.gethostname().partition(".")[0],
                user=pwd.getpwuid(os.geteuid()).pw_name,
                folder=self.folder,
                settings="\n".join(f"{key}={value}" for key, value in self.settings.items()),
                nodes=f"n[01-{count:02d}]",
                addresses=f"127.0.1.[1-{count}]",
                port=port,
                ports=f"[{port + 1}-{port + count}]",
                partition=PARTITION,
            )
        )

    def _munged(self) -> None:
        self._daemon(
            "munged",
            f"--socket={self.folder}/munge.socket",
            f"--key-file={self.folder}/munge.key",
            f"--log-file={self.folder}/logs/munged",
            f"--pid-file={self.folder}/pids/munged",
            f"--seed-file={self.folder}/munge.seed",
            "--num-threads=2",
        )
        self.wait_until((self.folder / "munge.socket").exists, "munged listens")

    def _daemon(self, program: str, *arguments: str) -> None:
        """Start what puts itself into the background and writes its pid file."""
        done = subprocess.run(
            [program, *arguments],
            env=DAEMONS | self.environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        if done.returncode != 0:
            raise ClusterError(f"{program} {arguments}: {done.stderr or done.stdout}{self.logs()}")

    def logs(self) -> str:
        """The ends of all logs, for messages."""
        texts = []
        for path in sorted((self.folder / "logs").glob("*")):
            lines = path.read_text(errors="replace").splitlines()[-5:]
            texts.append("\n".join([f"--- {path.name}", *lines]))
        return "\n".join(["", *texts])

    @staticmethod
    def _end(pids: Iterable[int], number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal, wait, and kill what does not go."""
        left = set(pids)
        for each in (number, signal.SIGKILL):
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, each)
            end = time.monotonic() + 10
            while left and time.monotonic() < end:
                left = {pid for pid in left if _runs(pid)}
                time.sleep(0.02)


def _free_ports(count: int) -> tuple[socket.socket, int]:
    """A block of ports: a socket that claims it by its first, and the next one."""
    order = list(PORTS)
    secrets.SystemRandom().shuffle(order)
    for first in order:
        with contextlib.ExitStack() as tries:
            claim = tries.enter_context(socket.socket())
            try:
                claim.bind(("", first))
                for port in range(first + 1, first + 1 + count):
                    tries.enter_context(socket.socket()).bind(("", port))
            except OSError:
                continue
            return claim.dup(), first + 1
    raise ClusterError(f"no {count} free ports in {PORTS}")


def _pids() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _environ(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_bytes()
    return b""


def _runs(pid: int) -> bool:
    """Whether it is there and not a zombie."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
