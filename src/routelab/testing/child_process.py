"""Run cases in a child process, which contains plugins that hang or crash.

One child runs many cases, because each process loads compiled kernels once. It records every result
immediately. A watchdog in the child ends the process when a case takes too long, and records the
current line. It is a thread of the interpreter, which needs no lock that a kernel may hold. The
parent's limits are a second safeguard. The current case fails, and a new child continues after it.
"""

from __future__ import annotations

import dataclasses
import faulthandler
import json
import os
import re
import tempfile
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from routelab.deadlock import check_table
from routelab.deadlock.kernels.state_search import compile_search
from routelab.jobs.child import run_limited
from routelab.jobs.limits import Failure
from routelab.kernels.legality import first_illegal_path
from routelab.study import Limits
from routelab.testing.inputs.graphs import all_walks
from routelab.testing.inputs.networks import NETWORKS
from routelab.testing.inputs.tables import table_on
from routelab.testing.results import CheckResult
from routelab.testing.suite import CONTRACT, Suite

MEMORY_GB = 4.0
MAX_FAILED_CHILDREN = 2
"""Number of cases that end their process, after which the others are skipped."""
_SLACK_SECONDS = 5.0


def run_suite(suite: Suite, budget_seconds: float) -> list[CheckResult]:
    """Run all cases of a suite.

    Parameters
    ----------
    suite : Suite
    budget_seconds : float
        Wall time of one case.
    """
    _load_kernels()
    if suite.kind == "routing":
        compile_search()
    results: list[CheckResult] = []
    num_failed_children = 0
    while len(results) < len(suite.cases):
        pending = suite.cases[len(results) :]
        # 1. Give up after some failed children. After each of them, the last result is that of the
        #    case that ended it. If this was the check of the contract, give up at once: that check
        #    imports the plugin, as does every other check, so the import ends every process.
        contract_failed = num_failed_children > 0 and results[-1].check == CONTRACT
        if contract_failed or num_failed_children == MAX_FAILED_CHILDREN:
            # After one failure, each skipped case repeats its message. After several, it refers to
            # the results before.
            reason = (
                f"not tried: {results[-1].message}"
                if num_failed_children == 1
                else "not tried after these failures"
            )
            results += [
                CheckResult(check, input_name, "skipped", reason, seconds=0.0)
                for check, input_name in pending
            ]
            break
        # 2. Run the cases that are left in a child, as far as it gets.
        begin = time.monotonic()
        finished, failure = _run_child(suite, pending, budget_seconds)
        results += finished
        if len(finished) < len(pending):
            num_failed_children += 1
            # 3. The first case without a result ended the process. The cases of the next child that
            #    have the same input are skipped, with this reason.
            check, input_name = pending[len(finished)]
            suite.avoid[input_name] = f"{failure} (check {check!r})"
            seconds = time.monotonic() - begin - sum(result.seconds for result in finished)
            results.append(CheckResult(check, input_name, "failed", failure, seconds))
    return results


@cache
def _load_kernels() -> None:
    """Load the kit's kernels once, before the start of children, which inherit them.

    A kernel is loaded when it is first called, so each is called here on a small input.
    """
    graph = all_walks(NETWORKS["one-way-ring"]())
    table = table_on(graph.topology)
    # Routes around a ring can deadlock under plain flow control, so the deadlock checker also calls
    # its kernels that search a cycle.
    check_table(table, "plain")
    first_illegal_path(
        graph.arrays,
        table.pair_start,
        table.path_start,
        table.hop_channel,
        graph.topology.endpoints,
        table.num_destinations,
    )


def _run_child(
    suite: Suite, cases: Sequence[tuple[str, str]], budget_seconds: float
) -> tuple[list[CheckResult], str]:
    """Run cases in a child process.

    Returns
    -------
    results : list of CheckResult
        Results of the cases that finished: all, or those before the one that ended the process.
    failure : str
        Why the process ended; of no use if all cases finished.
    """
    with tempfile.TemporaryDirectory(prefix="routelab-check-") as folder:
        results_file, log = Path(folder, "results"), Path(folder, "log")
        end = run_limited(
            lambda: _run_cases(suite, cases, budget_seconds, results_file, log),
            Limits(seconds=len(cases) * budget_seconds + _SLACK_SECONDS, memory_gb=MEMORY_GB),
        )
        lines = (
            results_file.read_text(encoding="utf-8").splitlines() if results_file.exists() else []
        )
        log_text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    results = [CheckResult(**json.loads(line)) for line in lines]
    return results, _failure_text(end, log_text, budget_seconds)


def _run_cases(
    suite: Suite,
    cases: Sequence[tuple[str, str]],
    budget_seconds: float,
    results_file: Path,
    log: Path,
) -> int:
    """Run the cases in the child, each with its time limit; write their results to a file.

    Each result is a line of JSON, written at once: a later case may end the process.
    """
    # What the plugin prints to standard output (1) and error (2) goes to the log.
    with log.open("wb", buffering=0) as sink, results_file.open("w", encoding="utf-8") as stream:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        # A crash, or a case that takes too long, writes the current line to the log.
        faulthandler.enable(sink)
        for case in cases:
            faulthandler.dump_traceback_later(budget_seconds, exit=True, file=sink)
            result = suite.run(case)
            faulthandler.cancel_dump_traceback_later()
            stream.write(json.dumps(dataclasses.asdict(result)) + "\n")
            stream.flush()
    return 0


def _failure_text(end: int | Failure, log_text: str, budget_seconds: float) -> str:
    """Return why a child ended, with the line of code that faulthandler wrote to its log."""
    frame = re.search(r'File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>\S+)', log_text)
    location = f" ({frame['file']}, line {frame['line']}, in {frame['function']})" if frame else ""
    # faulthandler begins with this word when the time of a case is over
    if "Timeout (" in log_text:
        return f"it took longer than {budget_seconds:g} s{location}"
    if isinstance(end, Failure):
        return f"{end.reason}{location}"
    return f"the process ended with exit code {end}{location}"
