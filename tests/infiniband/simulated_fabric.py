"""A simulated InfiniBand fabric with a real subnet manager: ibsim and OpenSM, privately."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

PROGRAMS = ("ibsim", "opensm", "ibnetdiscover", "saquery", "ibroute", "ibdmchk")
PACKAGES = "opensm ibsim-utils libumad2sim0 infiniband-diags ibutils"
SECONDS = 180
"""Longest wait for a start or an answer; a busy machine needs a few."""
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def library() -> Path | None:
    """Return the library that connects programs to the simulator; None if it is missing."""
    paths = sorted(Path("/usr/lib").glob("**/umad2sim/libumad2sim.so"))
    return paths[0] if paths else None


def missing() -> list[str]:
    """Return the programs that are not installed."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    return absent + ([] if library() else ["libumad2sim.so"])


class SimulatedFabric:
    """A fabric that runs until `stop`; all its files are in one folder.

    Parameters
    ----------
    network : Path
        Network file of ibsim.
    folder : Path
    """

    def __init__(self, network: Path, folder: Path) -> None:
        self.folder = folder
        self.hosts = re.findall(r'^Ca\s+\d+ "(H-[0-9a-f]+)"', network.read_text(), re.MULTILINE)
        (folder / "cache").mkdir(parents=True)
        self.manager: subprocess.Popen[bytes] | None = None
        self._environment = {
            "PATH": PATH,
            "LC_ALL": "C",
            "IBSIM_SOCKNAME": f"routelab-{os.getpid()}-{folder.name}",
            "OSM_CACHE_DIR": str(folder / "cache"),
            "OSM_TMP_DIR": str(folder),
        }
        command = ["ibsim", "-s", "-n", "-N", "4096", "-S", "2048", "-P", "100000", str(network)]
        self._simulator = self._start(command, "ibsim.log")
        # the simulator opens its sockets when the network is ready
        self._wait(self._simulator, Path("/proc/net/unix"), self._environment["IBSIM_SOCKNAME"])

    def manage(self, *arguments: str, options: str = "") -> None:
        """Start OpenSM and wait until the subnet is up.

        Parameters
        ----------
        *arguments : str
        options : str
            Content of a file of options.

        Raises
        ------
        RuntimeError
            If it does not come up; with the last lines of the log.
        """
        paths = ["-e", "-f", str(self.folder / "log"), "--dump_files_dir", str(self.folder)]
        # else the log is complete only at the next sweep
        (self.folder / "options").write_text(f"{options}force_log_flush TRUE\n")
        paths += ["-F", str(self.folder / "options")]
        command = ["opensm", *paths, "-D", "0x47", *arguments]
        self.manager = self._start(command, "opensm.out", self.hosts[0])
        self._wait(self.manager, self.folder / "log", "SUBNET UP")

    def ask(self, *command: str, host: int = 1) -> str:
        """Return the output of a program that runs on a host."""
        environment = self._on_host(self.hosts[host])
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=SECONDS, check=True
        )
        return done.stdout.decode("utf-8", "backslashreplace")

    def check_with_ibdmchk(self, *arguments: str) -> str:
        """Return the output of ibdmchk for the tables that OpenSM dumped.

        Its exit code says nothing: it may crash after its last line.
        """
        files = {"-s": "opensm-subnet.lst", "-f": "opensm.fdbs", "-m": "opensm.mcfdbs"}
        named = [text for flag, name in files.items() for text in (flag, str(self.folder / name))]
        done = subprocess.run(
            ["ibdmchk", *named, *arguments],
            env={"PATH": PATH, "LC_ALL": "C"},
            cwd=self.folder,
            capture_output=True,
            timeout=SECONDS,
        )
        return done.stdout.decode("utf-8", "backslashreplace")

    def stop(self) -> None:
        """End both programs; OpenSM would clear up for seconds."""
        for process in (self.manager, self._simulator):
            if process is not None:
                process.kill()
                process.wait()

    def _on_host(self, host: str) -> dict[str, str]:
        return {**self._environment, "SIM_HOST": host, "LD_PRELOAD": str(library())}

    def _start(self, command: Sequence[str], log: str, host: str = "") -> subprocess.Popen[bytes]:
        environment = self._on_host(host) if host else self._environment
        with (self.folder / log).open("wb") as output:
            return subprocess.Popen(
                command,
                env=environment,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def _wait(self, process: subprocess.Popen[bytes], log: Path, pattern: str) -> None:
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            has_ended = process.poll() is not None  # asked first: its last line may be the one
            text = log.read_text(errors="replace") if log.exists() else ""
            if re.search(pattern, text):
                return
            if has_ended:
                break
            time.sleep(0.02)
        last = "\n".join(text.splitlines()[-5:])
        self.stop()
        raise RuntimeError(f"{log} does not say {pattern!r}; its last lines are:\n{last}")
