"""Store of raw runs, also of failed ones, so that no node-hour is spent twice.

A run is a folder named by its fingerprint, which depends on what was launched, not on how its
output is read. It gets that name when the run has ended; a killed run leaves another name.

Nothing deletes a stored run.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from routelab.api import InputError, RunOutput
from routelab.results.atomic import explain_write_errors
from routelab.results.json_files import load_sealed, write_json
from routelab.results.outcome import file_sum
from routelab.toolkit.input_files import MAX_ARTIFACT, read_bytes

FORMAT = "bench-run/1"
READABLE = (FORMAT,)
"""Formats that `RunStore` reads. A new format is added; an old one is never removed."""

RECORD, STDOUT, STDERR = "run.json", "stdout.txt", "stderr.txt"

MOST_OUTPUT = 64 * 2**20
"""Bytes that a program may print: benchmarks print some kilobytes, and a disk is soon full."""

RunEnding: TypeAlias = Literal["ended", "timeout", "flooded", "not-started"]
"""How a run ended: by itself; stopped at its limit; stopped as it printed too much; never, as the
launcher could not be started."""


@dataclass(frozen=True)
class RawRun:
    """One execution of a benchmark.

    Attributes
    ----------
    fingerprint : str
    identity : mapping
        What the fingerprint is computed from: everything that may change the figures.
    ending : RunEnding
    exit_code : int or None
        Exit code of the launcher; negative: the signal that ended it. None: it was not started.
    reason : str
        Why it was ended or not started; empty if it ended by itself.
    seconds : float
        Wall time.
    started : str
        UTC, ISO 8601.
    job_id : str
        Number of the Slurm job; empty without Slurm.
    command : sequence of str
        The whole command, with the launcher.
    session : str
        Unique text of its session; runs of other sessions were done at other times.
    turn : int
        Position of its routing in its round, in that session.
    circumstances : mapping
        Versions, environment and hosts of ranks, as the session found them.
    folder : Path
        Where it is stored; not part of the record.
    status : str
        Verdict of the version that measured it; empty in records of early versions.
    sums : mapping
        SHA-256 of the two files with the output, by name; empty in records of early versions.
    """

    fingerprint: str
    identity: Mapping[str, Any]
    ending: RunEnding
    exit_code: int | None
    reason: str
    seconds: float
    started: str
    job_id: str
    command: Sequence[str]
    session: str
    turn: int
    circumstances: Mapping[str, Any]
    folder: Path
    status: str = ""
    sums: Mapping[str, str] = field(default_factory=dict)

    def output(self) -> RunOutput:
        """Return the output of the run.

        Raises
        ------
        InputError
            If a file has changed since the run ended.
        """
        return RunOutput(self._read_text(STDOUT), self._read_text(STDERR), self.exit_code)

    def _read_text(self, name: str) -> str:
        """Read an output file; refuse one that changed after the run."""
        path = self.folder / name
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # the run was not started
            content = b""
        if name in self.sums and hashlib.sha256(content).hexdigest() != self.sums[name]:
            raise InputError(
                f"{path} is damaged: it has another content than was measured; restore it from a "
                f"copy, or remove the folder {self.folder} to measure again"
            )
        return content.decode(errors="replace")


def fingerprint_of(identity: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what is launched, hexadecimal."""
    text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class RunStore:
    """The runs in a folder.

    ::

        FINGERPRINT/            the latest run
        FINGERPRINT.1/, .2/     earlier ones, which failed or are damaged
        .FINGERPRINT.HOST.PID/  a run that has not ended yet, or was killed with its session

    Parameters
    ----------
    folder : path
        Need not exist.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, fingerprint: str) -> RawRun | None:
        """Return a stored run; None if it is missing or its record is damaged.

        Raises
        ------
        InputError
            If another version of routelab wrote it in a format that this version cannot read.
        """
        return _read_run(self.folder / fingerprint)

    def create_folder(self, fingerprint: str, files: Mapping[str, str]) -> Path:
        """Create and return the folder in which a run will start, with its input files.

        Raises
        ------
        InputError
            If the folder cannot be written.
        """
        folder = self._unfinished_folder(fingerprint)
        with explain_write_errors(folder, folder):
            # Remove what killed sessions of this host left: there, a PID shows that it has ended.
            for old_folder in self.folder.glob(f".{fingerprint}.*"):
                owner = old_folder.name.removeprefix(f".{fingerprint}.")
                host, _, pid = owner.rpartition(".")
                has_ended = host == os.uname().nodename and not Path("/proc", pid).exists()
                # A folder with this name is left from an earlier attempt of this process, or from
                # an earlier process with the same PID.
                if old_folder == folder or has_ended:
                    shutil.rmtree(old_folder)
            folder.mkdir(parents=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    def save(self, run: RawRun) -> RawRun:
        """Store a run that has ended; keep an earlier one, with a number behind its name.

        Raises
        ------
        InputError
            If the disk is full.
        """
        final_folder = self.folder / run.fingerprint
        sums = {name: file_sum(run.folder / name) for name in (STDOUT, STDERR)}
        record = asdict(run) | {"format": FORMAT, "sums": sums}
        del record["folder"]
        write_json(run.folder / RECORD, record)
        with explain_write_errors(final_folder, final_folder):
            # The output must be on the disk before the new name says that the run has ended.
            for name in (STDOUT, STDERR):
                handle = os.open(run.folder / name, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            if final_folder.exists():
                number = 1
                while (self.folder / f"{run.fingerprint}.{number}").exists():
                    number += 1
                final_folder.rename(self.folder / f"{run.fingerprint}.{number}")
            run.folder.rename(final_folder)
        return _run_of_record(record, final_folder)

    def discard(self, fingerprint: str) -> None:
        """Delete a run that was interrupted."""
        shutil.rmtree(self._unfinished_folder(fingerprint), ignore_errors=True)

    def _unfinished_folder(self, fingerprint: str) -> Path:
        # another session may do the same run, in another folder
        return self.folder / f".{fingerprint}.{os.uname().nodename}.{os.getpid()}"


def _read_run(folder: Path) -> RawRun | None:
    """Return the run in a folder; None if it is missing or damaged.

    Raises
    ------
    InputError
        If its format is unknown: such a run counts as done, so that it is not measured again.
    """
    try:
        record = load_sealed(read_bytes(folder / RECORD, MAX_ARTIFACT))
        record_format = record["format"]
        if record_format in READABLE:
            return _run_of_record(record, folder)
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None  # missing, not JSON, changed after it was sealed, or without a key
    raise InputError(
        f"{folder / RECORD} has format {record_format}, but this version of routelab reads "
        f"{', '.join(READABLE)}; update routelab. The measurement is kept, and is not repeated"
    )


def _run_of_record(record: Mapping[str, Any], folder: Path) -> RawRun:
    """Return the run of a record, which also has keys that are no fields, such as ``format``."""
    names = {attribute.name for attribute in fields(RawRun)} - {"folder"}
    return RawRun(**{name: record[name] for name in names & record.keys()}, folder=folder)
