"""A store of rows that stays usable after any kill: one appended line per row and fingerprint.

A store is a folder of files, each written by one process at a time. A line is strict JSON, the
row's status, its fingerprint and a checksum of these, separated by tabs (JSON has none). A line
that a kill cut off, or that was damaged, does not count. Of several rows with one fingerprint the
last one in a file counts, and a good one replaces one to try again.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from routelab.results.atomic import explain_write_errors
from routelab.results.json_files import to_plain
from routelab.toolkit.input_files import MAX_ARRAYS, read_bytes

SUFFIX = ".rows"
_LINE = re.compile(rb"^((\{.*\})\t([a-z]+)\t([0-9a-f]{64}))\t([0-9a-f]{16})$", re.MULTILINE)


def _seal(line: bytes) -> bytes:
    return hashlib.sha256(line).hexdigest()[:16].encode()


class RowStore:
    """The rows in a folder.

    Parameters
    ----------
    folder : path
        Need not exist.
    worse : collection of str
        Statuses of rows that any other row of the same fingerprint replaces.
    """

    def __init__(self, folder: Path, worse: Collection[str] = ()) -> None:
        self.folder = folder
        self._worse = frozenset(worse)

    def statuses(self) -> dict[str, str]:
        """Return the status of all rows by fingerprint."""
        return {key: status for key, (status, _) in self._lines().items()}

    def rows(self, fingerprints: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return those of the wanted rows that exist, by fingerprint."""
        fingerprints = frozenset(fingerprints)
        return {
            key: json.loads(content)
            for key, (_, content) in self._lines().items()
            if key in fingerprints
        }

    def _lines(self) -> dict[str, tuple[str, bytes]]:
        """Return status and content by fingerprint; a worse line replaces only a worse one."""
        lines: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            for line, content, status_, key_, seal in _LINE.findall(read_bytes(path, MAX_ARRAYS)):
                if seal != _seal(line):
                    continue
                key, status = key_.decode(), status_.decode()
                if key not in lines or status not in self._worse or lines[key][0] in self._worse:
                    lines[key] = status, content
        return lines

    def writer(self, name: str) -> RowWriter:
        """Return a writer that appends to the file of that name.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        return RowWriter(self.folder / f"{name}{SUFFIX}")


class RowWriter:
    """Appends rows to a file; processes forked from this one may take turns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with explain_write_errors(path, path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)

    def __enter__(self) -> RowWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            os.fsync(self._handle)
        finally:
            os.close(self._handle)

    def append(self, fingerprint: str, status: str, row: Mapping[str, Any]) -> None:
        """Add a row.

        Raises
        ------
        InputError
            If the disk is full.
        """
        text = json.dumps(to_plain(row), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        line = f"{text}\t{status}\t{fingerprint}".encode()
        line += b"\t" + _seal(line) + b"\n"
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            line = b"\n" + line  # the last line was cut off
        with explain_write_errors(self.path, self.path):
            while line:
                line = line[os.write(self._handle, line) :]
