"""Checks of what capabilities claim about route tables and networks."""

from __future__ import annotations

import numpy as np

from routelab.api import RouteTable
from routelab.deadlock import check_table
from routelab.registry.instances import Routing
from routelab.testing.bare_network import bare_lengths
from routelab.testing.checks import hops
from routelab.testing.checks.common import listed
from routelab.testing.inputs.networks import WHOLE_AND_FAILED
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, Trial


def multipath(trial: Trial) -> str:
    """One path a pair, unless it claims several."""
    table: RouteTable = trial.result
    if trial.subject.capabilities.multipath:
        raise Skipped("it may give several paths a pair")
    if hops.decides(trial):
        return hops.multipath(trial)
    most = int(np.diff(table.pair_start).max(initial=0))
    if most > 1:
        raise Failed(f"a pair has {most} paths, and it does not claim multipath")
    return ""


def destination_based(trial: Trial) -> str:
    """One next hop for each switch and destination, if it claims so."""
    if not trial.subject.capabilities.destination_based:
        raise Skipped("no claim to be destination-based")
    if hops.decides(trial):
        raise Failed("it claims to be destination-based, as only tables can be, and has none")
    table: RouteTable = trial.result
    if not table.destination_based:
        raise Failed(
            "it claims to be destination-based, and packets for one destination leave a switch "
            "over different channels"
        )
    return "to terminals" if table.per_terminal else "to switches"


def virtual_channels(trial: Trial) -> str:
    """No more virtual channels than it claims to need."""
    if hops.decides(trial):
        return hops.virtual_channels(trial)
    table: RouteTable = trial.result
    claim = trial.subject.capabilities.virtual_channels
    if claim is None:
        raise Skipped("no claim about virtual channels")
    if table.virtual_channels > claim:
        raise Failed(f"it uses {table.virtual_channels} virtual channels, it claims {claim}")
    return ""


def deadlock_free(trial: Trial) -> str:
    """The deadlock checker proves the table under the flow control that it claims to need.

    Of one that decides hop by hop it proves what the plugin names as its proof.
    """
    if hops.decides(trial):
        return hops.deadlock_free(trial)
    claim = trial.subject.capabilities.flow_control
    table: RouteTable = trial.result
    if claim is None:
        raise Skipped("no claim to be free of deadlock")
    if claim == "plain" and table.flow_control != "plain":
        raise Failed(f"it claims plain flow control and its table declares {table.flow_control}")
    require_proof(table)
    return f"{table.flow_control}, {table.virtual_channels} virtual channels"


def require_proof(table: RouteTable, what: str = "the table") -> None:
    """Raise Failed unless the deadlock checker proves a table as it declares itself."""
    verdict = check_table(table)
    if not verdict.proven:
        cycle = verdict.describe_cycle(table.topology)
        raise Failed(
            f"{what}, under {verdict.flow_control} flow control: {verdict.reason}: {listed(cycle)}"
        )


def families(subject: Subject) -> str:
    """Of each family that it claims to be made for, it supports a network."""
    claim = subject.capabilities.families
    if not claim:
        raise Skipped("it claims no families")
    supported: dict[str, bool] = {}
    for trial in subject.trials.values():
        try:
            family = trial.value.family
        except Skipped:
            continue
        supported[family] = supported.get(family, False) or trial.succeeded()
    tried = [family for family in claim if family in supported]
    missing = [family for family in tried if not supported[family]]
    if missing:
        raise Failed(f"it claims {listed(missing)} and supports no such network")
    if not tried:
        raise Skipped(f"there is no input of family {listed(list(claim))}; name a topology")
    return listed(tried)


def failures(subject: Subject) -> str:
    """Networks with failed parts are supported if it claims so, and else refused."""
    claim = subject.capabilities.tolerates_failures
    routing = subject.plugin if isinstance(subject.plugin, Routing) else None
    if routing and routing.parts:
        raise Skipped("it is built on other routings, which tolerate failures or do not")
    tried = []
    for whole, failed in WHOLE_AND_FAILED.items():
        if not subject.trials[whole].succeeded():
            continue
        network = subject.trials[failed].value
        if routing and routing.hops and (bare_lengths(network) < 0).any():
            # hop by hop there is nothing to do with a packet that has no way
            continue
        tried.append(failed)
        works = subject.trials[failed].succeeded()
        if claim and not works:
            raise Failed(f"it claims to tolerate failures; {whole} works and {failed} does not")
        if works and not claim:
            raise Failed(
                f"it claims not to tolerate failures and makes something of {failed}; refuse it in "
                "supports()"
            )
    if not tried:
        raise Skipped("it supports no network that there is with failed parts too")
    return f"on {listed(tried)}"
