"""Checks of the capabilities of a plugin against route tables and networks."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.deadlock import check_table
from routelab.registry.instances import HopRouting
from routelab.testing.bare_network import bare_lengths
from routelab.testing.checks import hops
from routelab.testing.checks.common import list_some
from routelab.testing.inputs.networks import FAILED_VARIANTS
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, Trial


def multipath(trial: Trial) -> str:
    """Check that each pair has one path, unless the plugin claims several."""
    table: RouteTable = trial.result  # a program, if the routing decides hop by hop
    if trial.subject.capabilities.multipath:
        raise Skipped("it may use several paths per pair")
    if hops.decides_hop_by_hop(trial):
        return hops.multipath(trial)
    num_paths = int(np.diff(table.pair_start).max(initial=0))
    if num_paths > 1:
        raise Failed(f"a pair has {num_paths} paths, and it does not claim multipath")
    return ""


def destination_based(trial: Trial) -> str:
    """Check, if claimed, that there is one next hop for each switch and destination."""
    if not trial.subject.capabilities.destination_based:
        raise Skipped("no claim to be destination-based")
    if hops.decides_hop_by_hop(trial):
        raise Failed(
            "it claims to be destination-based, which only tables can be, but has no table"
        )
    table: RouteTable = trial.result
    if not table.destination_based:
        raise Failed(
            "it claims to be destination-based, and packets for one destination leave a switch "
            "over different channels"
        )
    return "to terminals" if table.per_terminal else "to switches"


def virtual_channels(trial: Trial) -> str:
    """Check that the table uses no more virtual channels than the plugin claims."""
    if hops.decides_hop_by_hop(trial):
        return hops.virtual_channels(trial)
    table: RouteTable = trial.result
    claim = trial.subject.capabilities.virtual_channels
    if claim is None:
        raise Skipped("no claim about virtual channels")
    if table.virtual_channels > claim:
        raise Failed(f"it uses {table.virtual_channels} virtual channels, it claims {claim}")
    return ""


def deadlock_free(trial: Trial) -> str:
    """Check that the deadlock checker proves the table under the claimed flow control.

    For a routing that decides hop by hop, check the proof that the plugin names.
    """
    if hops.decides_hop_by_hop(trial):
        return hops.deadlock_free(trial)
    claim = trial.subject.capabilities.flow_control
    table: RouteTable = trial.result
    if claim is None:
        raise Skipped("no claim to be free of deadlock")
    if claim == "plain" and table.flow_control != "plain":
        raise Failed(f"it claims plain flow control and its table declares {table.flow_control}")
    require_proof(table)
    return f"{table.flow_control}, {table.virtual_channels} virtual channels"


def require_proof(table: RouteTable, noun: str = "the table") -> None:
    """Raise Failed unless the deadlock checker proves a table under its flow control.

    `noun` is for messages: "the table", or what its routes are, such as "all legal routes".
    """
    verdict = check_table(table)
    if not verdict.proven:
        cycle = verdict.describe_cycle(table.topology)
        raise Failed(
            f"{noun}, under {verdict.flow_control} flow control: {verdict.reason}: "
            f"{list_some(cycle)}"
        )


def families(subject: Subject) -> str:
    """Check that the plugin supports a network of each claimed family."""
    claim = subject.capabilities.families
    if not claim:
        raise Skipped("it claims no families")
    # 1. For the family of each input: whether one of its networks is supported.
    support: dict[str, bool] = {}
    for trial in subject.trials.values():
        try:
            family = trial.value.family
        except Skipped:  # the input cannot be made
            continue
        support[family] = support.get(family, False) or trial.has_result()
    # 2. Claimed families without an input cannot be checked.
    checked = [family for family in claim if family in support]
    unsupported = [family for family in checked if not support[family]]
    if unsupported:
        raise Failed(f"it claims {list_some(unsupported)} and supports no such network")
    if not checked:
        raise Skipped(f"there is no input of family {list_some(list(claim))}; name a topology")
    return list_some(checked)


def failures(subject: Subject) -> str:
    """Check that networks with failed parts are supported if claimed, and otherwise rejected."""
    claim = subject.capabilities.tolerates_failures
    routing = subject.plugin if isinstance(subject.plugin, HopRouting) else None
    if routing and routing.parts:
        raise Skipped("this depends on the routings that it is built on")
    networks = []
    for whole, damaged in FAILED_VARIANTS.items():
        if not subject.trials[whole].has_result():
            continue
        network = subject.trials[damaged].value
        # On this network some pairs may be cut off. A table leaves out their routes. A hop-by-hop
        # routing cannot: a packet of such a pair has no candidate, so the network is left out.
        if routing and (bare_lengths(network) < 0).any():
            continue
        networks.append(damaged)
        works = subject.trials[damaged].has_result()
        if claim and not works:
            raise Failed(f"it claims to tolerate failures; {whole} works and {damaged} does not")
        if works and not claim:
            raise Failed(
                f"it claims not to tolerate failures, but routes {damaged}; refuse it in supports()"
            )
    if not networks:
        raise Skipped("it supports no test network that also exists with failures")
    return f"on {list_some(networks)}"
