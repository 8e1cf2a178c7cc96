"""A store of rows that stays usable after any kill: one appended line per row and fingerprint.

A store is a folder of files, each written by one process at a time. A line is strict JSON, the
row's status, its fingerprint and a checksum of these, separated by tabs (JSON has none). A line
that a kill cut off, or that was damaged, does not count. Of several rows with one fingerprint the
last one counts; files are read in the order of their names. But a row that is to be computed again,
such as that of a failure, never replaces a row with a result.
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
    """The rows in the files of a folder, by the fingerprint of what each was computed from.

    Parameters
    ----------
    folder : path
        Need not exist.
    replaceable : collection of str
        Statuses of rows to compute again, such as ``failed``. Any row replaces a row with such a
        status, which itself replaces no row with another status.
    """

    def __init__(self, folder: Path, replaceable: Collection[str] = ()) -> None:
        self.folder = folder
        self._replaceable = frozenset(replaceable)

    def statuses(self) -> dict[str, str]:
        """Return the status of all rows by fingerprint."""
        return {key: status for key, (status, _) in self._current_rows().items()}

    def rows(self, fingerprints: Collection[str]) -> dict[str, dict[str, Any]]:
        """Return those of the wanted rows that exist, by fingerprint."""
        fingerprints = frozenset(fingerprints)
        return {
            key: json.loads(content)
            for key, (_, content) in self._current_rows().items()
            if key in fingerprints
        }

    def _current_rows(self) -> dict[str, tuple[str, bytes]]:
        """Return status and JSON text of the row that counts, by fingerprint.

        It is the last one, but a row with a replaceable status replaces only such rows.
        """
        rows: dict[str, tuple[str, bytes]] = {}
        for path in sorted(self.folder.glob(f"*{SUFFIX}")):
            for line in _LINE.finditer(read_bytes(path, MAX_ARRAYS)):
                if line["checksum"] != _checksum(line["sealed"]):
                    continue
                fingerprint, status = line["fingerprint"].decode(), line["status"].decode()
                earlier_status, _ = rows.get(fingerprint, (None, b""))
                if (
                    earlier_status is None
                    or earlier_status in self._replaceable
                    or status not in self._replaceable
                ):
                    rows[fingerprint] = status, line["row"]
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
    """Appends rows to a file of a store.

    Processes that are forked from this one share the open file, and may append one after another.
    """

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
            line = b"\n" + line  # a kill cut the last line off: begin a new one
        with explain_write_errors(self.path, self.path):
            while line:  # the system may write a part only
                line = line[os.write(self._handle, line) :]
