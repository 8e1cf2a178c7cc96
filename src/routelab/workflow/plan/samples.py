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
        The networks of each entry of the study's list, by id; each entry has its own sample.

    Raises
    ------
    InputError
        If ``max_nodes`` is set and the size of a network is unknown before it is built, or if a
        family has no network in the study.
    """
    instances = [instance for entry in entries for instance in entry.values()]
    families = {name for instance in instances for name in _families(instance)}
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
            if on.max_nodes is None or _grid_size(id_, instance) <= on.max_nodes
        ]
        if on.sample is not None:
            # In the order of a random key, the first networks are a random sample. They are used in
            # the study's order.
            shuffled = sorted(fitting, key=lambda id_: _random_key(on.seed, entry[id_].text))
            sample = set(shuffled[: on.sample])
            fitting = [id_ for id_ in fitting if id_ in sample]
        ids += fitting
    return list(dict.fromkeys(ids))


def _families(instance: Instance) -> set[str]:
    """Return the name of a network's plugin, such as ``torus``; nothing if it cannot be used."""
    return {plugin.name for plugin in instance.plugins}


def _grid_size(id_: str, instance: Instance) -> int:
    """Return the number of switches of the whole grid, from its ``dims``, without building it.

    Raises
    ------
    InputError
        If the network has no ``dims``.
    """
    parameters = [plugin.parameters for plugin in instance.plugins]
    dims = next((sizes for p in parameters if (sizes := getattr(p, "dims", None))), None)
    if dims is None:
        raise InputError(
            f"on.max_nodes needs networks with the parameter 'dims', and {id_} has none; leave it "
            "out, or use a separate study for such networks"
        )
    return prod(dims)


def _random_key(seed: int, text: str) -> bytes:
    """Return a sort key that puts networks in a random order.

    It depends on nothing but the seed and the network's name: two networks keep their order when
    others are added to the study, and a larger sample contains the smaller ones.
    """
    return hashlib.sha256(f"{seed} {text}".encode()).digest()
