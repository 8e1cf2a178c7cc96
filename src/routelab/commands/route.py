"""``routelab route``: route a network, prove and measure."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import (
    FILE,
    NETWORK,
    add_result_options,
    metric_names,
    positive,
)
from routelab.commands._shared.output import (
    cell_text,
    check_result_folder,
    print_facts,
    warn,
)

if TYPE_CHECKING:
    from routelab.api import RouteTable
    from routelab.results.outcome import Outcome
    from routelab.workflow.stages.routes import RouteJob


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "route",
        help="compute a routing table, prove and measure it",
        examples=(
            "routelab route torus~dims=4x2x2x2 angara-sssp",
            "routelab route torus~dims=4x2x2x2 angara-sssp -o routes",
        ),
        description="Route a network, prove the table free of deadlock and measure it. Writes a "
        "folder, or prints: facts and metrics as a table or JSON, the routes as CSV.",
    )
    parser.add_argument("topology", **NETWORK)
    parser.add_argument("routing", metavar="ROUTING", help="routing: instance name")
    add_result_options(parser)
    parser.add_argument(
        "--metrics",
        metavar="A+B",
        help="metrics, separated by '+' (default: all except those that run only if named)",
    )
    parser.add_argument("--certificate", **FILE, help="file for the deadlock proof")
    parser.add_argument(
        "--seconds",
        type=positive,
        metavar="N",
        help="with -o: limit of CPU time, in seconds (default: none)",
    )
    parser.add_argument(
        "--memory-gb",
        type=positive,
        metavar="N",
        help="with -o: limit of memory, in GB of 10^9 bytes (default: none)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Route a network; write the result into the folder of ``-o``, or print it."""
    if arguments.output is None:
        if arguments.seconds or arguments.memory_gb:
            from routelab.api import InputError

            raise InputError(
                "--seconds and --memory-gb need -o: they limit the job that writes a folder"
            )
        return _route_and_print(arguments)
    if arguments.certificate is not None:
        from routelab.api import InputError

        raise InputError(
            "-o writes the proof to certificate.json in the folder; leave out --certificate"
        )
    check_result_folder(arguments.output)
    return _write(arguments)


def _job(arguments: argparse.Namespace) -> RouteJob:
    """Return the job that writes the folder of ``-o``, as the workflow would run it."""
    from routelab.workflow.stages.routes import RouteJob

    return RouteJob(
        folder=str(arguments.output),
        topology=arguments.topology,
        text=arguments.routing,
        metrics=tuple(_metrics(arguments)),
    )


def _metrics(arguments: argparse.Namespace) -> list[str]:
    from routelab.registry.columns import default_metrics

    if arguments.metrics is None:
        return default_metrics()
    return metric_names(arguments.metrics)


def _write(arguments: argparse.Namespace) -> int:
    """Route a network in a child process, with limits, and write its folder; return the exit code.

    The folder has the outcome in any case, also if the child was stopped at a limit.
    """
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.child import run_in_child
    from routelab.jobs.folder_job import run_job, write_failure
    from routelab.jobs.plugin_errors import StoppedError
    from routelab.study import Limits
    from routelab.workflow.stages.routes import MISSING_METRICS

    limits = Limits(
        seconds=arguments.seconds or math.inf, memory_gb=arguments.memory_gb or math.inf
    )

    def work() -> Outcome:
        with show_progress(arguments):
            return run_job(_job(arguments))

    try:
        outcome = run_in_child(work, limits)
    except StoppedError as error:
        # the child was killed before it could write an outcome
        write_failure(_job(arguments), error.failure)
    else:
        if outcome.status == "ok":
            return _report_missing_metrics(arguments, outcome.facts.get(MISSING_METRICS))
        warn(outcome.routing, outcome)
    return 0 if arguments.keep_going else 1


def _route_and_print(arguments: argparse.Namespace) -> int:
    """Route a network, write the certificate of ``--certificate``, and print the facts or routes.

    Return the exit code.
    """
    from routelab._runtime.progress import report_phase
    from routelab.commands._shared.logging import show_progress
    from routelab.deadlock import write_certificate
    from routelab.registry.instances import load
    from routelab.registry.requirements import collect_errors
    from routelab.results.atomic import atomic_file, check_file_writable
    from routelab.results.json_files import to_plain
    from routelab.routing.fact_columns import COLUMNS
    from routelab.routing.route import route_network
    from routelab.routing.routing import Routing
    from routelab.routing.topology import load_network

    # 1. All mistakes are reported together, and before the routing, which may take long.
    if arguments.certificate is not None:
        check_file_writable(arguments.certificate)
    routing, (name, network), *metrics = collect_errors(
        lambda: Routing.from_name(arguments.routing),
        lambda: load_network(arguments.topology),
        *(partial(load, "metric", name) for name in _metrics(arguments)),
    )
    # 2. The table, its proof and its metrics.
    with show_progress(arguments):
        routed, facts, measured = route_network(network, routing, metrics)
        report_phase(routing.name, "ok", ended=True)
    if arguments.certificate is not None:
        with atomic_file(arguments.certificate) as draft:
            write_certificate(routed.verdict, routed.table, draft)
    # 3. The answer. Metrics that do not apply to the network have no row.
    values = {measurement.metric: measurement.value for measurement, _column in measured.rows}
    facts = to_plain({"topology": name, "routing": routing.name, **values, **facts})
    if arguments.format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        write_csv_rows(sys.stdout, _route_rows(routed.table))
    elif arguments.format == "json":
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        declared = (*COLUMNS, *(column for metric in metrics for column in metric.columns))
        print_facts({key: cell_text(value) for key, value in facts.items()}, declared)
    # 4. The exit code. Metrics without a value are an error only if they must have one (see
    #    `_report_missing_metrics`). That error is 2 if a metric refused its parameters, else 1.
    reason = measured.problem.reason if measured.problem else None
    code = _report_missing_metrics(arguments, reason)
    return 2 if code and measured.wrong_input else code


def _report_missing_metrics(arguments: argparse.Namespace, reason: str | None) -> int:
    """Print why metrics have no value; return the exit code. None: all have one."""
    if reason is None:
        return 0
    print(f"routelab: {reason}", file=sys.stderr)
    # Metrics must have a value if the user chose them. Without --metrics all are tried, and some of
    # them may fail.
    return 0 if arguments.metrics is None or arguments.keep_going else 1


def _route_rows(table: RouteTable) -> Iterator[tuple[Any, ...]]:
    """Yield the header, then a row for each path of each pair: its switches and virtual channels.

    If a switch has a route to each terminal instead of each switch, ``target`` is the switch of the
    terminal, and there is a column ``terminal`` with the terminal's name or number.
    """
    topology = table.topology
    names = topology.switch_names
    # the cell of the column "terminal", or no cell
    terminal = ("terminal",) if table.per_terminal else ()
    yield "source", "target", *terminal, "path", "weight", "hops", "switches", "virtual_channels"
    for path in range(table.num_paths):
        pair = int(table.path_pair[path])
        source, target = table.pair_switches(pair)
        if table.per_terminal:
            # the pairs of a source are consecutive, one for each terminal
            terminal = (topology.terminal_name(pair % table.num_destinations),)
        hops = slice(table.path_start[path], table.path_start[path + 1])
        switches = [source, *topology.channel_target[table.hop_channel[hops]]]
        yield (
            names[source],
            names[target],
            *terminal,
            # the paths of a pair are numbered from 0
            path - int(table.pair_start[pair]),
            float(table.path_weight[path]),
            int(table.path_length[path]),
            " ".join(names[switch] for switch in switches),
            " ".join(map(str, table.hop_vc[hops])),
        )
