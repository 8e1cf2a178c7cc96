"""``routelab infiniband``: check forwarding tables."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FILE, FLAG, add_format_option, named_path, positive

if TYPE_CHECKING:
    from routelab.api.verdicts import Status
    from routelab.cluster.infiniband.check import FabricCheck


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "infiniband",
        help="check forwarding tables of a fabric",
        examples=("routelab infiniband check fabric.topo --lfts opensm-lfts.dump",),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    check = actions.add_parser(
        "check",
        examples=(
            "routelab infiniband check fabric.topo --lfts opensm-lfts.dump",
            "routelab infiniband check fabric.topo --lfts lfts.dump --sls sls.txt",
        ),
        help="check the safety and quality of forwarding tables",
        description="Check the unicast forwarding tables of a fabric without touching it: loops, "
        "unreachable LIDs, credit loops, the busiest cables next to a lower bound, effective "
        "bisection bandwidth, the worst cable to lose. Exit code 0: proven free of faults and "
        "credit loops; 3: not enough input, if the verdict depends on service levels, SL2VL tables "
        "or LIDs that the files lack; 5: cycle (a credit loop); 6: broken (any other fault).",
    )
    check.add_argument("fabric", metavar="FABRIC", type=named_path, help="output of ibnetdiscover")
    check.add_argument(
        "--lfts",
        **FILE,
        required=True,
        help="forwarding tables: opensm-lfts.dump, opensm.fdbs, ibdiagnet2.fdbs, or output of "
        "dump_lfts or ibroute",
    )
    check.add_argument(
        "--sls",
        metavar="FILE",
        type=_service_levels,
        help="service levels, as ibdmchk -c reads them, or a QoS policy of OpenSM; or a number: "
        "the SL of all unicast traffic, such as 0 on sites whose software requests no path records",
    )
    check.add_argument(
        "--sl2vl",
        **FILE,
        help="SL2VL tables, as ibdmchk -d reads them; without them, the verdict under VL = SL is "
        "given as an assumption",
    )
    check.add_argument(
        "--replies",
        choices=("own", "same"),
        default="own",
        help="SL of replies: that of the reply's path record, or that of the request (default: "
        "own); both are reported",
    )
    check.add_argument(
        "--routers",
        **FLAG,
        help="take ports of routers to other fabrics for hosts; without it, their routes are "
        "checked, but they are left out of loads and lost pairs",
    )
    check.add_argument(
        "--bound-seconds",
        metavar="N",
        type=positive,
        default=60.0,
        help="approximate time limit of the lower bound, in seconds (default: 60)",
    )
    add_format_option(check)
    check.set_defaults(run=run_check)


def _service_levels(text: str) -> Path | int:
    """Parse the value of ``--sls``: a number is the service level of all packets, else a file."""
    if not text.isdecimal():
        return named_path(text)
    from routelab.toolkit.infiniband.service_levels import NUM_LEVELS

    # `isdecimal` is also true for digits of other scripts, such as "٣"
    if not text.isascii() or int(text) >= NUM_LEVELS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a service level (0 to {NUM_LEVELS - 1})")
    return int(text)


def run_check(arguments: argparse.Namespace) -> int:
    """Check the tables in a child process, which can be interrupted, and print the result."""
    from routelab.api.verdicts import EXIT_CODES
    from routelab.jobs.child import run_in_child

    verdict, text = run_in_child(lambda: _check(arguments))
    sys.stdout.write(text)
    return EXIT_CODES[verdict]


def _check(arguments: argparse.Namespace) -> tuple[Status, str]:
    """Check the tables; return the verdict and the text to print."""
    from routelab.cluster.infiniband.check import check_fabric
    from routelab.commands._shared.logging import show_progress

    with show_progress(arguments):
        check = check_fabric(
            fabric_file=arguments.fabric,
            lft_file=arguments.lfts,
            levels=arguments.sls,
            lane_file=arguments.sl2vl,
            replies=arguments.replies,
            routers=arguments.routers,
            bound_seconds=arguments.bound_seconds,
        )
    return check.verdict, _format_check(check, arguments.format)


def _format_check(check: FabricCheck, output_format: str) -> str:
    """Return a check as a text for people, as JSON, or as CSV, which leaves the faults out."""
    if output_format == "json":
        return json.dumps(_as_json(check), indent=2, ensure_ascii=False) + "\n"
    if output_format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        text = io.StringIO()
        names, values = list(check.facts), list(check.facts.values())
        write_csv_rows(text, [names, values])
        return text.getvalue()
    from routelab.cluster.infiniband.texts import check_lines
    from routelab.commands._shared.errors import safe_text

    # names of nodes come from the fabric and may hold control characters
    return "".join(f"{safe_text(line)}\n" for line in check_lines(check))


def _faults(faults: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"kind": kind, "text": text} for kind, text in faults]


def _as_json(check: FabricCheck) -> dict[str, Any]:
    """Return a check as JSON values."""
    return {
        **check.facts,
        "faults": _faults(check.faults),
        # missing inputs, such as SL2VL tables, for which the check makes an assumption: VL = SL
        "gaps": [gap.missing for gap in check.gaps],
        # faults that exist if these assumptions hold
        "possible_faults": _faults(check.possible),
        "remarks": check.remarks,
        "busiest": [asdict(channel) for channel in check.busiest],
    }
