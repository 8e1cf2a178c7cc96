"""The outcome of a job: ``outcome.json``, the one file that every job writes.

It lists the other files of the job with their sizes and checksums, so that none that was damaged or
cut is read as a result.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from routelab.api.errors import InputError
from routelab.results.json_files import load_sealed, read_json, to_plain, write_json
from routelab.toolkit.input_files import MAX_ARRAYS, MAX_ARTIFACT, open_input, read_bytes

OUTCOME = "outcome.json"
"""File with the outcome, in a job's folder."""

FORMAT = "outcome/1"

Status = Literal["ok", "unsupported", "failed", "timeout"]


@dataclass(frozen=True)
class Outcome:
    """How a job ended, with or without a result.

    Attributes
    ----------
    kind : str
        Kind of the job's result, for example ``"route"`` or ``"topology"``.
    topology, routing : str
        Canonical instance names or aliases; a topology job has no routing.
    status : {"ok", "unsupported", "failed", "timeout"}
    reason : str
        Why the status is not ``ok``.
    facts : mapping
        Numbers and texts about the result. In JSON a number without a value is null: NaN and
        the infinities come back as None.
    provenance : mapping
        See `routelab.results.provenance`.
    files : mapping
        ``bytes`` and ``sha256`` of the other files in the folder, by name; `close_folder` adds
        them.
    """

    kind: str
    topology: str
    routing: str = ""
    status: Status = "ok"
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status not in get_args(Status):
            raise ValueError(f"status is {self.status!r}, expected one of {get_args(Status)}")
        if self.status != "ok" and not self.reason:
            raise ValueError(f"an outcome with status {self.status} needs a reason")

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as JSON values, with its format."""
        return {"format": FORMAT} | {name: to_plain(getattr(self, name)) for name in _FIELDS}


_FIELDS = [entry.name for entry in fields(Outcome)]


def write_outcome(outcome: Outcome, path: str | os.PathLike[str]) -> None:
    """Write an outcome atomically.

    Raises
    ------
    InputError
        If `path` cannot be written.
    """
    write_json(path, outcome.to_json())


def read_outcome(path: str | os.PathLike[str]) -> Outcome:
    """Read an outcome.

    Raises
    ------
    InputError
        If the file is missing, damaged or of another format.
    """
    # Outcomes of early versions list no files.
    content = {"files": {}, **read_json(path, FORMAT)}
    absent = [name for name in _FIELDS if name not in content]
    try:
        if absent:
            raise ValueError(f"no {', '.join(absent)}")
        return Outcome(**{name: content[name] for name in _FIELDS})
    except ValueError as error:
        raise InputError(f"{path} is damaged: found {error}; remove it and run again") from error


def close_folder(outcome: Outcome, folder: Path) -> Outcome:
    """Write an outcome with the sizes and checksums of all files in its folder; return it.

    It is the last file of the folder: without it the folder is not read as a result.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    names = sorted(path.name for path in folder.iterdir())
    files = {
        name: {"bytes": (folder / name).stat().st_size, "sha256": file_sum(folder / name)}
        for name in names
    }
    outcome_with_files = replace(outcome, files=files)
    write_outcome(outcome_with_files, folder / OUTCOME)
    return outcome_with_files


def has_valid_outcome(
    folder: Path, fingerprint: str, sources: Mapping[str, str] = MappingProxyType({})
) -> bool:
    """Return whether a folder has an outcome, of any status, that is not damaged or out of date.

    All files that the outcome lists must be there with their sizes. Their checksums are compared
    only when the files are read (`require_undamaged`), which is faster.

    Parameters
    ----------
    folder : Path
    fingerprint : str
        Of the job as it is now; an outcome with another one is out of date.
    sources : mapping of str to str, optional
        Digests of the present network and table: ``{"network": …, "table": …}``. An outcome that
        was made from others is out of date.
    """
    try:
        outcome = _read_summary(str(folder))
        provenance = outcome["provenance"]
        recorded_sources = provenance.get("sources", {})
        return (
            bool(provenance["fingerprint"] == fingerprint)
            and all(recorded_sources.get(name) == digest for name, digest in sources.items())
            and all(
                os.path.getsize(folder / name) == file["bytes"]  # noqa: PTH202 - of all results
                for name, file in outcome.get("files", {}).items()
            )
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def recorded_digest(folder: str, fingerprint: str = "") -> str | None:
    """Return the digest of the network or table in a job's folder, as its outcome has recorded it.

    None if there is no outcome, it cannot be read, or the job failed or makes neither of them.

    Parameters
    ----------
    folder : str
    fingerprint : str, optional
        None is also returned for an outcome with another fingerprint, which is out of date. By
        default any fingerprint will do.
    """
    try:
        provenance = _read_summary(folder)["provenance"]
        recorded_fingerprint, digest = provenance.get("fingerprint"), provenance.get("digest")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return digest if fingerprint in ("", recorded_fingerprint) else None


def recorded_status(folder: str) -> dict[str, str]:
    """Return ``status`` and ``reason`` of the outcome in a job's folder.

    Both are empty without an outcome. One that cannot be read counts as ``failed``.
    """
    try:
        outcome = _read_summary(folder)
        return {"status": str(outcome["status"]), "reason": str(outcome["reason"])}
    except FileNotFoundError:
        return {"status": "", "reason": ""}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {"status": "failed", "reason": "its outcome cannot be read"}


def _read_summary(folder: str) -> dict[str, Any]:
    """Return the entries of an outcome that tell how the job ended and whether it is up to date.

    They are ``status``, ``reason``, ``files``, and of the ``provenance`` ``fingerprint``,
    ``digest`` and ``sources``. A file that has not changed is read once.
    """
    path = os.path.join(folder, OUTCOME)  # noqa: PTH118 - of all results, several times in a run
    status = os.stat(path)  # noqa: PTH116
    return _cached_summary(path, status.st_mtime_ns, status.st_ino, status.st_size)


@lru_cache(maxsize=1 << 16)
def _cached_summary(path: str, _modified: int, _inode: int, _size: int) -> dict[str, Any]:
    """Read a summary; time, inode and size are only keys of the cache, so a new file is read."""
    # The facts are left out: the cache has the outcomes of all jobs of a run.
    outcome = load_sealed(read_bytes(Path(path), MAX_ARTIFACT))
    summary = {key: outcome[key] for key in ("status", "reason", "files") if key in outcome}
    provenance = outcome.get("provenance", {})
    origin_keys = ("fingerprint", "digest", "sources")
    origin = {key: provenance[key] for key in origin_keys if key in provenance}
    return summary | {"provenance": origin}


def require_undamaged(path: Path) -> None:
    """Raise an InputError if a file has another content than the outcome in its folder lists.

    The message names the folder to remove. A file that no outcome lists is not checked.
    """
    outcome = path.parent / OUTCOME
    try:
        status = outcome.stat()
    except OSError:
        return
    listed_files = _cached_files(outcome, status.st_mtime_ns, status.st_size)
    expected = listed_files.get(path.name, {}).get("sha256", "")  # empty: not listed
    try:
        actual = file_sum(path)
    except OSError as error:
        raise InputError(
            f"cannot read {path}: {error.strerror}; remove the folder {path.parent} and run again"
        ) from error
    if expected and actual != expected:
        raise InputError(
            f"{path} is damaged: it has another content than {OUTCOME} beside it says; remove the "
            f"folder {path.parent} and run again"
        )


@lru_cache(maxsize=64)
def _cached_files(outcome: Path, _modified: int, _size: int) -> Mapping[str, Mapping[str, Any]]:
    return read_outcome(outcome).files


def file_sum(path: Path) -> str:
    """Return the SHA-256 of a file, hexadecimal."""
    with open_input(path, MAX_ARRAYS) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
