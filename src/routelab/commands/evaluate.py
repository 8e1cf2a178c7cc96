"""``routelab evaluate``: route, prove and measure in memory, with one row per routing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from routelab.commands._shared.arguments import (
    FILE,
    FLAG,
    NETWORK,
    add_format_option,
    metric_names,
    number,
)
from routelab.commands._shared.output import cell_text, print_table


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "evaluate",
        help="compare routings of a network: loads, hops, deadlock proof",
        description="Route a network in several ways, prove the tables free of deadlock and "
        "measure them, all in memory. Exit code 1 if a routing does not apply or fails, 2 if its "
        "parameters are wrong for the network.",
        examples=(
            "routelab evaluate torus~dims=4x2x2x2 angara-sssp dor sssp@angara~turns=exact",
            "routelab evaluate torus~dims=4x2x2x2 angara-sssp --bound",
        ),
    )
    parser.add_argument("topology", **NETWORK)
    parser.add_argument("routings", metavar="ROUTING", nargs="+", help="routing: instance name")
    parser.add_argument(
        "--bound",
        **FLAG,
        help="add lower bounds of the maximum load: under the rules of each routing, and for "
        "all minimal routes",
    )
    parser.add_argument(
        "--bound-seconds",
        metavar="N",
        type=number,
        default=60.0,
        help="with --bound: approximate time limit of each bound, in seconds (default: 60)",
    )
    parser.add_argument(
        "--metrics", metavar="A+B", help="additional metrics, separated by '+' (default: none)"
    )
    add_format_option(parser)
    parser.add_argument(
        "--certificate", **FILE, help="file for the deadlock proof; with one routing only"
    )
    parser.add_argument(
        "--plot",
        **FILE,
        help="picture of the loads of all channels, the busiest first (.svg, .png, .pdf; .csv for "
        "the numbers)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Route, prove and measure in a child process; print a row for each routing."""
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.child import run_in_child
    from routelab.results.json_files import to_plain
    from routelab.routing.facts import BOUND_FIELDS, FIELDS
    from routelab.workflow.evaluate import WRONG_INPUT, evaluate_routings, metric_columns

    # 1. Columns that options add. All rows have `FIELDS`, such as the maximum load, anyway.
    metrics = [] if arguments.metrics is None else metric_names(arguments.metrics)
    added_columns = list(BOUND_FIELDS) if arguments.bound else []
    added_columns += [name for name in metric_columns(metrics) if name not in FIELDS]

    # 2. The work, in a child process, which can be interrupted.
    def work() -> list[dict[str, Any]]:
        """Evaluate all routings, with a progress display."""
        with show_progress(arguments):
            return evaluate_routings(
                topology=arguments.topology,
                routings=arguments.routings,
                certificate=arguments.certificate,
                bound_seconds=arguments.bound_seconds if arguments.bound else None,
                metrics=metrics,
                plot=arguments.plot,
            )

    rows = run_in_child(work)
    # 3. The answer.
    if arguments.format == "json":
        print(json.dumps([to_plain(row) for row in rows], indent=2, ensure_ascii=False))
    elif arguments.format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        columns = (*FIELDS, *added_columns)
        write_csv_rows(sys.stdout, [columns])
        write_csv_rows(sys.stdout, ([row.get(field) for field in columns] for row in rows))
    else:
        _print_tables(rows, added_columns)
    # parameters of a routing or metric are wrong for this network
    if any(row.get(WRONG_INPUT) for row in rows):
        return 2
    return 0 if all(row["status"] == "ok" for row in rows) else 1


def _print_tables(rows: list[dict[str, Any]], added_columns: Sequence[str]) -> None:
    """Print a table with a row for each routing, and sentences below it.

    These say if the network is not connected, why a routing failed, how many pairs have no route,
    and why it is not proven free of deadlock. `added_columns` are those of ``--bound`` and
    ``--metrics``.
    """
    from routelab.metrics.bounds.columns import COLUMNS as BOUNDS
    from routelab.routing.fact_columns import COLUMNS

    # 1. The table. A narrow terminal shows the columns of `important` first, as many as fit.
    columns = [column.name for column in COLUMNS if "evaluate" in column.shown]
    columns += added_columns
    # the bounds follow the maximum load, with which they are compared
    bounds = [name for name in ("gap", "lower_bound_rules") if name in added_columns]
    important = (
        *("status", "deadlock", "max_load", *bounds, "min_load", "mean_hops", "max_hops"),
        *added_columns,
    )
    print_table(
        columns,
        [[cell_text(row.get(field)) for field in columns] for row in rows],
        first=important,
        declared=(*COLUMNS, *BOUNDS),
    )
    # 2. What is true of the network. Rows of one network say the same, so it is printed once. A row
    #    has "parts", a text that lists the connected components, only if there are several.
    for components in dict.fromkeys(row["parts"] for row in rows if "parts" in row):
        print(f"the network is not connected: {components}")
    if rows and rows[0].get("left_out"):
        print(f"end ports that are no hosts and left out: {rows[0]['left_out']}")
    # 3. What is wrong with each routing.
    for row in rows:
        if row["status"] != "ok":
            # some messages begin with the name of the routing already
            names_routing = row["reason"].startswith(f"{row['routing']}: ")
            print(row["reason"] if names_routing else f"{row['routing']}: {row['reason']}")
            continue
        without_route = row["pairs"] - row["reachable_pairs"]
        if without_route:
            print(f"{row['routing']}: {without_route} of {row['pairs']} pairs have no route")
        if row["deadlock"] != "proven":
            print(f"{row['routing']}: {row['deadlock_reason']}")
            for line in row.get("deadlock_cycle", "").splitlines():
                print(f"    {line}")
