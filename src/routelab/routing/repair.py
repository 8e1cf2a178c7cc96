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
    """Put routes on virtual channels so that they are proven, and write them as they came.

    All routes stay. Each listed route gets one virtual channel for all of its hops; see the layers
    plugin ``cycle-breaking``. All next hops of one target get virtual channels of their own, or
    share those of targets before it.

    Parameters
    ----------
    proof : Proof
        Of routes or next hops that are a cycle.
    channels : int
        Virtual channels of the network.
    path : path
    waits, switching
        As `prove_routes` for next hops.

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
        _repair_next_hops(table, channels, waits, switching)
        if isinstance(table, NextHops)
        else _repair_list(table, channels)
    )
    if vc is None:
        return f"Nothing is repaired: {obstacle}."
    with atomic_file(path) as new:
        with new.open("w", encoding="utf-8") as stream:
            stream.writelines(_lines(proof, vc))
        # what is written is proven, not what was to be written
        rows = read_rows(new)
        if rows.content == "routes":
            again = prove_list(rows, table.topology, switching=switching)
        else:
            again = prove_next_hops(rows, table.topology, None, waits, switching)
        if again.status != "proven":
            raise PluginError(f"the repaired routes are not proven: {again.reason}")
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
        As `prove_routes`, with which the proof was made.

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
    vc, _ = (
        _repair_next_hops(table, MAX_VC, waits, switching)
        if isinstance(table, NextHops)
        else _repair_list(table, MAX_VC)
    )
    if vc is not None:
        number = len(used_numbers(vc))
        sentences.append(f"{number} virtual channels keep all routes (--repair {number} -o FILE)")
    return sentences


def _lines(proof: Proof, vc: Int16Array) -> Iterator[str]:
    """Yield the lines of the routes on other virtual channels, in the form in which they came."""
    if isinstance(proof.table, NextHops):
        return next_hop_lines(replace(proof.table, vc=vc), proof.form)
    if proof.listed is not None:
        return listed_lines(proof.listed, vc)
    assert proof.table is not None
    return route_list_lines(proof.table.with_vcs(vc), proof.form)


def _with_numbers(layer: Int64Array, used: tuple[int, ...]) -> Int16Array:
    """Return the virtual channel of each layer: those in use first, then the lowest others."""
    others = (number for number in count() if number not in used)
    numbers = np.array([*used, *islice(others, int(layer.max(initial=0)) + 1)], np.int16)
    return numbers[layer]


def _too_few(needed: int, channels: int) -> str:
    return (
        f"{needed} virtual channels suffice, {channels} were not enough here; at least 2 are needed"
    )


def _cycle_breaking(channels: int) -> LayersPlugin:
    plugin = load("layers", f"cycle-breaking~max_channels={channels}")
    assert isinstance(plugin, LayersPlugin)
    return plugin


def _repair_list(table: RouteTable, channels: int) -> tuple[Int16Array | None, str]:
    """Return the virtual channels of all hops, or None and why there are none."""
    unlimited = _cycle_breaking(MAX_VC)
    reason = unlimited.supports(table)
    if reason:
        return None, reason
    try:
        layer = _cycle_breaking(channels).assign(table).hop_vc
        return _with_numbers(layer.astype(np.int64), used_numbers(table.hop_vc)), ""
    except UnsupportedError:
        return None, _too_few(unlimited.assign(table).virtual_channels, channels)


def _repair_next_hops(
    table: NextHops, channels: int, waits: Waits, switching: Switching
) -> tuple[Int16Array | None, str]:
    """Return the virtual channels of all next hops, or None and why there are none.

    Targets on different virtual channels share no buffer, so each layer is proven by itself. A
    target joins the first layer that stays proven with it.
    """
    num_targets = len(table.destination_names)
    layers: list[np.ndarray] = []
    layer_of = np.zeros(num_targets, np.int64)
    for target in range(num_targets):
        report_phase("prove", f"repair, {target + 1} of {num_targets} targets")
        own = np.zeros(num_targets, np.bool_)
        own[target] = True
        for number, layer in enumerate([*layers, np.zeros_like(own)]):
            part = table.select_destinations(layer | own)
            if check_next_hops(part, waits, switching).status == "proven":
                layers[number : number + 1] = [layer | own]
                layer_of[target] = number
                break
        else:
            name = table.destination_names[target]
            return None, f"packets for {name} wait for each other also on channels of their own"
    used = used_numbers(table.vc)
    needed = len(layers) * len(used)
    if needed > channels:
        return None, _too_few(needed, channels)
    entry = np.repeat(np.arange(len(table.entry_start) - 1), np.diff(table.entry_start))
    layer = np.searchsorted(used, table.vc) + layer_of[entry % num_targets] * len(used)
    return _with_numbers(layer, used), ""
