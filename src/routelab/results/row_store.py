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
_LINE = re.compile(
    rb"^(?P<sealed>(?P<row>\{.*\})\t(?P<status>[a-z]+)\t(?P<fingerprint>[0-9a-f]{64}))"
    rb"\t(?P<checksum>[0-9a-f]{16})$",
    re.MULTILINE,
)


def _checksum(line: bytes) -> bytes:
    return hashlib.sha256(line).hexdigest()[:16].encode()


class RowStore:
    """The rows in a folder.

    Parameters
    ----------
    folder : path
        Need not exist.
    replaceable : collection of str
        Statuses of rows that do not replace rows with other statuses, and that any row replaces.
    """

    def __init__(self, folder: Path, replaceable: Collection[str] = ()) -> None:
        self.folder = folder
        self._replaceable = frozenset(replaceable)

    def statuses(self) -> dict[str, str]:
        """Return the status of all rows by fingerprint."""
        return {key: status for key, (status, _) in self._read_lines().items()}

    def rows(self, fingerprints: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return those of the wanted rows that exist, by fingerprint."""
        fingerprints = frozenset(fingerprints)
        return {
            key: json.loads(content)
            for key, (_, content) in self._read_lines().items()
            if key in fingerprints
        }

    def _read_lines(self) -> dict[str, tuple[str, bytes]]:
        """Return status and content of the row that counts, by fingerprint.

        It is the last one, but a row with a replaceable status replaces only such rows.
        """
        rows: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            # Once for each group of the pattern, in its order.
            for sealed, row, status, fingerprint, checksum in _LINE.findall(
                read_bytes(path, MAX_ARRAYS)
            ):
                if checksum != _checksum(sealed):
                    continue
                key, status_text = fingerprint.decode(), status.decode()
                earlier_status, _ = rows.get(key, (None, b""))
                if (
                    earlier_status is None
                    or earlier_status in self._replaceable
                    or status_text not in self._replaceable
                ):
                    rows[key] = status_text, row
        return rows

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
        line += b"\t" + _checksum(line) + b"\n"
        size = os.fstat(self._handle).st_size
        if size and os.pread(self._handle, 1, size - 1) != b"\n":
            line = b"\n" + line  # the last line was cut off
        with explain_write_errors(self.path, self.path):
            while line:  # the system may write a part only
                line = line[os.write(self._handle, line) :]
