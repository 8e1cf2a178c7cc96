"""``routelab study``: check study files, preview runs, and help to write studies."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import add_format_option, named_path, study_file
from routelab.commands._shared.output import print_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from routelab.stages.plan.allocations import Allocation
    from routelab.stages.plan.preview import Preview

EXAMPLES = (
    "routelab study check config/studies/angara-table2.yaml",
    "routelab study plan config/studies/angara-table2.yaml",
    "routelab study schema -o study.schema.json",
)

COLUMNS = ("topology", "routing", "traffic", "settings", "state", "reason")


def add_parser(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "study", help="check study files, preview their runs", examples=EXAMPLES[:2]
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)

    check_parser = actions.add_parser(
        "check",
        examples=EXAMPLES[:1],
        help="report all mistakes in study files",
        description="Report all mistakes in study files, each with file, line and location. "
        "Exit code 2 if there are any. For studies that measure on a cluster, also print what the "
        "cluster lacks, as far as this machine can check it; that does not change the exit code.",
    )
    _add_files(check_parser)
    check_parser.set_defaults(run=run_check)

    plan = actions.add_parser(
        "plan",
        examples=EXAMPLES[1:2],
        help="show what a run would do",
        description="Show which jobs of studies would run: 'cached' jobs have a result, 'missing' "
        "jobs have none, results of 'stale' jobs are from other code or files, and 'failed' "
        "jobs are tried again. Also show the allocations that the jobs need, with node-hours.",
    )
    _add_files(plan)
    plan.add_argument(
        "--results",
        metavar="FOLDER",
        type=named_path,
        default=Path("results"),
        help="folder of the results (default: results)",
    )
    add_format_option(plan)
    plan.set_defaults(run=run_plan)

    schema = actions.add_parser(
        "schema",
        examples=EXAMPLES[2:],
        help="write the JSON schema with which editors complete study files",
        description="Print or write the JSON schema of study files, with the plugins that are "
        "installed.",
    )
    schema.add_argument("--built-in", action="store_true", help="offer routelab's own plugins only")
    schema.add_argument(
        "-o", "--output", metavar="FILE", type=named_path, help="output file (default: print)"
    )
    schema.set_defaults(run=run_schema)


def _add_files(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        metavar="STUDY",
        nargs="+",
        type=named_path,
        help="study: name in config/studies, or a file",
    )


def run_check(arguments: argparse.Namespace) -> int:
    """Check studies; print one line per mistake, in the form of compilers."""
    from routelab.config import ConfigError
    from routelab.stages.cluster.check import study_lines
    from routelab.stages.plan.preview import check_studies

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


def run_plan(arguments: argparse.Namespace) -> int:
    """Print which jobs would run."""
    from routelab.stages.plan.preview import preview

    plan = preview([study_file(path) for path in arguments.files], arguments.results)
    if arguments.format == "json":
        print(json.dumps(_as_json(plan), indent=2, ensure_ascii=False))
        return 0
    kinds = {job.kind for job in plan.jobs}
    empty = {"traffic"} if kinds.isdisjoint(("simulations", "flows")) else set()
    empty |= {"settings"} if empty and "comparisons" not in kinds else set()
    columns = [name for name in COLUMNS if name not in empty]
    rows = [tuple(getattr(job, name) for name in columns) for job in plan.jobs]
    print_rows(columns, rows, arguments.format, first=("routing", "state"))
    if arguments.format == "table":
        _print_totals(plan)
    return 0


def run_schema(arguments: argparse.Namespace) -> int:
    """Print or write the schema."""
    from routelab.stages.plan import preview as study

    text = study.study_schema_text(built_in=arguments.built_in)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        from routelab.artifacts.atomic import atomic_file

        with atomic_file(arguments.output) as new:
            new.write_text(text, encoding="utf-8")
    return 0


def _as_json(plan: Preview) -> dict[str, Any]:
    from dataclasses import asdict

    from routelab.stages.kinds import kinds

    return {
        "jobs": [asdict(job) for job in plan.jobs],
        "totals": {kind: plan.totals(kind) for kind, job in kinds().items() if not job.of_surveys},
        "allocations": [asdict(one) for one in plan.allocations],
        "batches": {"all": plan.batches, "to_run": plan.batches_to_run},
    }


def _print_allocations(allocations: Sequence[Allocation]) -> None:
    """Print what all allocations take together, and those that would be requested."""
    from routelab.stages.plan.allocations import expected_node_hours

    if not allocations:
        return
    missing = [one for one in allocations if one.state != "cached"]
    for title, some in (("allocations", allocations), ("allocations to run", missing)):
        if some is missing and len(missing) == len(allocations):
            continue
        runs = sum(one.runs for one in some)
        hours = sum(one.node_hours for one in some)
        sizes = ", ".join(f"{one.nodes} x {one.minutes} min" for one in some)
        limit = f", at most {hours:.1f} node-hours (nodes x time: {sizes})" if some else ""
        print(f"{title}: {len(some)} with {runs} runs{limit}")
    expected = expected_node_hours(missing)
    if expected is None:
        print("expected: unknown until every benchmark has run once")
    elif missing:
        print(f"expected: {expected:.2f} node-hours, by the wall times of the runs so far")


def _print_totals(plan: Preview) -> None:
    from routelab.stages.kinds import kinds

    print()
    for kind, job in kinds().items():
        totals = plan.totals(kind)
        if not any(totals.values()) and kind not in ("topologies", "routes"):
            continue
        _, plural = job.nouns
        counts = ", ".join(f"{number} {state}" for state, number in totals.items() if number)
        print(f"{plural}: {sum(totals.values())} ({counts})")
    _print_allocations(plan.allocations)
    print(f"batches: {plan.batches}, of which {plan.batches_to_run} would run")
