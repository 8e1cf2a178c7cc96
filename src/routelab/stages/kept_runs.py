"""Finished runs of a simulation that is not done yet: a kill costs those under way only.

They lie beside the simulation's folder, in a store that Snakemake does not own, and go when the
folder is there.
"""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from threading import Lock

from routelab.api import InputError
from routelab.artifacts.measured_rows import from_row, to_row
from routelab.artifacts.row_store import SUFFIX, RowStore, RowWriter
from routelab.simulation.measured import Measured
from routelab.simulation.settings import SimulationSettings

FOLDER = ".unfinished"
"""Where they are, in the folder above the simulation's own."""

STATUS = "kept"

logger = logging.getLogger(__name__)


class KeptRuns:
    """The finished runs of one simulation; threads may use it.

    Parameters
    ----------
    directory : path
        Where the simulation's outcome will go.
    fingerprint : str
        Of the simulation; runs of another one are not found.
    settings : SimulationSettings
    """

    def __init__(self, directory: Path, fingerprint: str, settings: SimulationSettings) -> None:
        self._store = RowStore(directory.parent / FOLDER)
        self._name, self._fingerprint, self._settings = directory.name, fingerprint, settings
        self._lock = Lock()
        self._writer: RowWriter | None = None
        self._known = self._store.statuses()

    def find(self, load: float, seed: int) -> Measured | None:
        """A run that was finished before."""
        key = self._key(load, seed)
        if key not in self._known:
            return None
        return from_row(self._store.rows([key])[key], self._settings)

    def keep(self, measured: Measured) -> None:
        """Keep a run that has finished; one that cannot be kept is told of, and lost in a kill."""
        key = self._key(measured.load, measured.seed)
        if key in self._known:
            return
        row = to_row(measured)
        with self._lock:
            try:
                if self._writer is None:
                    self._writer = self._store.writer(self._name)
                self._writer.append(key, STATUS, row)
            except InputError as error:
                logger.warning("a finished run is not kept: %s", error)
            self._known[key] = STATUS

    def close(self, done: bool) -> None:
        """Stop writing; forget all runs if the simulation is done."""
        if self._writer is not None:
            self._writer.__exit__(None, None, None)
            self._writer = None
        if done:
            (self._store.folder / f"{self._name}{SUFFIX}").unlink(missing_ok=True)

    def _key(self, load: float, seed: int) -> str:
        return hashlib.sha256(f"{self._fingerprint} {load!r} {seed}".encode()).hexdigest()
