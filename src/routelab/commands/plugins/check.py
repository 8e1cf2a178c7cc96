"""``routelab plugins check``: check that plugins keep their contract and their claims hold."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import add_format_option, positive
from routelab.commands._shared.output import print_rows, print_table

if TYPE_CHECKING:
    from routelab.registry.catalogue import Catalogue
    from routelab.testing import CheckResult

COLUMNS = ("check", "inputs", "result", "message")
FIELDS = ("plugin", "check", "input", "status", "message", "seconds")
"""Columns of CSV and JSON, which have a row for each input, unlike tables."""


def add_check(actions: Any) -> None:
    """Add the action."""
    check = actions.add_parser(
        "check",
        help="run plugins on small inputs and check their contract and claims",
        description="Run plugins on small inputs and check their contract and their claims. A "
        "plugin that hangs or crashes fails its check.",
        examples=("routelab plugins check", "routelab plugins check rules/angara~turns=exact"),
    )
    check.add_argument(
        "plugin",
        metavar="NAME",
        nargs="?",
        help="NAME or KIND/NAME, with optional parameters (default: all installed plugins)",
    )
    check.add_argument(
        "--topology",
        metavar="NAME",
        action="append",
        default=[],
        help="also check on this network (may be repeated)",
    )
    check.add_argument(
        "--seconds",
        metavar="N",
        type=positive,
        default=30.0,
        help="time limit of one check on one input, in seconds (default: 30)",
    )
    add_format_option(check)
    check.set_defaults(run=run_check)


def run_check(arguments: argparse.Namespace) -> int:
    """Check plugins; return 1 if a check failed or if no plugin is installed."""
    from routelab.api import KINDS
    from routelab.registry.catalogue import installed_catalogue
    from routelab.testing import run_checks

    catalogue = installed_catalogue()
    if arguments.plugin is not None:
        plugins = [_parse_name(catalogue, arguments.plugin)]
    else:
        plugins = [(kind, key) for kind in KINDS for key in catalogue.keys(kind)]
    is_table = arguments.format == "table"
    results: dict[str, list[CheckResult]] = {}
    for kind, instance_name in plugins:
        name = f"{kind}/{instance_name}"
        results[name] = run_checks(
            kind, instance_name, budget_seconds=arguments.seconds, topologies=arguments.topology
        )
        # two metrics may declare the same column, which no check of one of them can see
        if kind == "metric":
            key, _, _ = instance_name.partition("~")
            results[name] += _column_checks(key)
        # checks of all plugins take minutes, so a table appears plugin by plugin
        if is_table:
            _print_plugin(name, results[name], in_full=bool(arguments.plugin))
    if not is_table:
        rows = [row for name in results for row in _input_rows(name, results[name])]
        print_rows(FIELDS, rows, arguments.format)
    failures = [name for name, checks in results.items() if _has_failure(checks)]
    if is_table and not arguments.plugin:
        print(f"plugins checked: {len(results)}, not ok: {len(failures)}")
    if not results:
        print("routelab: error: no plugins are installed, nothing was checked", file=sys.stderr)
    return 1 if failures or not results else 0


def _column_checks(key: str) -> list[CheckResult]:
    """Check that no column of this metric is one of a metric before it, or of all route tables.

    Metrics of routelab come before the others, both in alphabetical order. Only they may have
    columns of all route tables. Return a list with the result of the check, or an empty list if the
    check has no result.
    """
    from routelab.api import RoutelabError
    from routelab.jobs.child import run_in_child
    from routelab.registry.columns import metric_clashes
    from routelab.testing import CheckResult

    try:
        # in a child process, because this imports all metrics
        clash = run_in_child(metric_clashes).get(key)
    except RoutelabError:
        # the child has ended without a result, so nothing is known about the columns
        return []
    return [
        CheckResult(
            check="columns",
            input="other metrics",
            status="passed" if clash is None else "failed",
            message="" if clash is None else f"{clash}; give it another name",
            seconds=0.0,
        )
    ]


def _parse_name(catalogue: Catalogue, text: str) -> tuple[str, str]:
    """Return kind and instance name of ``NAME`` or ``KIND/NAME``, without importing plugins."""
    from routelab.commands.plugins import locate

    # "rules/angara~turns=exact" has the key "rules/angara"; a parameter may contain "/", too
    key, tilde, parameters = text.partition("~")
    if "/" in key:
        kind, _, key = key.partition("/")
    # a composition such as "sssp@angara" is no plugin of the catalogue
    elif "@" in text:
        kind = "routing"
    else:
        kind, key = locate(catalogue, key)
    return kind, key + tilde + parameters


def _has_failure(results: Sequence[CheckResult]) -> bool:
    """Return whether a check of a plugin failed; no check at all is a failure, too."""
    return not results or any(result.status == "failed" for result in results)


def _print_plugin(name: str, results: Sequence[CheckResult], *, in_full: bool) -> None:
    """Print the results of a plugin: in full as a table, else as one line and its failures."""
    results_by_check: dict[str, list[CheckResult]] = {}
    for result in results:
        results_by_check.setdefault(result.check, []).append(result)
    rows = [
        row
        for check, check_results in results_by_check.items()
        for row in _check_rows(check, check_results, in_full=in_full)
    ]
    count = Counter(result.status for result in results)
    counts = f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"
    if in_full:
        print_table(COLUMNS, rows)
        print(f"{name}: {counts}")
        return
    print(f"{'failed' if _has_failure(results) else 'ok':<6}  {name:<30}  {counts}", flush=True)
    for check, inputs, _, message in rows:
        print(f"        {check} on {inputs}: {message}", flush=True)


def _check_rows(
    check: str, results: Sequence[CheckResult], *, in_full: bool
) -> list[tuple[str, str, str, str]]:
    """Return the rows (`COLUMNS`) for the results of one check on all its inputs.

    Inputs that fail with the same message share a row. In full, one more row has how many inputs
    passed; if none did, its status and message are those of the skipped ones.
    """
    inputs_by_failure: dict[str, list[str]] = {}
    for result in results:
        if result.status == "failed":
            inputs_by_failure.setdefault(result.message, []).append(result.input)
    rows = [
        (check, _inputs_text(inputs), "failed", message)
        for message, inputs in inputs_by_failure.items()
    ]
    passed = [result for result in results if result.status == "passed"]
    skipped = [result for result in results if result.status == "skipped"]
    if not in_full or not (passed or skipped):
        return rows
    # of 5 inputs: "5" if all passed, else "3 of 5"
    inputs = f"{len(passed)}" if len(passed) == len(results) else f"{len(passed)} of {len(results)}"
    status = "passed" if passed else "skipped"
    return [*rows, (check, inputs, status, _messages_text(passed or skipped))]


def _inputs_text(inputs: Sequence[str]) -> str:
    """Return inputs as text: ``ring-4``, or ``ring-4 and 2 more``."""
    return inputs[0] if len(inputs) == 1 else f"{inputs[0]} and {len(inputs) - 1} more"


def _messages_text(results: Sequence[CheckResult]) -> str:
    """Return the most frequent message of some results, and how many other ones there are."""
    counts = Counter(result.message for result in results if result.message)
    if not counts:
        return ""
    ((message, _),) = counts.most_common(1)
    return message + (f" (and {len(counts) - 1} more)" if len(counts) > 1 else "")


def _input_rows(name: str, results: Sequence[CheckResult]) -> list[list[str]]:
    """Return the rows (`FIELDS`) of a plugin, one for each check on each input."""
    return [
        [name, result.check, result.input, result.status, result.message, f"{result.seconds:.3f}"]
        for result in results
    ]
