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
MAX_ENDS = 2
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
    ends = 0
    while len(results) < len(suite.cases):
        pending = suite.cases[len(results) :]
        if ends == MAX_ENDS or (ends and results[-1].check == CONTRACT):
            why = (
                f"not tried: {results[-1].message}"
                if ends == 1
                else "not tried after these failures"
            )
            results += [CheckResult(*case, "skipped", why, 0.0) for case in pending]
            break
        begin = time.monotonic()
        finished, end = _run_child(suite, pending, budget_seconds)
        results += finished
        if len(finished) < len(pending):
            ends += 1
            case = pending[len(finished)]
            suite.avoid[case[1]] = f"{end} (check {case[0]!r})"
            spent = time.monotonic() - begin - sum(result.seconds for result in finished)
            results.append(CheckResult(*case, "failed", end, spent))
    return results


@cache
def _load_kernels() -> None:
    """Load the kit's kernels once, before the start of children, which inherit them."""
    graph = all_walks(NETWORKS["one-way-ring"]())
    table = table_on(graph.topology)
    # a ring without bubbles, so that the checker searches a cycle too
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
    """Run cases in a child; return the results of finished cases, and how the child ended."""
    with tempfile.TemporaryDirectory(prefix="routelab-check-") as folder:
        notes, log = Path(folder, "results"), Path(folder, "log")
        end = run_limited(
            lambda: _work(suite, cases, budget_seconds, notes, log),
            Limits(seconds=len(cases) * budget_seconds + _SLACK_SECONDS, memory_gb=MEMORY_GB),
        )
        lines = notes.read_text(encoding="utf-8").splitlines() if notes.exists() else []
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    results = [CheckResult(**json.loads(line)) for line in lines]
    return results, _end(end, text, budget_seconds)


def _work(
    suite: Suite,
    cases: Sequence[tuple[str, str]],
    budget_seconds: float,
    notes: Path,
    log: Path,
) -> int:
    """Run the cases in the child, each with its time limit, and note their results."""
    # the plugin's output is separate from the kit's output
    with log.open("wb", buffering=0) as sink, notes.open("w", encoding="utf-8") as stream:
        os.dup2(sink.fileno(), 1)
        os.dup2(sink.fileno(), 2)
        faulthandler.enable(sink)
        for case in cases:
            faulthandler.dump_traceback_later(budget_seconds, exit=True, file=sink)
            result = suite.run(case)
            faulthandler.cancel_dump_traceback_later()
            stream.write(json.dumps(dataclasses.asdict(result)) + "\n")
            stream.flush()
    return 0


def _end(end: int | Failure, notes_text: str, budget_seconds: float) -> str:
    frame = re.search(r'File "([^"]+)", line (\d+) in (\S+)', notes_text)
    place = f" ({frame[1]}, line {frame[2]}, in {frame[3]})" if frame else ""
    if "Timeout (" in notes_text:
        return f"it took longer than {budget_seconds:g} s{place}"
    if isinstance(end, Failure):
        return f"{end.reason}{place}"
    return f"the process ended with exit code {end}{place}"
