"""Selection of the networks of a study on which a routing runs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from math import prod

from routelab.api import InputError
from routelab.registry.suggest import did_you_mean
from routelab.study import Systems
from routelab.workflow.parts.instances import Instance


def select_networks(on: Systems, entries: Sequence[Mapping[str, Instance]]) -> list[str]:
    """Return the ids of the networks that `on` selects, in the study's order.

    Parameters
    ----------
    on : Systems
    entries : sequence of mapping
        The networks of each entry of the study's list, by id.

    Raises
    ------
    InputError
        If a size limit is set and the size of a network is unknown before it is built, or if no
        network is of a family.
    """
    families = {
        name for entry in entries for instance in entry.values() for name in _families(instance)
    }
    if unknown := [name for name in on.families if name not in families]:
        raise InputError(
            f"on.families: the study has no network of family {unknown[0]}"
            + (
                did_you_mean(unknown[0], sorted(families))
                or f"; there are {', '.join(sorted(families))}"
            )
        )
    ids: list[str] = []
    for entry in entries:
        fitting = [
            id_
            for id_, instance in entry.items()
            if not on.families or not _families(instance).isdisjoint(on.families)
            if on.max_nodes is None or _switches(id_, instance) <= on.max_nodes
        ]
        if on.sample is not None:
            drawn = sorted(fitting, key=lambda id_: _draw(on.seed, entry[id_].text))[: on.sample]
            fitting = [id_ for id_ in fitting if id_ in set(drawn)]
        ids += fitting
    return list(dict.fromkeys(ids))


def _families(instance: Instance) -> set[str]:
    return {plugin.name for plugin in instance.plugins}


def _switches(id_: str, instance: Instance) -> int:
    """Return the size of the whole grid without building it."""
    parameters = [plugin.parameters for plugin in instance.plugins]
    dims = next((sizes for p in parameters if (sizes := getattr(p, "dims", None))), None)
    if dims is None:
        raise InputError(
            f"on.max_nodes needs networks with the parameter 'dims', and {id_} has none; leave it "
            "out, or use a separate study for such networks"
        )
    return prod(dims)


def _draw(seed: int, text: str) -> bytes:
    """Return a sort key for a random order of networks that does not depend on other networks."""
    return hashlib.sha256(f"{seed} {text}".encode()).digest()
