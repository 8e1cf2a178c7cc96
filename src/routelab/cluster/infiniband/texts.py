"""Results of `routelab infiniband check` in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from routelab.cluster.infiniband.check import SAMPLES, FabricCheck

MAX_SHOWN = 10
"""Largest number of faults of one kind that are printed; other formats have all."""

_LINE_WITHOUT_FAULT = {
    "loop": "Loops: none.",
    "entry": "Unreachable LIDs: none.",
}
_TITLE_OF_KIND = {
    "loop": "Loops",
    "entry": "Wrong or missing entries",
    "credit loop": "Credit loops",
    "lane": "Virtual lanes",
}


def check_lines(check: FabricCheck) -> Iterator[str]:
    """Yield the lines of a result for people."""
    yield from _network_lines(check)
    yield from _route_lines(check)
    yield from _credit_lines(check)
    yield from _load_lines(check)
    yield ""
    yield f"Result: {_verdict_text(check)}"


def _network_lines(check: FabricCheck) -> Iterator[str]:
    """Yield the lines about switches, hosts and cables."""
    facts = check.facts
    yield (
        f"{facts['switches']} switches, {facts['hosts']} hosts, {facts['cables']} cables between "
        "switches"
    )
    # `left_out` counts the ports of aggregation nodes and of routers together.
    for name, count, remedy in (
        ("aggregation nodes", facts["left_out"] - facts["routers"], ""),
        ("routers", facts["routers"], " (--routers takes them for hosts)"),
    ):
        if count:
            yield (
                f"End ports of {name}: {count}; their routes are checked, but they are no hosts"
                f"{remedy}."
            )


def _route_lines(check: FabricCheck) -> Iterator[str]:
    """Yield the lines about faults, and entries and routes that are no faults."""
    facts = check.facts
    for kind, title in _TITLE_OF_KIND.items():
        texts = [text for text_kind, text in check.faults if text_kind == kind]
        if texts:
            yield f"{title}: {len(texts)}"
            yield from (f"    {text}" for text in texts[:MAX_SHOWN])
            if len(texts) > MAX_SHOWN:
                yield f"    and {len(texts) - MAX_SHOWN} more (--format json lists all)"
        elif kind in _LINE_WITHOUT_FAULT:
            yield _LINE_WITHOUT_FAULT[kind]
    if facts["foreign_lids"]:
        yield f"LIDs in the tables that no port of the fabric has: {facts['foreign_lids']}"
    if facts["lost_pairs"]:
        yield f"Pairs of hosts without a route: {facts['lost_pairs']}"
    if facts["lost_switch_pairs"]:
        yield (
            f"Routes from switches without hosts to switches: {facts['lost_switch_pairs']} are "
            "missing; hosts do not need them."
        )


def _credit_lines(check: FabricCheck) -> Iterator[str]:
    """Yield the lines about credit loops and service levels."""
    facts = check.facts
    is_fault = any(kind == "credit loop" for kind, _ in check.faults)
    condition = f" if {facts['assumption']}" if facts["assumption"] else ""
    if not is_fault and not check.possible_loop:
        yield f"Credit loops{condition}: none."
    for kind, text in check.possible:
        yield f"{_TITLE_OF_KIND[kind]}{condition}:"
        yield f"    {text}"
    yield from check.remarks
    # The rest is on service levels: unknown, one for all packets, or from a file.
    if facts["credit_loops_same"] is None:
        yield "The service levels are unknown (no --sls): all traffic counts as SL 0."
        return
    if facts["service_levels"] != "file":  # one level, which replies have, too
        yield f"All unicast traffic is on SL {facts['service_levels']} (--sls)."
        return
    finding = "credit loops" if facts["credit_loops_same"] else "no credit loop"
    yield f"If replies use the SL of the request (RDMA-CM): {finding}."


def _load_lines(check: FabricCheck) -> Iterator[str]:
    """Yield the lines about busy cables, bisection and the worst cable to lose."""
    facts = check.facts
    if check.busiest:
        yield (
            f"Busiest cable: {facts['max_load_pairs']} pairs of hosts in one direction, load "
            f"{facts['max_load']:g} relative to the fastest cable; no tables of shortest "
            f"routes have a load below {facts['load_bound']:g}."
        )
    for cable in check.busiest:
        yield (
            f"    load {cable.load:g}  {cable.port} -> {cable.peer}  ({cable.pairs} pairs of hosts)"
        )
    if facts["effective_bisection"] is not None:
        half_width = facts["effective_bisection_half_width"]
        yield (
            f"Effective bisection bandwidth: {facts['effective_bisection']:.3f} ± "
            f"{half_width:.3f} of "
            f"that of the fastest cable ({SAMPLES} random bisections)."
        )
    if facts["worst_cable"]:
        yield (
            f"Worst cable to lose: {facts['worst_cable']}; {facts['worst_cable_pairs']} pairs of "
            "hosts would have no route until the tables change."
        )


def _verdict_text(check: FabricCheck) -> str:
    """Return the verdict on a fabric in words, with the traffic for which it holds."""
    levels = check.facts["service_levels"]  # "unknown", "file" or the SL of all packets
    if check.verdict == "broken":
        return "broken. Some packets loop, are dropped or find no way."
    if check.verdict == "cycle":
        return "cycle. Packets can wait for each other in a credit loop."
    if check.verdict == "not enough input":
        return (
            f"not enough input. {'. '.join(gap.missing for gap in check.gaps)}. If "
            f"{check.facts['assumption']}, the verdict is {check.facts['assumed_verdict']}; "
            f"otherwise give {' and '.join(gap.remedy for gap in check.gaps)}."
        )
    if levels == "unknown":
        traffic = "with all of it on SL 0, and therefore on any one VL"
    else:
        traffic = (
            "with these service levels" if levels == "file" else f"with all of it on SL {levels}"
        )
    if check.facts["unlisted_switch_levels"]:
        traffic += ", apart from packets from and to switches without one"
    return f"proven. Unicast traffic cannot deadlock, {traffic}."
