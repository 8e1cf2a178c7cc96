"""The outcome of a job: ``outcome.json``, the one file that every job writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from routelab.api.errors import InputError
from routelab.artifacts.json_files import read_json, to_plain, write_json

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
        See `routelab.artifacts.provenance`.
    """

    kind: str
    topology: str
    routing: str = ""
    status: Status = "ok"
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)

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
    content = read_json(path, FORMAT)
    lost = [name for name in _FIELDS if name not in content]
    try:
        if lost:
            raise ValueError(f"no {', '.join(lost)}")
        return Outcome(**{name: content[name] for name in _FIELDS})
    except ValueError as error:
        raise InputError(f"{path} is damaged: found {error}; remove it and run again") from error
