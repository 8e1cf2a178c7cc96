"""``routelab study``: check study files, and help to write studies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from routelab.commands._shared.arguments import FILE, FLAG, named_path, study_file

EXAMPLES = (
    "routelab study check config/studies/angara-table2.yaml",
    "routelab study schema -o study.schema.json",
)


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "study", help="check study files, and write their schema", examples=EXAMPLES[:2]
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    check = actions.add_parser(
        "check",
        examples=EXAMPLES[:1],
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
        examples=EXAMPLES[1:],
        help="write the JSON schema with which editors complete study files",
        description="Print or write the JSON schema of study files, with the plugins that are "
        "installed.",
    )
    schema.add_argument("--built-in", **FLAG, help="offer routelab's own plugins only")
    schema.add_argument("-o", "--output", **FILE, help="output file (default: print)")
    schema.set_defaults(run=run_schema)


def run_check(arguments: argparse.Namespace) -> int:
    """Check studies; print one line per mistake, in the form of compilers."""
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
    for path in files:
        lines += study_lines(path, Path("results"))
    print("\n".join(lines))
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print or write the schema."""
    from routelab.workflow.plan.preview import study_schema_text

    text = study_schema_text(built_in=arguments.built_in)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.results.atomic import atomic_file

        with atomic_file(arguments.output) as draft:
            draft.write_text(text, encoding="utf-8")
    return 0
