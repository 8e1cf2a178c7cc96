"""``routelab study``: check study files, and help to write studies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import FILE, FLAG, named_path, study_file


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "study",
        help="check study files, and write their schema",
        examples=(
            "routelab study check config/studies/angara-table2.yaml",
            "routelab study schema -o study.schema.json",
        ),
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    check = actions.add_parser(
        "check",
        examples=("routelab study check config/studies/angara-table2.yaml",),
        help="report all mistakes in study files",
        description="Report all mistakes in study files, each with file, line and location. "
        "Exit code 2 if there are any. For studies that measure on a cluster, also print what the "
        "cluster lacks, as far as this machine can check it; that does not change the exit code.",
    )
    check.add_argument(
        "files",
        metavar="STUDY",
        nargs="+",
        type=named_path,
        help="study: name in config/studies, or a file",
    )
    check.set_defaults(run=run_check)

    schema = actions.add_parser(
        "schema",
        examples=("routelab study schema -o study.schema.json",),
        help="write the JSON schema with which editors complete study files",
        description="Print or write the JSON schema of study files, with the plugins that are "
        "installed.",
    )
    schema.add_argument("--built-in", **FLAG, help="offer routelab's own plugins only")
    schema.add_argument("-o", "--output", **FILE, help="output file (default: print)")
    schema.set_defaults(run=run_schema)


def run_check(arguments: argparse.Namespace) -> int:
    """Print each mistake in the studies as ``file:line: ...``, as compilers do, and return 2.

    Without mistakes, print the sizes of the studies and what their clusters lack.
    """
    from routelab.study import ConfigError
    from routelab.workflow.cluster_check import study_lines
    from routelab.workflow.plan.preview import check_studies

    files = [study_file(path) for path in arguments.files]
    try:
        lines = check_studies(files)
    except ConfigError as error:
        print("\n".join(error.mistakes), file=sys.stderr)
        print(f"mistakes: {len(error.mistakes)}", file=sys.stderr)
        return 2
    for file in files:
        lines += study_lines(file, Path("results"))
    print("\n".join(lines))
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the JSON schema of study files, or write it to the file of ``-o``."""
    from routelab.workflow.plan.preview import study_schema_text

    text = study_schema_text(built_in=arguments.built_in)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.results.atomic import atomic_file

        with atomic_file(arguments.output) as draft:
            draft.write_text(text, encoding="utf-8")
    return 0
