"""Store the finished parts of a run, so that a kill loses only the unfinished parts.

The store is next to the run's folder and is not an output of Snakemake. It is deleted when the run
is complete.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from routelab.api import InputError
from routelab.results.row_store import SUFFIX, RowStore, RowWriter

FOLDER = ".unfinished"
"""Name of the store, in the parent of the run's folder."""

STATUS = "kept"
"""Status of all rows in the store; a `RowStore` needs one."""

logger = logging.getLogger(__name__)


class FinishedParts:
    """Store of the finished parts of one run, a `routelab.api.engine.Store`; thread-safe.

    A part is a row of values under a key that the engine chooses, such as the result of one load
    with one seed.

    Parameters
    ----------
    directory : path
        Folder of the run.
    fingerprint : str
        Fingerprint of the run; parts of other runs are not found.
    """

    def __init__(self, directory: Path, fingerprint: str) -> None:
        self._store = RowStore(directory.parent / FOLDER)
        self._name, self._fingerprint = directory.name, fingerprint  # the name is of the rows' file
        self._lock = Lock()
        self._writer: RowWriter | None = None
        self._statuses = self._store.statuses()  # by digest of fingerprint and key

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the part that an earlier run stored under `key`; None if there is none."""
        digest = self._digest(key)
        if digest not in self._statuses:
            return None
        return self._store.rows([digest])[digest]

    def save(self, key: str, row: Mapping[str, Any]) -> None:
        """Store a part under `key`, unless there is one already.

        If it cannot be written, warn; the run continues, and a kill loses the part.
        """
        digest = self._digest(key)
        if digest in self._statuses:
            return
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._store.writer(self._name)
                self._writer.append(digest, STATUS, row)
                self._statuses[digest] = STATUS
            except InputError as error:
                logger.warning("cannot store a finished part: %s", error)

    def close(self, done: bool) -> None:
        """Stop writing. If the run is done, delete its store."""
        if self._writer is not None:
            self._writer.__exit__(None, None, None)
            self._writer = None
        if done:
            (self._store.folder / f"{self._name}{SUFFIX}").unlink(missing_ok=True)

    def _digest(self, key: str) -> str:
        """Return the key of the row store: a digest of the run's fingerprint and the part's key."""
        return hashlib.sha256(f"{self._fingerprint} {key}".encode()).hexdigest()
