"""``routelab bound``: prove bounds of tables under rules, and of traffic under any routing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from routelab.commands._shared.arguments import FLAG, NETWORK, add_output_options, integer, positive
from routelab.commands._shared.output import (
    cell_text,
    check_result_folder,
    print_facts,
    print_table,
    warn,
)

ListWeights: TypeAlias = Callable[[], list[Sequence[object]]]
"""Function that returns the weights that prove a bound, as rows; the first row is the header.

A function, because only CSV needs the rows, of which there may be many.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bound",
        help="prove bounds of channel loads, or of any routing's throughput",
        description="Prove a lower bound of the maximum channel load. It holds for all tables of "
        "shortest legal routes, or of all minimal routes if no rules are named, or of all routes "
        "with --any-length. With --traffic, "
        "prove upper bounds of the load that any routing can sustain, and of the mean accepted "
        "load at given offered loads. Writes a folder with the weights that prove the bounds, or "
        "prints: the bounds as a table or JSON, the weights as CSV.",
        examples=(
            "routelab bound torus~dims=4x2x2x2",
            "routelab bound torus~dims=4x2x2x2 angara~turns=exact",
            "routelab bound slim-fly~q=5 --traffic uniform --load 0.8,1",
        ),
    )
    parser.add_argument("topology", **NETWORK)
    parser.add_argument(
        "rules",
        metavar="RULES",
        nargs="?",
        help="rules of legal routes: instance name (default: all minimal routes)",
    )
    parser.add_argument(
        "--any-length",
        **FLAG,
        help="bound the tables of all routes of the network, whatever their length",
    )
    parser.add_argument(
        "--traffic",
        metavar="TRAFFIC",
        help="traffic: instance name; bound the throughput of any routing instead",
    )
    parser.add_argument(
        "--load",
        metavar="A,B",
        help="with --traffic: offered loads whose accepted load is bounded, in flits per cycle and "
        "terminal of rate 1, separated by ',' or '+' (default: 1)",
    )
    parser.add_argument(
        "--seed",
        type=integer,
        metavar="N",
        help="with --traffic: seed of random patterns (default: 0)",
    )
    add_output_options(parser)
    parser.add_argument(
        "--seconds",
        type=positive,
        default=60.0,
        metavar="N",
        help="approximate time limit of the search, in seconds (default: 60)",
    )
    parser.add_argument(
        "--exact",
        **FLAG,
        help="search for the least maximum load of tables with one path per pair, if there are few "
        "routes; the solver's result is not a proof",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compute the bound in a child process, which can be interrupted; write or print it."""
    from routelab.jobs.child import run_in_child

    _check_options(arguments)
    if arguments.output is not None:
        check_result_folder(arguments.output)
        return run_in_child(lambda: _write(arguments))
    return run_in_child(lambda: _print(arguments))


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse options of channel loads for bounds of traffic, and the reverse.

    Raises
    ------
    InputError
        Lists all mistakes.
    """
    from routelab.api.errors import InputError

    has_rules, has_traffic = arguments.rules is not None, arguments.traffic is not None
    # an invalid load is reported alone
    if has_traffic:
        _offered_loads(arguments)
    needs_traffic = "needs --traffic; add it, or leave this option out"
    clash = "cannot be combined with {}; leave one of them out"
    # whether each message applies
    problems = {
        f"--load {needs_traffic}": arguments.load is not None and not has_traffic,
        f"--seed {needs_traffic}": arguments.seed is not None and not has_traffic,
        f"rules '{arguments.rules}': bounds of traffic hold for any routing; leave out the rules "
        "or --traffic": has_rules and has_traffic,
        f"--exact {clash.format('--traffic')}": arguments.exact and has_traffic,
        f"--any-length {clash.format('--traffic')}": arguments.any_length and has_traffic,
        # with traffic, the rules are refused above
        f"rules '{arguments.rules}': --any-length bounds all routes, legal or not; leave out the "
        "rules or the option": arguments.any_length and has_rules and not has_traffic,
        f"--exact {clash.format('--any-length')}": arguments.any_length and arguments.exact,
    }
    if any(problems.values()):
        raise InputError("\n".join(text for text, applies in problems.items() if applies))


def _offered_loads(arguments: argparse.Namespace) -> tuple[float, ...]:
    """Return the loads of ``--load`` in ascending order, each once: "1,0.8" gives (0.8, 1.0).

    Raises
    ------
    InputError
        If one of them is not a positive number.
    """
    from routelab.api.errors import InputError

    if arguments.load is None:
        return (1.0,)
    try:
        loads = {positive(text) for text in arguments.load.replace("+", ",").split(",")}
    except argparse.ArgumentTypeError as error:
        raise InputError(f"--load {arguments.load}: {error}") from None
    return tuple(sorted(loads))


def _write(arguments: argparse.Namespace) -> int:
    """Write the bounds into the folder of ``-o``, as a job of the workflow does.

    Return the exit code: 1 if there is no result.
    """
    from routelab.commands._shared.logging import show_progress
    from routelab.jobs.folder_job import run_job
    from routelab.routing.bound import ANY, BARE
    from routelab.workflow.stages.bounds import BoundJob
    from routelab.workflow.stages.throughput import ThroughputJob

    job: BoundJob | ThroughputJob
    if arguments.traffic is not None:
        job = ThroughputJob(
            folder=str(arguments.output),
            topology=arguments.topology,
            text=arguments.traffic,
            loads=_offered_loads(arguments),
            seeds=(_seed(arguments),),
            seconds=arguments.seconds,
        )
    else:
        # without rules, a name stands for all routes of any length, or for all minimal routes
        job = BoundJob(
            folder=str(arguments.output),
            topology=arguments.topology,
            text=arguments.rules or (ANY if arguments.any_length else BARE),
            seconds=arguments.seconds,
            exact=arguments.exact,
        )
    with show_progress(arguments):
        outcome = run_job(job)
    if outcome.status != "ok":
        warn(outcome.routing, outcome)
    return 0 if outcome.status == "ok" else 1


def _seed(arguments: argparse.Namespace) -> int:
    return 0 if arguments.seed is None else int(arguments.seed)


def _print(arguments: argparse.Namespace) -> int:
    """Print the bounds; return the exit code."""
    from routelab.metrics.bounds.columns import COLUMNS
    from routelab.metrics.bounds.throughput.columns import COLUMNS as THROUGHPUT

    compute_bound = _bound_throughput if arguments.traffic is not None else _bound_load
    facts, list_weights = compute_bound(arguments)
    if arguments.format == "csv":
        from routelab.toolkit.csv_cells import write_csv_rows

        write_csv_rows(sys.stdout, list_weights())
        return 0
    if arguments.format == "json":
        print(json.dumps(facts, indent=2, ensure_ascii=False))
        return 0
    # With --traffic, one fact is itself a table: the bound of the accepted load at each offered
    # load. It is printed below the others.
    accepted_rows = facts.pop("accepted", None)
    declared = COLUMNS if accepted_rows is None else THROUGHPUT
    print_facts({key: cell_text(value) for key, value in facts.items()}, declared)
    if accepted_rows is not None:
        print()
        columns = ("load", "accepted_bound", "accepted_attained")
        cells = [[cell_text(row[column]) for column in columns] for row in accepted_rows]
        print_table(columns, cells, declared=declared)
    return 0


def _bound_load(arguments: argparse.Namespace) -> tuple[dict[str, Any], ListWeights]:
    """Bound the maximum channel load; return facts, and a function that lists the weights."""
    from routelab.commands._shared.logging import show_progress
    from routelab.metrics.bounds import bound_numbers
    from routelab.registry.instances import load
    from routelab.registry.requirements import collect_errors
    from routelab.routing.bound import WEIGHT_COLUMNS, bound_load, weight_rows
    from routelab.routing.topology import load_network

    rules, (name, network) = collect_errors(
        lambda: load("rules", arguments.rules) if arguments.rules else None,
        lambda: load_network(arguments.topology),
    )
    with show_progress(arguments):
        bound = bound_load(
            network,
            rules,
            seconds=arguments.seconds,
            exact=arguments.exact,
            any_length=arguments.any_length,
        )
    facts = {"topology": name, "rules": arguments.rules or "", **bound_numbers(bound)}
    # only CSV needs the weights, of which there may be many
    return facts, lambda: [WEIGHT_COLUMNS, *weight_rows(bound, network)]


def _bound_throughput(arguments: argparse.Namespace) -> tuple[dict[str, Any], ListWeights]:
    """Bound the throughput of any routing; return facts, and a function that lists the weights."""
    from routelab.commands._shared.logging import show_progress
    from routelab.metrics.bounds.throughput.facts import throughput_numbers
    from routelab.registry.instances import load, name_of
    from routelab.registry.requirements import collect_errors
    from routelab.routing.bound import THROUGHPUT_COLUMNS, bound_traffic, throughput_rows
    from routelab.routing.topology import load_network

    traffic, (name, network) = collect_errors(
        lambda: load("traffic", arguments.traffic), lambda: load_network(arguments.topology)
    )
    seed = _seed(arguments)
    with show_progress(arguments):
        bound = bound_traffic(
            network, traffic, _offered_loads(arguments), seed=seed, seconds=arguments.seconds
        )
    facts = {"topology": name, "traffic": name_of(traffic), **throughput_numbers(bound)}
    # only CSV needs the weights, of which there may be many
    return facts, lambda: [THROUGHPUT_COLUMNS, *throughput_rows(bound, network, seed)]
