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
"""By itself; stopped at its limit; stopped as it printed too much; the launcher could not be
started."""


@dataclass(frozen=True)
class RawRun:
    """One execution of a benchmark.

    Attributes
    ----------
    fingerprint : str
    identity : mapping
        Content of the fingerprint.
    ending : RunEnding
    exit_code : int or None
        Exit code of the launcher; negative: the signal that ended it.
    reason : str
        Why it was ended.
    seconds : float
        Wall time.
    started : str
        UTC, ISO 8601.
    job_id : str
        Of Slurm.
    command : sequence of str
        The whole command.
    session : str
        Its session; runs of other sessions were done at other times.
    turn : int
        Position of its routing in its round, in that session.
    circumstances : mapping
        Versions, environment and hosts of ranks, as the session found them.
    folder : Path
        Where it is stored; not part of the record.
    status : str
        Verdict of the version that measured it; empty in records of early versions.
    sums : mapping
        SHA-256 of the files with the output, by name; early versions wrote none.
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
            If it is not what was written.
        """
        return RunOutput(self._text(STDOUT), self._text(STDERR), self.exit_code)

    def _text(self, name: str) -> str:
        """Return the text of an output file; refuse one that changed after the run."""
        path = self.folder / name
        try:
            content = path.read_bytes()
        except FileNotFoundError:
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
        return _read(self.folder / fingerprint)

    def begin(self, fingerprint: str, files: Mapping[str, str]) -> Path:
        """Create and return the folder of a run that will start, with its input files.

        Raises
        ------
        InputError
            If the folder cannot be written.
        """
        folder = self._unfinished(fingerprint)
        with explain_write_errors(folder, folder):
            for old_folder in self.folder.glob(f".{fingerprint}.*"):
                if old_folder == folder or _is_orphan(old_folder.name):  # left by a kill
                    shutil.rmtree(old_folder)
            folder.mkdir(parents=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    def keep(self, run: RawRun) -> RawRun:
        """Store a run that has ended; keep an earlier failed one next to it.

        Raises
        ------
        InputError
            If the disk is full.
        """
        final = self.folder / run.fingerprint
        sums = {name: file_sum(run.folder / name) for name in (STDOUT, STDERR)}
        record = asdict(run) | {"format": FORMAT, "sums": sums}
        del record["folder"]
        write_json(run.folder / RECORD, record)
        with explain_write_errors(final, final):
            for name in (STDOUT, STDERR):
                handle = os.open(run.folder / name, os.O_RDONLY)
                try:
                    os.fsync(handle)
                finally:
                    os.close(handle)
            if final.exists():
                final.rename(self._earlier(run.fingerprint))
            run.folder.rename(final)
        return RawRun(**_fields(record), folder=final)

    def drop(self, fingerprint: str) -> None:
        """Delete a run that was interrupted."""
        shutil.rmtree(self._unfinished(fingerprint), ignore_errors=True)

    def _unfinished(self, fingerprint: str) -> Path:
        # another session may do the same run, in another folder
        return self.folder / f".{fingerprint}.{os.uname().nodename}.{os.getpid()}"

    def _earlier(self, fingerprint: str) -> Path:
        number = 1
        while (self.folder / f"{fingerprint}.{number}").exists():
            number += 1
        return self.folder / f"{fingerprint}.{number}"


def _read(folder: Path) -> RawRun | None:
    """Return the run in a folder; None if it is missing or damaged. Refuse newer formats."""
    try:
        record = load_sealed(read_bytes(folder / RECORD, MAX_ARTIFACT))
        written = record["format"]
        if written in READABLE:
            return RawRun(**_fields(record), folder=folder)
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return None
    raise InputError(
        f"{folder / RECORD} has format {written}, but this version of routelab reads "
        f"{', '.join(READABLE)}; update routelab. The measurement is kept, and is not repeated"
    )


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name in _NAMES}


_NAMES = {attribute.name for attribute in fields(RawRun)} - {"folder"}


def _is_orphan(name: str) -> bool:
    """Return whether the session of an unfinished run was on this host and has ended."""
    _, _, suffix = name.lstrip(".").partition(".")
    host, _, process = suffix.rpartition(".")
    return host == os.uname().nodename and not Path("/proc", process).exists()
