"""Repair of routes: virtual channels on which the same routes cannot deadlock."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import numpy as np

from routelab._runtime.progress import report_phase
from routelab.api import LayersPlugin, PluginError, RouteTable, UnsupportedError
from routelab.api.topology import Int16Array, Int64Array
from routelab.deadlock import Switching
from routelab.deadlock.next_hops import Waits, check_next_hops
from routelab.deadlock.verdict import used_numbers
from routelab.registry.instances import load
from routelab.results.atomic import atomic_file
from routelab.routing.prove import Proof, prove_list, prove_next_hops
from routelab.toolkit.next_hop_list import NextHops, next_hop_lines
from routelab.toolkit.route_cells import MAX_VC, read_rows
from routelab.toolkit.route_list import listed_lines, route_list_lines

MOST_TRIED = 200_000
"""Most routes, or next hops, for which virtual channels are sought without being asked for."""

WAITING: dict[Waits, str] = {
    "any": "any of their next hops",
    "escape": "the first of their next hops",
}
"""Rules that may prove what another rule does not, in words."""


def repair_routes(
    proof: Proof,
    channels: int,
    path: Path,
    *,
    waits: Waits = "any",
    switching: Switching = "virtual-cut-through",
) -> str:
    """Put routes on virtual channels so that they are proven, and write them in their old form.

    All routes stay. Each listed route gets one virtual channel for all of its hops; see the layers
    plugin ``cycle-breaking``. All next hops of one target get virtual channels of their own, or
    share those of targets before it.

    Parameters
    ----------
    proof : Proof
        Result of `prove_routes` or `prove_next_hops`: only for a ``cycle`` is there a repair.
    channels : int
        Virtual channels of the network.
    path : path
        The file to write.
    waits : {"any", "one", "escape"}
        What packets with several next hops wait for; see `prove_routes`.
    switching : {"virtual-cut-through", "wormhole"}

    Returns
    -------
    sentence : str
        How many virtual channels the written routes use; or that nothing was written, and why.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    if proof.status != "cycle" or proof.table is None:
        why = "they are proven" if proof.status == "proven" else f"the verdict is {proof.status}"
        return f"Nothing is repaired, as {why}."
    report_phase("prove", "repair")
    table = proof.table
    vc, obstacle = (
        _assign_to_next_hops(table, channels, waits, switching)
        if isinstance(table, NextHops)
        else _assign_to_routes(table, channels)
    )
    if vc is None:
        return f"Nothing is repaired: {obstacle}."
    with atomic_file(path) as new:
        with new.open("w", encoding="utf-8") as stream:
            stream.writelines(_lines(proof, vc))
        # read back what was written, and prove that
        rows = read_rows(new)
        if rows.content == "routes":
            new_proof = prove_list(rows, table.topology, switching=switching)
        else:
            new_proof = prove_next_hops(
                rows, table.topology, vcs=None, waits=waits, switching=switching
            )
        if new_proof.status != "proven":
            raise PluginError(f"the repaired routes are not proven: {new_proof.reason}")
    return (
        f"Repaired: {path} has the same routes on {len(used_numbers(vc))} virtual channels, and "
        "is proven."
    )


def remedies(
    proof: Proof, waits: Waits = "any", switching: Switching = "virtual-cut-through"
) -> list[str]:
    """Return what would prove the same routes: another waiting rule, or more virtual channels.

    Parameters
    ----------
    proof : Proof
    waits, switching
        Those that the proof was made with.

    Returns
    -------
    sentences : list of str
        Empty unless the routes are a cycle.
    """
    table = proof.table
    if proof.status != "cycle" or table is None:
        return []
    sentences = []
    if isinstance(table, NextHops):
        for rule, text in WAITING.items():
            if rule != waits and check_next_hops(table, rule, switching).status == "proven":
                sentences.append(f"packets wait for {text} (--waits {rule})")
    size = table.num_paths if isinstance(table, RouteTable) else len(table.vc)
    if size > MOST_TRIED:
        untried = f"virtual channels, which --repair N looks for; not tried on {size} routes"
        return [*sentences, untried]
    report_phase("prove", "remedies")
    # How many virtual channels suffice: try with as many as a file can name.
    vc, _ = (
        _assign_to_next_hops(table, MAX_VC, waits, switching)
        if isinstance(table, NextHops)
        else _assign_to_routes(table, MAX_VC)
    )
    if vc is not None:
        number = len(used_numbers(vc))
        sentences.append(f"{number} virtual channels keep all routes (--repair {number} -o FILE)")
    return sentences


def _lines(proof: Proof, vc: Int16Array) -> Iterator[str]:
    """Yield the lines of the routes with new virtual channels, in the form of their old file."""
    if isinstance(proof.table, NextHops):
        return next_hop_lines(replace(proof.table, vc=vc), proof.form)
    if proof.listed is not None:
        return listed_lines(proof.listed, vc)
    assert proof.table is not None
    return route_list_lines(proof.table.with_vcs(vc), proof.form)


def _number_layers(layer: Int64Array, used: tuple[int, ...]) -> Int16Array:
    """Return the virtual channel of each hop from its layer.

    Layers get the virtual channels in use first, then the lowest others: with 0 and 2 in use, the
    layers 0 to 4 get 0, 2, 1, 3 and 4.
    """
    others = (number for number in count() if number not in used)
    num_layers = int(layer.max(initial=0)) + 1
    virtual_channels = np.array([*used, *islice(others, num_layers)], np.int16)
    return virtual_channels[layer]


def _too_few_text(needed: int, channels: int) -> str:
    """Return why a repair failed that needs more virtual channels than there are."""
    return (
        f"{needed} virtual channels suffice, {channels} were not enough here; at least 2 are needed"
    )


def _cycle_breaking(channels: int) -> LayersPlugin:
    """Return the layers plugin ``cycle-breaking`` for some number of virtual channels."""
    plugin = load("layers", f"cycle-breaking~max_channels={channels}")
    assert isinstance(plugin, LayersPlugin)
    return plugin


def _assign_to_routes(table: RouteTable, channels: int) -> tuple[Int16Array | None, str]:
    """Return virtual channels of all hops on which the routes cannot deadlock, or None and why not.

    Each route gets one layer for all of its hops. There are at most `channels` layers.
    """
    unlimited = _cycle_breaking(MAX_VC)
    reason = unlimited.supports(table)
    if reason:
        return None, reason
    try:
        layer = _cycle_breaking(channels).assign(table).hop_vc
        return _number_layers(layer.astype(np.int64), used_numbers(table.hop_vc)), ""
    except UnsupportedError:
        # `channels` layers were not enough: count how many are
        needed = unlimited.assign(table).virtual_channels
        return None, _too_few_text(needed, channels)


def _assign_to_next_hops(
    table: NextHops, channels: int, waits: Waits, switching: Switching
) -> tuple[Int16Array | None, str]:
    """Return virtual channels of all next hops that cannot deadlock, or None and why not.

    Targets on different virtual channels share no buffer, so each layer is proven by itself. A
    target joins the first layer that stays proven with it. A layer has as many virtual channels as
    the table, in the same order.
    """
    # 1. The layer of each target: the first one that is proven with it, or a new one. A layer is
    #    the set of its targets; bool, shape (D,).
    num_targets = len(table.destination_names)
    layers: list[np.ndarray] = []
    target_layer = np.zeros(num_targets, np.int64)
    for target in range(num_targets):
        report_phase("prove", f"repair, {target + 1} of {num_targets} targets")
        only_target = np.zeros(num_targets, np.bool_)
        only_target[target] = True
        new_layer = np.zeros(num_targets, np.bool_)
        for number, layer in enumerate([*layers, new_layer]):
            with_target = layer | only_target
            entries = table.select_destinations(with_target)
            if check_next_hops(entries, waits, switching).status == "proven":
                layers[number : number + 1] = [with_target]  # replaces the layer, or appends one
                target_layer[target] = number
                break
        else:
            # not even a layer with this target alone is proven
            name = table.destination_names[target]
            return None, f"packets for {name} wait for each other also on channels of their own"
    used = used_numbers(table.vc)
    needed = len(layers) * len(used)
    if needed > channels:
        return None, _too_few_text(needed, channels)
    # 2. Number the virtual channels of all layers. With 0 and 2 in use, next hops on 0 and 2 get
    #    the numbers 0 and 1 in the first layer, 2 and 3 in the second.
    entry_of_hop = np.repeat(np.arange(len(table.entry_start) - 1), np.diff(table.entry_start))
    target_of_hop = entry_of_hop % num_targets  # entry v * D + d is for target d at switch v
    number_in_layer = np.searchsorted(used, table.vc)
    number_of_hop = number_in_layer + target_layer[target_of_hop] * len(used)
    return _number_layers(number_of_hop, used), ""
