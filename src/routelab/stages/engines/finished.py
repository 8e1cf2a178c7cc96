"""Finished parts of a run that is not done yet: a kill costs those under way only.

They lie beside the run's folder, in a store that Snakemake does not own, and go when the folder is
there.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any

from routelab.api import InputError
from routelab.artifacts.row_store import SUFFIX, RowStore, RowWriter

FOLDER = ".unfinished"
"""Where they are, in the folder above the run's own."""

STATUS = "kept"

logger = logging.getLogger(__name__)


class FinishedParts:
    """The finished parts of one run, a `routelab.api.engine.Store`; threads may use it.

    Parameters
    ----------
    directory : path
        Where the outcome will go.
    fingerprint : str
        Of the run; parts of another one are not found.
    """

    def __init__(self, directory: Path, fingerprint: str) -> None:
        self._store = RowStore(directory.parent / FOLDER)
        self._name, self._fingerprint = directory.name, fingerprint
        self._lock = Lock()
        self._writer: RowWriter | None = None
        self._known = self._store.statuses()

    def find(self, key: str) -> dict[str, Any] | None:
        """See `routelab.api.engine.Store.find`."""
        digest = self._digest(key)
        if digest not in self._known:
            return None
        return self._store.rows([digest])[digest]

    def keep(self, key: str, row: Mapping[str, Any]) -> None:
        """See `routelab.api.engine.Store.keep`; what cannot be kept is lost in a kill."""
        digest = self._digest(key)
        if digest in self._known:
            return
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._store.writer(self._name)
                self._writer.append(digest, STATUS, row)
            except InputError as error:
                logger.warning("a finished part is not kept: %s", error)
            self._known[digest] = STATUS

    def close(self, done: bool) -> None:
        """Stop writing; forget all parts if the run is done."""
        if self._writer is not None:
            self._writer.__exit__(None, None, None)
            self._writer = None
        if done:
            (self._store.folder / f"{self._name}{SUFFIX}").unlink(missing_ok=True)

    def _digest(self, key: str) -> str:
        return hashlib.sha256(f"{self._fingerprint} {key}".encode()).hexdigest()
