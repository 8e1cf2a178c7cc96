"""Store verdicts of the deadlock checker on hop-by-hop algorithms, for all traffic and loads.

A proof depends only on network, routing and routers, and may take longer than a simulation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from routelab.api import InputError
from routelab.results.fingerprint import job_fingerprint
from routelab.results.json_files import read_json, write_json
from routelab.routing.routing import Routing

FOLDER = ".proofs"
"""Name of the store, in the folder of the simulations of a network with a routing."""

FORMAT = "hop-proof/2"

logger = logging.getLogger(__name__)


class Proofs:
    """Store of verdicts on routings on one network: a folder with a JSON file for each verdict.

    Parameters
    ----------
    folder : path
        Folder of the store; created when the first verdict is stored.
    network : str
        Fingerprint of the network.
    """

    def __init__(self, folder: Path, network: str) -> None:
        self._folder, self._network = folder, network

    def find_or_make(
        self, routing: Routing, options: tuple[object, ...], make: Callable[[], dict[str, str]]
    ) -> dict[str, str]:
        """Return the stored verdict of the same key (`_key`), or make it and store it.

        If two processes compute it at the same time, both files are correct. If the file cannot be
        read, the verdict is computed again. A file that cannot be written causes a warning.

        Parameters
        ----------
        routing : Routing
        options : tuple
            Everything that the verdict depends on besides network and routing.
        make : callable
            Computes the verdict, as texts by column.
        """
        path = self._folder / f"{self._key(routing, options)}.json"
        if path.exists():
            try:
                return dict(read_json(path, FORMAT)["facts"])
            except (InputError, KeyError) as error:
                logger.warning("computing a proof again: %s", error)
        verdict = make()
        try:
            write_json(path, {"format": FORMAT, "routing": routing.name, "facts": verdict})
        except InputError as error:
            logger.warning("cannot store a proof: %s", error)
        return verdict

    def _key(self, routing: Routing, options: tuple[object, ...]) -> str:
        """Return the fingerprint of network, routing, options, plugin code and input files."""
        return job_fingerprint(
            f"{self._network} {routing.name} {options!r}",
            [type(plugin) for plugin in routing.plugins],
            [path for plugin in routing.plugins for path in plugin.input_files()],
        )
