"""``routelab prove``: prove that listed routes cannot deadlock."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FILE, integer, named_path

if TYPE_CHECKING:
    from routelab.api.verdicts import Status
    from routelab.deadlock import Switching
    from routelab.routing.prove import Proof

STATUS_SENTENCES: dict[Status, str] = {
    "proven": "these routes cannot deadlock",
    "cycle": "these routes may deadlock",
    "broken": "these routes do not work",
    "not enough input": "nothing is proven",
    "unproven": "nothing is proven",
}


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "prove",
        help="can these routes deadlock? Check a list of routes or of next hops",
        description="Prove that a list of routes, or a table of next hops, cannot deadlock, or "
        "show virtual channels that wait for each other. Exit code 0: proven; 3: not enough "
        "input, if no criterion is known or service levels decide; 4: unproven; 5: cycle; 6: "
        "broken (a route leads nowhere, or to another switch than its target).",
        examples=(
            "routelab prove routes.csv",
            "routelab prove torus~dims=4x4 routes.csv --certificate proof.json",
            "routelab prove network.graphml table.csv",
        ),
    )
    parser.add_argument(
        "network",
        metavar="NETWORK",
        nargs="?",
        help="network: instance name, folder, npz file, file of its switches and links (GraphML, "
        "JSON, CSV or edge list) or output of ibnetdiscover (default: the switches and links that "
        "the routes use)",
    )
    parser.add_argument(
        "routes",
        metavar="ROUTES",
        type=named_path,
        help="CSV file: 'source,target,switches', then a route a line, such as A,C,B,C; or "
        "'switch,target,switches', then the next hops of a switch for a target; also 'ports' or "
        "'links' instead of 'switches'; B@1 is a hop on virtual channel 1; or a folder that "
        "`routelab route` or `routelab export` wrote; or forwarding tables of InfiniBand",
    )
    parser.add_argument(
        "--waits",
        choices=("any", "one", "escape"),
        default="any",
        help="what a packet with several next hops waits for: any of them, the one that it has "
        "chosen, or the first (default: any)",
    )
    parser.add_argument(
        "--switching",
        choices=("cut-through", "wormhole"),
        default="cut-through",
        help="whether a buffer has room for a whole packet (default: cut-through)",
    )
    parser.add_argument(
        "--flow-control",
        choices=("plain", "bubble"),
        help="bubble: a packet enters a ring of the network only if it leaves room for another "
        "(default: what the network declares for each channel, else that of the file, else plain)",
    )
    parser.add_argument(
        "--vcs",
        metavar="N",
        type=integer,
        help="virtual channels of the network (default: as many as the routes use)",
    )
    parser.add_argument(
        "--pairs",
        **FILE,
        help="CSV file 'source,target' of the pairs that send packets (default: all); only their "
        "routes count, or the next hops that their packets come to, also for --repair",
    )
    parser.add_argument(
        "--certificate", **FILE, help="file for the proof, which instances/check.py verifies"
    )
    parser.add_argument(
        "--repair",
        metavar="N",
        type=integer,
        help="keep all routes, and put each on one of N virtual channels so that the proof holds; "
        "with -o",
    )
    parser.add_argument(
        "-o", "--output", **FILE, help="file for the repaired routes, a list like ROUTES"
    )
    parser.add_argument(
        "--plot", **FILE, help="picture of the cycle (.svg, .png, .pdf), if there is one"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help="output format (default: text)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Prove the routes in a child process, which can be interrupted, and print the answer."""
    from routelab.api.verdicts import EXIT_CODES
    from routelab.jobs.child import run_in_child

    status, text = run_in_child(lambda: _prove(arguments))
    sys.stdout.write(text)
    return EXIT_CODES[status]


def _prove(arguments: argparse.Namespace) -> tuple[Status, str]:
    """Prove the routes and write the files of the options; return the verdict and the answer."""
    from routelab.api import InputError
    from routelab.cluster.infiniband.prove import prove_files
    from routelab.commands._shared.errors import safe_text
    from routelab.commands._shared.logging import show_progress
    from routelab.report.plots import check_plot, plot_cycle
    from routelab.routing.prove import write_proof
    from routelab.routing.repair import remedies, repair_routes
    from routelab.toolkit.route_cells import MAX_VC

    # 1. Wrong options are refused before the work.
    if (arguments.repair is None) != (arguments.output is None):
        raise InputError("--repair N and -o FILE go together")
    if arguments.repair is not None and not 1 <= arguments.repair <= MAX_VC:
        raise InputError(f"--repair {arguments.repair}: give 1 to {MAX_VC} virtual channels")
    check_plot(arguments.plot)
    switching: Switching = (
        "wormhole" if arguments.switching == "wormhole" else "virtual-cut-through"
    )
    # 2. The proof. Only what can be proven has a certificate, and only a cycle a picture.
    with show_progress(arguments):
        proof = prove_files(
            routes=arguments.routes,
            network=arguments.network,
            vcs=arguments.vcs,
            waits=arguments.waits,
            switching=switching,
            flow_control=arguments.flow_control,
            pairs=arguments.pairs,
        )
    if arguments.certificate is not None and proof.status == "proven":
        write_proof(proof, arguments.certificate)
    if arguments.plot is not None and proof.cycle:
        plot_cycle(f"Cycle of the routes in {arguments.routes.name}", proof.cycle, arguments.plot)
    # 3. The answer, with the repaired routes, or with what would help.
    lines = [*_answer_lines(proof, wants_certificate=arguments.certificate is not None)]
    answer = _as_json(proof)
    if arguments.repair is None:
        answer["remedies"] = remedies(proof, arguments.waits, switching)
        lines += [f"What would help: {remedy}." for remedy in answer["remedies"]]
    else:
        answer["repair"] = repair_routes(
            proof,
            channels=arguments.repair,  # number of virtual channels
            path=arguments.output,
            waits=arguments.waits,
            switching=switching,
        )
        lines.append(answer["repair"])
    if arguments.format == "json":
        return proof.status, json.dumps(answer, indent=2, ensure_ascii=False) + "\n"
    return proof.status, "".join(f"{safe_text(line)}\n" for line in lines)


def _as_json(proof: Proof) -> dict[str, Any]:
    """Return a proof as JSON values."""
    step_keys = ("resource", "waits_for", "route")
    return {
        "read": proof.read,
        "verdict": proof.status,
        "reason": proof.reason,
        **proof.facts,
        "cycle": [dict(zip(step_keys, step, strict=True)) for step in proof.cycle],
    }


def _answer_lines(proof: Proof, *, wants_certificate: bool) -> Iterator[str]:
    """Yield the lines of a text answer: what was read, the verdict with its cycle, and facts."""
    yield _input_line(proof)
    for note in proof.read["notes"]:
        yield f"note: {note}"
    yield f"{proof.status}: {STATUS_SENTENCES[proof.status]}: {proof.reason}"
    for held_channel, wanted_channel, route in proof.cycle:
        yield f"    {held_channel} waits for {wanted_channel} ({route})"
    if proof.cycle:
        # the condition is necessary, not sufficient
        yield "No deadlock arises without such a cycle; not every cycle becomes a deadlock."
    if proof.status in ("proven", "cycle"):
        yield f"This holds if {'; '.join(proof.preconditions)}."
    if wants_certificate and proof.status != "proven":
        yield "There is no proof, so no certificate is written."
    facts = proof.facts
    for fault, num_pairs in facts.get("faulty_pairs", {}).items():
        yield f"pairs whose route has {fault}: {num_pairs}"
    # broken routes have neither lengths nor loads
    if "pairs" not in facts:
        return
    yield ""
    longest = facts["max_hops"]
    yield f"pairs without route  {facts['pairs_without_route']} of {facts['pairs']}"
    yield f"longest route        {'without end' if longest is None else f'{longest} hops'}"
    if "max_load" in facts:
        unit = "pairs on one channel"
        if facts["load_is_relative"]:
            unit += ", in units of the fastest channel"
        yield f"maximum load         {facts['max_load']:.10g} {unit}"
    # Routes on virtual channels 0 and 2 need switches with three (0, 1, 2), and use two of them.
    in_use, needed = len(facts["vc_numbers"]), facts["virtual_channels"]
    yield f"virtual channels     {needed}" + (f" ({in_use} in use)" if in_use < needed else "")


def _input_line(proof: Proof) -> str:
    """Describe the input: ``read: 12 routes for 12 of 12 pairs; 4 switches and 4 links``."""
    read = proof.read
    network = f"{read['switches']} switches and {read['links']} links"
    if read["network"] != "named":
        network += ", taken from the file"
    # a list has routes, a table of next hops has entries
    if "routes" in read:
        content = f"{read['routes']} {'route' if read['routes'] == 1 else 'routes'}"
    else:
        content = f"{read['entries']} {'entry' if read['entries'] == 1 else 'entries'}"
    if "pairs" in read:
        content += f" for {read['pairs_with_route']} of {read['pairs']} pairs"
    # If the network declares flow control: how many channels are "plain", "bubble" or "undeclared".
    counts = read.get("flow_control", {})
    channels = ", ".join(f"{count} {control}" for control, count in counts.items())
    return f"read: {content}; {network}" + (f"; channels: {channels}" if channels else "")
