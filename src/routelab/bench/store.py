"""Raw runs, kept whatever came of them, so that no node-hour is spent twice.

A run is a folder that bears its fingerprint: what was launched, not how its output is read. It
gets that name when the run has ended; what a kill leaves behind has another one.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from routelab.api import InputError, RunOutput
from routelab.artifacts.atomic import explain_write_errors
from routelab.artifacts.json_files import read_json, write_json

FORMAT = "bench-run/1"
RECORD, STDOUT, STDERR = "run.json", "stdout.txt", "stderr.txt"

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
        What the fingerprint is of.
    ending : RunEnding
    exit_code : int or None
        Of the launcher; negative: the signal that ended it.
    reason : str
        Why it did not end by itself.
    seconds : float
        Wall time.
    started : str
        UTC, ISO 8601.
    job_id : str
        Of Slurm.
    command : sequence of str
        All that was launched.
    session : str
        Of which it is a part; runs of other sessions were done at other times.
    turn : int
        Place of its routing in its round, in that session.
    circumstances : mapping
        Versions, environment and places of ranks, as the session found them.
    folder : Path
        Where it is kept; not part of the record.
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

    def output(self) -> RunOutput:
        """What it printed."""
        return RunOutput(_text(self.folder / STDOUT), _text(self.folder / STDERR), self.exit_code)


def fingerprint_of(identity: Mapping[str, Any]) -> str:
    """SHA-256 of what is launched, hexadecimal."""
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
        """A run that was done; None if there is none, or its record is damaged."""
        folder = self.folder / fingerprint
        try:
            record = read_json(folder / RECORD, FORMAT)
            return RawRun(**_fields(record), folder=folder)
        except (InputError, TypeError):
            return None

    def begin(self, fingerprint: str, files: Mapping[str, str]) -> Path:
        """A folder for a run that is about to start, with its input files.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        folder = self._unfinished(fingerprint)
        with explain_write_errors(folder, folder):
            for left in self.folder.glob(f".{fingerprint}.*"):
                if left == folder or _is_orphan(left.name):  # what a kill has left
                    shutil.rmtree(left)
            folder.mkdir(parents=True)
            for name, text in files.items():
                (folder / name).write_text(text, encoding="utf-8")
        return folder

    def keep(self, run: RawRun) -> RawRun:
        """Keep a run that has ended; an earlier one that failed stays beside it.

        Raises
        ------
        InputError
            If the disk is full.
        """
        final = self.folder / run.fingerprint
        record = asdict(run) | {"format": FORMAT}
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
        """Forget a run that was interrupted."""
        shutil.rmtree(self._unfinished(fingerprint), ignore_errors=True)

    def _unfinished(self, fingerprint: str) -> Path:
        # another session may be at the same run, and has a folder of its own
        return self.folder / f".{fingerprint}.{os.uname().nodename}.{os.getpid()}"

    def _earlier(self, fingerprint: str) -> Path:
        number = 1
        while (self.folder / f"{fingerprint}.{number}").exists():
            number += 1
        return self.folder / f"{fingerprint}.{number}"


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name != "format"}


def _is_orphan(name: str) -> bool:
    """Whether the session that an unfinished run belongs to was on this host and is gone."""
    _, _, rest = name.lstrip(".").partition(".")
    host, _, process = rest.rpartition(".")
    return host == os.uname().nodename and not Path("/proc", process).exists()


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return ""
