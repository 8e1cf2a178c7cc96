"""The checks by kind of plugin, in the order in which they run."""

from __future__ import annotations

from collections.abc import Mapping

from routelab.testing.checks import (
    claims,
    common,
    hops,
    layers,
    metric,
    parameters,
    routes,
    routing,
    rules,
    topology,
    traffic,
    workload,
)
from routelab.testing.checks.check import Check, each, once

BEFORE = (
    once("contract", common.contract),
    once("name-round-trip", parameters.name_round_trip),
    once("unknown-parameter", parameters.unknown_parameter),
)
"""Checks of all kinds that need no input."""

RESULT = (
    each("result", common.result),
    each("input-unchanged", common.input_unchanged),
    each("repeatable", common.repeatable),
)
"""Checks of results, for all kinds."""

AFTER = (
    once("applies", common.applies),
    once("fresh-process", common.fresh_process),
    once("declared-values", parameters.declared_values),
)
"""Checks of all kinds that choose inputs themselves."""

CHECKS: Mapping[str, tuple[Check, ...]] = {
    "topology": (
        *BEFORE,
        each("result", common.result),
        each("repeatable", common.repeatable),
        each("connected", topology.connected),
        each("links", topology.links),
        each("rings", topology.rings),
        each("directions", topology.directions),
        *AFTER[1:],
    ),
    "rules": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("begins", rules.begins),
        each("reachable", rules.reachable),
        each("minimal", rules.minimal),
        each("deadlock-free", rules.deadlock_free),
        *AFTER,
        once("families", claims.families),
        once("failures", claims.failures),
    ),
    "selection": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("reachable", routes.every_legal_pair),
        each("legal", routes.legal),
        each("minimal", routes.as_short_as_legal),
        each("multipath", claims.multipath),
        each("destination-based", claims.destination_based),
        each("virtual-channels", claims.virtual_channels),
        each("deadlock-free", claims.deadlock_free),
        *AFTER,
    ),
    "layers": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("same-routes", layers.same_routes),
        each("multipath", layers.multipath),
        each("virtual-channels", claims.virtual_channels),
        each("deadlock-free", claims.deadlock_free),
        *AFTER,
    ),
    "routing": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("bounds", hops.bounds),
        each("candidates", hops.candidates),
        each("progress", hops.progress),
        each("random-words", hops.random_words),
        each("reachable", routing.reachable),
        each("minimal", routing.minimal),
        each("multipath", claims.multipath),
        each("destination-based", claims.destination_based),
        each("virtual-channels", claims.virtual_channels),
        each("deadlock-free", claims.deadlock_free),
        *AFTER,
        once("families", claims.families),
        once("failures", claims.failures),
    ),
    "metric": (
        *BEFORE,
        *RESULT,
        each("numbers", metric.numbers),
        each("names", metric.names),
        *AFTER,
    ),
    "traffic": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("convention", traffic.convention),
        each("senders", traffic.senders),
        each("seeds", traffic.seeds),
        each("messages", traffic.messages),
        *AFTER,
    ),
    "workload": (
        *BEFORE,
        each("supports", common.supports),
        *RESULT,
        each("convention", workload.convention),
        each("timed", workload.timed),
        each("calls", workload.calls),
        each("ends", workload.ends),
        *AFTER,
    ),
    "engine": BEFORE,
    "export": BEFORE,
    "benchmark": BEFORE,
}
"""Checks by kind."""
