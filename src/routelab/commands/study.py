"""``routelab study``: check study files, tell what a run would do, and help to write them."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.output import FORMATS, print_rows

if TYPE_CHECKING:
    from routelab.stages.plan.preview import Preview

COLUMNS = ("topology", "routing", "traffic", "settings", "state", "reason")


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser("study", help="check study files, tell what a run would do")
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    check_studies = actions.add_parser(
        "check",
        help="tell all mistakes in study files",
        description="Tell all mistakes in study files at once, each with file, line and place. "
        "Exit code 2 if there are any.",
    )
    _add_files(check_studies)
    check_studies.set_defaults(run=run_check)

    plan = actions.add_parser(
        "plan",
        help="tell what a run would do",
        description="Tell which jobs of some studies would run: 'cached' ones have a result, "
        "'missing' ones have none, 'stale' ones have that of other code or files, 'failed' ones "
        "are tried again.",
    )
    _add_files(plan)
    plan.add_argument(
        "--results", metavar="FOLDER", type=Path, default=Path("results"), help="default: results"
    )
    plan.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    plan.set_defaults(run=run_plan)

    schema = actions.add_parser(
        "schema",
        help="write what editors need to complete study files",
        description="Print or write the JSON schema of study files, with the plugins that are "
        "installed; or their reference page.",
    )
    schema.add_argument(
        "--format",
        choices=("json", "markdown"),
        default="json",
        help="JSON schema (default) or reference page",
    )
    schema.add_argument("--built-in", action="store_true", help="offer routelab's own plugins only")
    schema.add_argument("-o", "--output", metavar="FILE", type=Path, help="write it here")
    schema.set_defaults(run=run_schema)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="study file")


def run_check(arguments: argparse.Namespace) -> int:
    """Check studies; one line a mistake, as editors and compilers have it."""
    from routelab.config import ConfigError
    from routelab.stages.plan.preview import check_studies

    try:
        lines = check_studies(arguments.files)
    except ConfigError as error:
        print("\n".join(error.mistakes), file=sys.stderr)
        print(f"mistakes: {len(error.mistakes)}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def run_plan(arguments: argparse.Namespace) -> int:
    """Tell what would run."""
    from routelab.stages.plan.preview import preview

    found = preview(arguments.files, arguments.results)
    if arguments.format == "json":
        print(json.dumps(_as_json(found), indent=2, ensure_ascii=False))
        return 0
    kinds = {job.kind for job in found.jobs}
    empty = {"traffic"} if kinds.isdisjoint(("simulations", "flows")) else set()
    empty |= {"settings"} if empty and "comparisons" not in kinds else set()
    shown = [name for name in COLUMNS if name not in empty]
    rows = [tuple(getattr(job, name) for name in shown) for job in found.jobs]
    print_rows(shown, rows, arguments.format)
    if arguments.format == "table":
        _print_totals(found)
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print or write the schema or the reference page."""
    from routelab.stages.plan import preview as study

    if arguments.format == "json":
        text = study.study_schema_text(built_in=arguments.built_in)
    else:
        text = study.study_page_text()
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.artifacts.atomic import atomic_file

        with atomic_file(arguments.output) as new:
            new.write_text(text, encoding="utf-8")
    return 0


def _as_json(found: Preview) -> dict[str, Any]:
    from dataclasses import asdict

    from routelab.stages.kinds import kinds

    return {
        "jobs": [asdict(job) for job in found.jobs],
        "totals": {kind: found.totals(kind) for kind, job in kinds().items() if not job.of_surveys},
        "batches": {"all": found.batches, "to_run": found.batches_to_run},
    }


def _print_totals(found: Preview) -> None:
    from routelab.stages.kinds import kinds

    print()
    for kind, job in kinds().items():
        totals = found.totals(kind)
        if not any(totals.values()) and kind not in ("topologies", "routes"):
            continue
        _, plural = job.nouns
        told = ", ".join(f"{number} {state}" for state, number in totals.items() if number)
        print(f"{plural}: {sum(totals.values())} ({told})")
    print(f"batches: {found.batches}, of which {found.batches_to_run} would run")
