"""Outputs of benchmarks: figures of the good ones, the failure of each that lies."""

from __future__ import annotations

from collections import Counter

import pytest
from bench_corpus import GOOD, LIES, PLUGINS

from routelab.api import BenchmarkError
from routelab.cluster.bench.run_check import judge_output


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_a_good_output_gives_its_figures(case):
    result = case.benchmark().parse(case.output(), case.task())
    assert result.figures == case.figures()
    assert case.benchmark().parse(case.output(), None).figures == case.figures()
    assert result.version == case.expected["version"]
    assert dict(result.facts) == case.expected["facts"]
    assert list(result.foreign) == case.expected.get("foreign", [])


@pytest.mark.parametrize("case", LIES, ids=str)
def test_a_lie_is_named(case):
    # the plugin by itself takes it for no success, too
    with pytest.raises(BenchmarkError) as error:
        case.benchmark().parse(case.output(), case.task())
    assert "\n" not in str(error.value)
    verdict = judge_output(case.benchmark(), case.output(), case.task())
    assert verdict.result is None
    assert (verdict.failure or "killed", case.expected["message"] in verdict.reason) == (
        case.expected["failure"],
        True,
    ), verdict.reason
    assert "\n" not in verdict.reason


@pytest.mark.parametrize("case", GOOD, ids=str)
@pytest.mark.parametrize(("code", "failure"), [(1, "error-text"), (137, "killed"), (-9, "killed")])
def test_no_figures_count_if_the_launcher_failed(case, code, failure):
    output = type(case.output())(case.text, "", code)
    with pytest.raises(BenchmarkError, match=f"^exit code {code}$"):
        case.benchmark().parse(output, case.task())
    verdict = judge_output(case.benchmark(), output, case.task())
    assert (verdict.result, verdict.failure) == (None, failure)


@pytest.mark.parametrize("case", GOOD, ids=str)
def test_another_number_of_processes_is_noticed_where_the_output_has_it(case):
    task, benchmark = case.task(), case.benchmark()
    if task is None or benchmark.name.startswith("osu-"):
        return
    with pytest.raises(BenchmarkError) as error:
        benchmark.parse(case.output(), type(task)(task.ranks * 2, 1, task.executable, task.folder))
    assert error.value.failure == "wrong-processes"


def test_there_are_enough_of_both_kinds():
    good, lies = (Counter(case.plugin for case in cases) for cases in (GOOD, LIES))
    assert all(good[plugin] >= 8 and lies[plugin] >= 12 for plugin in PLUGINS)
    named = {case.expected["failure"] for case in LIES}
    assert named >= {
        "no-result",
        "incomplete",
        "wrong-processes",
        "wrong-benchmark",
        "verification-failed",
        "error-text",
        "killed",
        "unreadable",
    }
