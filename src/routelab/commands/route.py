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
    """Route, then write or print."""
    if arguments.output is None:
        if arguments.seconds or arguments.memory_gb:
            from routelab.api import InputError

            raise InputError(
                "--seconds and --memory-gb need -o: they limit the job that writes a folder"
            )
        return _print(arguments)
    if arguments.certificate is not None:
        from routelab.api import InputError

        raise InputError(
            "-o writes the proof to certificate.json in the folder; leave out --certificate"
        )
    check_result_folder(arguments.output)
    return _write(arguments)


def _job(arguments: argparse.Namespace) -> RouteJob:
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
    """Route a network in a child process and write the result; return the exit code."""
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
        write_failure(_job(arguments), error.failure)
    else:
        if outcome.status == "ok":
            return _without_metrics(arguments, outcome.facts.get(MISSING_METRICS))
        warn(outcome.routing, outcome)
    return 0 if arguments.keep_going else 1


def _print(arguments: argparse.Namespace) -> int:
    """Route a network and print the facts; return the exit code."""
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

    # 1. All mistakes are reported before the routing, which may take long.
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
    # 3. The answer, without metrics that do not apply to the network.
    values = {result.metric: result.value for result, _ in measured.rows}
    facts = to_plain({"topology": name, "routing": routing.name, **values, **facts})
    if arguments.format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        write_csv_rows(sys.stdout, _routes(routed.table))
    elif arguments.format == "json":
        print(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        declared = (*COLUMNS, *(column for metric in metrics for column in metric.columns))
        print_facts({key: cell_text(value) for key, value in facts.items()}, declared)
    code = _without_metrics(arguments, measured.problem.reason if measured.problem else None)
    return 2 if code and measured.wrong_input else code


def _without_metrics(arguments: argparse.Namespace, reason: str | None) -> int:
    """Say which metrics are missing; return the exit code, 1 if they were named."""
    if reason is None:
        return 0
    print(f"routelab: {reason}", file=sys.stderr)
    return 0 if arguments.metrics is None or arguments.keep_going else 1


def _routes(table: RouteTable) -> Iterator[tuple[Any, ...]]:
    """Iterate over the routes, one line per path, as sequences of switches.

    For tables with routes per terminal, ``target`` is the switch of the terminal and ``terminal``
    its name or number.
    """
    topology = table.topology
    names = topology.switch_names
    terminal = ("terminal",) if table.per_terminal else ()
    yield "source", "target", *terminal, "path", "weight", "hops", "switches", "virtual_channels"
    for k in range(table.num_paths):
        pair = int(table.path_pair[k])
        source, target = table.pair_switches(pair)
        if table.per_terminal:
            terminal = (topology.terminal_name(pair % table.num_destinations),)
        hops = slice(table.path_start[k], table.path_start[k + 1])
        way = [source, *topology.channel_target[table.hop_channel[hops]]]
        yield (
            names[source],
            names[target],
            *terminal,
            k - int(table.pair_start[table.path_pair[k]]),
            float(table.path_weight[k]),
            int(table.path_length[k]),
            " ".join(names[switch] for switch in way),
            " ".join(map(str, table.hop_vc[hops])),
        )
