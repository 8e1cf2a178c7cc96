"""``routelab plugins check``: check that plugins keep their contract and their claims hold."""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from routelab.commands._shared.arguments import add_format_option
from routelab.commands._shared.output import print_rows, print_table

if TYPE_CHECKING:
    from routelab.registry.catalogue import Catalogue
    from routelab.testing import CheckResult

COLUMNS = ("check", "inputs", "result", "message")
FIELDS = ("plugin", "check", "input", "status", "message", "seconds")


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
        type=_positive,
        default=30.0,
        help="time limit of one check on one input, in seconds (default: 30)",
    )
    add_format_option(check)
    check.set_defaults(run=run_check)


def _positive(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, got {text}")
    return seconds


def run_check(arguments: argparse.Namespace) -> int:
    """Check plugins; return 1 if a check failed or if no plugin is installed."""
    from routelab.api import KINDS
    from routelab.registry.catalogue import installed_catalogue
    from routelab.testing import run_checks

    catalogue = installed_catalogue()
    if arguments.plugin is not None:
        names = [_parse_name(catalogue, arguments.plugin)]
    else:
        names = [(kind, key) for kind in KINDS for key in catalogue.keys(kind)]
    # checks of all plugins take minutes, so a table appears plugin by plugin
    form = arguments.format
    results: dict[str, list[CheckResult]] = {}
    for kind, text in names:
        name = f"{kind}/{text}"
        results[name] = run_checks(
            kind, text, budget_seconds=arguments.seconds, topologies=arguments.topology
        )
        if kind == "metric":
            results[name] += _column_checks(text.partition("~")[0])
        if form == "table":
            _print_one(name, results[name], whole=bool(arguments.plugin))
    if form != "table":
        print_rows(FIELDS, [row for name in results for row in _cells(name, results[name])], form)
    failures = [name for name, checks in results.items() if _has_failure(checks)]
    if form == "table" and not arguments.plugin:
        print(f"plugins checked: {len(results)}, not ok: {len(failures)}")
    if not results:
        print("routelab: error: no plugins are installed, nothing was checked", file=sys.stderr)
    return 1 if failures or not results else 0


def _column_checks(key: str) -> list[CheckResult]:
    """Check that no earlier metric has a column of this one, among all that are installed."""
    from routelab.api import RoutelabError
    from routelab.jobs.child import run_in_child
    from routelab.registry.columns import metric_clashes
    from routelab.testing import CheckResult

    try:
        clash = run_in_child(metric_clashes).get(key)  # which imports all of them
    except RoutelabError:
        return []
    if clash is None:
        return [CheckResult("columns", "other metrics", "passed", "", 0.0)]
    message = f"{clash}; give it another name"
    return [CheckResult("columns", "other metrics", "failed", message, 0.0)]


def _parse_name(catalogue: Catalogue, text: str) -> tuple[str, str]:
    """Return kind and instance name of ``NAME`` or ``KIND/NAME``, without importing plugins."""
    from routelab.commands.plugins import locate

    key, wave, parameters = text.partition("~")
    if "/" in key:
        kind, _, key = key.partition("/")
    elif "@" in text:
        kind = "routing"
    else:
        kind, key = locate(catalogue, key)
    return kind, key + wave + parameters


def _has_failure(results: Sequence[CheckResult]) -> bool:
    return not results or any(result.status == "failed" for result in results)


def _print_one(name: str, results: Sequence[CheckResult], *, whole: bool) -> None:
    """Print a plugin's table, or one line and the failures."""
    rows = [row for check in _by_check(results) for row in _rows(check, whole=whole)]
    count = Counter(result.status for result in results)
    line = f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped"
    if whole:
        print_table(COLUMNS, rows)
        print(f"{name}: {line}")
        return
    print(f"{'failed' if _has_failure(results) else 'ok':<6}  {name:<30}  {line}", flush=True)
    for check, input_, _, message in rows:
        print(f"        {check} on {input_}: {message}", flush=True)


def _by_check(results: Sequence[CheckResult]) -> list[list[CheckResult]]:
    checks: dict[str, list[CheckResult]] = {}
    for result in results:
        checks.setdefault(result.check, []).append(result)
    return list(checks.values())


def _rows(results: Sequence[CheckResult], *, whole: bool) -> list[tuple[str, str, str, str]]:
    """Return a row for each different failure; in a whole table, also one for all other inputs."""
    check = results[0].check
    failed: dict[str, list[str]] = {}
    for result in results:
        if result.status == "failed":
            failed.setdefault(result.message, []).append(result.input)
    rows = [(check, _inputs(inputs), "failed", message) for message, inputs in failed.items()]
    passed = [result for result in results if result.status == "passed"]
    skipped = [result for result in results if result.status == "skipped"]
    if not whole or not (passed or skipped):
        return rows
    tried = f"{len(passed)}" if len(passed) == len(results) else f"{len(passed)} of {len(results)}"
    status = "passed" if passed else "skipped"
    return [*rows, (check, tried, status, _common(passed or skipped))]


def _inputs(names: Sequence[str]) -> str:
    """Return the first input with a failure, and how many more have the same."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _common(results: Sequence[CheckResult]) -> str:
    """Return the most frequent message and the number of other messages."""
    messages = Counter(result.message for result in results if result.message).most_common()
    if not messages:
        return ""
    return messages[0][0] + (f" (and {len(messages) - 1} more)" if messages[1:] else "")


def _cells(name: str, results: Sequence[CheckResult]) -> list[list[str]]:
    return [
        [name, result.check, result.input, result.status, result.message, f"{result.seconds:.3f}"]
        for result in results
    ]
