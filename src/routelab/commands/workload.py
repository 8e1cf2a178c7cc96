"""``routelab workload``: show the messages of a workload, or write it as a trace."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import FLAG, FOLDER, add_format_option, integer
from routelab.commands._shared.output import print_rows

if TYPE_CHECKING:
    from routelab.api import Program

PAIR_COLUMNS = ("src", "dst", "messages", "bytes")
CALL_COLUMNS = ("name", "bytes", "ranks", "calls")


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "workload",
        help="show the messages of a workload, or write it as a trace",
        description="Show what the ranks of a workload send to each other: messages and bytes of "
        "every pair, including messages of a rank to itself; or their collective calls. Exit code "
        "1 if the workload does not support the number of ranks.",
        examples=(
            "routelab workload npb-cg~class=A --ranks 32",
            "routelab workload npb-ft~class=A --ranks 32 --collectives",
        ),
    )
    parser.add_argument("workload", metavar="WORKLOAD", help="workload: instance name")
    parser.add_argument(
        "--ranks",
        metavar="N",
        type=integer,
        help="number of ranks (default: as many as fit on the network)",
    )
    parser.add_argument(
        "--topology",
        metavar="TOPOLOGY",
        help="instance name, folder or npz file, for workloads that use positions on a network",
    )
    parser.add_argument(
        "--ranks-per-node",
        metavar="K",
        type=integer,
        default=1,
        help="ranks at each terminal of the network, in order (default: 1)",
    )
    parser.add_argument(
        "--collectives",
        **FLAG,
        help="show collective calls: bytes (as given to the call; for alltoallv all bytes of one "
        "call), ranks of each group, and calls of each rank",
    )
    add_format_option(parser)
    parser.add_argument(
        "-o",
        "--output",
        **FOLDER,
        help="folder for the whole program as a time-independent trace for SimGrid's smpirun "
        "-replay (default: print a table)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print or write the program of a workload; errors speak of options, not of parameters."""
    from routelab.api.errors import RoutelabError

    try:
        return _run(arguments)
    except RoutelabError as error:
        message = str(error)
        for name in ("ranks", "ranks_per_node", "topology"):
            message = message.replace(f"`{name}`", f"--{name.replace('_', '-')}")
        error.args = (message,)
        raise


def _run(arguments: argparse.Namespace) -> int:
    """Print or write the program of a workload; return the exit code."""
    from routelab.registry.instances import name_of
    from routelab.results.text_folder import check_text_folder, write_folder
    from routelab.simulation.flow.workload import workload_program
    from routelab.toolkit import write_trace

    if arguments.output is not None:
        check_text_folder(arguments.output)
    plugin, program = workload_program(
        arguments.workload,
        ranks=arguments.ranks,
        topology=arguments.topology,
        ranks_per_node=arguments.ranks_per_node,
    )
    if arguments.output is not None:
        write_folder(write_trace(program), arguments.output, "this trace")
        return 0
    # rows of `PAIR_COLUMNS` and of `CALL_COLUMNS`
    traffic = program.point_to_point()
    arrays = traffic.source, traffic.target, traffic.messages, traffic.bytes
    pairs = list(zip(*(array.tolist() for array in arrays), strict=True))
    calls = [(call.name, call.bytes, call.ranks, call.calls) for call in program.calls()]
    if arguments.format == "json":
        _print_json(name_of(plugin), program, pairs=pairs, calls=calls)
        return 0
    columns, rows = (CALL_COLUMNS, calls) if arguments.collectives else (PAIR_COLUMNS, pairs)
    print_rows(columns, [[str(value) for value in row] for row in rows], arguments.format)
    if arguments.format == "table":
        num_messages = sum(messages for _, _, messages, _ in pairs)
        num_bytes = sum(pair_bytes for _, _, _, pair_bytes in pairs)
        print(f"ranks: {program.ranks}; {program.convention}")
        print(f"point to point: {num_messages} messages, {num_bytes} bytes, {len(pairs)} pairs")
        kinds = sorted({name for name, *_ in calls})
        print(f"collectives: {', '.join(kinds) if kinds else 'none'}")
    return 0


def _print_json(
    name: str,
    program: Program,
    pairs: list[tuple[int, ...]],
    calls: list[tuple[str, int, int, int]],
) -> None:
    """Print a program as JSON, with its messages by pair and its collective calls by kind."""
    import json

    facts = {
        "workload": name,
        "ranks": program.ranks,
        "convention": program.convention,
        "operations": program.operations,
        "point_to_point": [dict(zip(PAIR_COLUMNS, row, strict=True)) for row in pairs],
        "collectives": [dict(zip(CALL_COLUMNS, row, strict=True)) for row in calls],
    }
    print(json.dumps(facts, indent=2, ensure_ascii=False))
