"""What the checker said of a hop-by-hop algorithm: found once, for all traffic and all loads.

A proof depends on network, routing and routers only, and may take longer than a simulation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from routelab.api import InputError
from routelab.artifacts.fingerprint import fingerprint
from routelab.artifacts.json_files import read_json, write_json
from routelab.registry.instances import Routing

FOLDER = ".proofs"
"""Where they are, in the folder of a network's simulations with a routing."""

FORMAT = "hop-proof/1"

logger = logging.getLogger(__name__)


class Proofs:
    """What was said of routings on one network.

    Parameters
    ----------
    folder : path
        Made when the first is kept.
    network : str
        Fingerprint of the network.
    """

    def __init__(self, folder: Path, network: str) -> None:
        self._folder, self._network = folder, network

    def find_or_make(
        self, routing: Routing, options: tuple[object, ...], make: Callable[[], dict[str, str]]
    ) -> dict[str, str]:
        """What was said before of the same code under the same options, else what is now.

        Two processes that ask at once both make it, and either's file is right. One that cannot
        be read is made again, and one that cannot be kept is told of.

        Parameters
        ----------
        routing : Routing
        options : tuple
            All else that it depends on.
        make : callable
        """
        path = self._folder / f"{self._key(routing, options)}.json"
        if path.exists():
            try:
                return dict(read_json(path, FORMAT)["facts"])
            except (InputError, KeyError) as error:
                logger.warning("a proof is made again: %s", error)
        facts = make()
        try:
            write_json(path, {"format": FORMAT, "routing": routing.name, "facts": facts})
        except InputError as error:
            logger.warning("a proof is not kept: %s", error)
        return facts

    def _key(self, routing: Routing, options: tuple[object, ...]) -> str:
        return fingerprint(
            "routelab.deadlock.hop_by_hop",
            f"{self._network} {routing.name} {options!r}",
            [type(plugin) for plugin in routing.plugins],
            [path for plugin in routing.plugins for path in plugin.input_files()],
        )
