"""``routelab evaluate``: route, prove and measure in memory, with one row per routing."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from routelab.commands._shared.output import FORMATS, cell_text, print_table


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "evaluate",
        help="route a network in several ways, prove and measure",
        description="Route a network in several ways, prove the tables free of deadlock and "
        "measure them, all in memory. Exit code 1 if a routing does not apply or fails.",
        epilog="Example: routelab evaluate torus~dims=4x2x2x2 angara-sssp dor "
        "'sssp@angara~turns=exact'",
    )
    parser.add_argument("topology", metavar="TOPOLOGY", help="instance name, folder or npz file")
    parser.add_argument("routings", metavar="ROUTING", nargs="+", help="instance name")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument(
        "--certificate", metavar="FILE", type=Path, help="save the proof of the one routing"
    )
    parser.add_argument(
        "--bound",
        action="store_true",
        help="add lower bounds of the maximum load: under the rules of each routing, and for "
        "all minimal routes",
    )
    parser.add_argument(
        "--bound-seconds",
        metavar="N",
        type=float,
        default=60.0,
        help="with --bound: approximate time limit of each bound, in seconds (default: 60)",
    )
    parser.add_argument(
        "--metrics",
        metavar="A+B",
        default="",
        help="additional metrics, separated by '+' (default: none)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate routings and print the results."""
    from routelab.artifacts.json_files import to_plain
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.child import in_child
    from routelab.stages.evaluate import evaluate_routings, metric_columns
    from routelab.stages.facts import BOUND_FIELDS, FIELDS

    metrics = [name for name in arguments.metrics.split("+") if name]
    more = BOUND_FIELDS if arguments.bound else ()
    more = (*more, *(name for name in metric_columns(metrics) if name not in FIELDS))

    def work() -> list[dict[str, Any]]:
        with show_progress(arguments):
            return evaluate_routings(
                arguments.topology,
                arguments.routings,
                arguments.certificate,
                arguments.bound_seconds if arguments.bound else None,
                metrics,
            )

    rows = in_child(work)
    if arguments.format == "json":
        print(json.dumps([to_plain(row) for row in rows], indent=2, ensure_ascii=False))
    elif arguments.format == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        columns = (*FIELDS, *more)
        writer.writerow(columns)
        writer.writerows([row.get(field) for field in columns] for row in rows)
    else:
        _print_for_people(rows, more)
    return 0 if all(row["status"] == "ok" for row in rows) else 1


def _print_for_people(rows: list[dict[str, Any]], more: Sequence[str]) -> None:
    from routelab.stages.fact_columns import COLUMNS

    columns = [column.name for column in COLUMNS if "evaluate" in column.shown]
    columns += more
    print_table(columns, [[cell_text(row.get(field)) for field in columns] for row in rows])
    for parts in dict.fromkeys(row["parts"] for row in rows if "parts" in row):
        print(f"the network is not connected: {parts}")
    for row in rows:
        if row["status"] != "ok":
            # the message of a routing with one part contains its name
            named = row["reason"].startswith(f"{row['routing']}: ")
            print(row["reason"] if named else f"{row['routing']}: {row['reason']}")
            continue
        without_route = row["pairs"] - row["reachable_pairs"]
        if without_route:
            print(f"{row['routing']}: {without_route} of {row['pairs']} pairs have no route")
        if row["deadlock"] != "proven":
            print(f"{row['routing']}: {row['deadlock_reason']}")
            for line in row.get("deadlock_cycle", "").splitlines():
                print(f"    {line}")
