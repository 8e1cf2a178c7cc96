"""The kit can fail: every check catches a plugin that is wrong in that respect, and no other."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cases import CASES
from other_process import one_other_process
from right import RIGHT

from routelab.api import InputError, Topology
from routelab.testing import CheckResult, run_checks
from routelab.testing.checks import CHECKS
from routelab.testing.checks import hops as checks_of_hops
from routelab.testing.results import Failed

pytestmark = pytest.mark.usefixtures("zoo")
BUDGET = 0.7
"""Seconds that a check gets where no result but that of an endless one counts."""
LONGER_BUDGETS = (2.0, 20.0, 100.0)
"""Seconds that a check gets where others have to end; more if a busy machine needs them."""
ENOUGH = 300.0
"""Seconds that a check gets where all have to end: it may compile kernels on a busy machine."""


@pytest.mark.parametrize(
    ("kind", "key", "check", "said"), CASES, ids=[f"{case[0]}/{case[1]}" for case in CASES]
)
def test_a_mutant_is_caught(kind, key, check, said):
    endless = "took longer" in said
    results = run_checks(kind, key, only=[check], budget_seconds=BUDGET if endless else ENOUGH)
    failed = [result.message for result in results if result.status == "failed"]
    assert any(said in message for message in failed), failed or results


@pytest.mark.parametrize("hops", [(1, 3), (3, 1)])
def test_the_longest_walk_of_all_terminals_of_two_switches_counts(hops, monkeypatch):
    """Two terminals of switch 0 send to switch 1, which is one hop away."""
    ring = Topology.create(
        num_switches=2, channel_source=[0, 1], channel_target=[1, 0], terminal_switch=[0, 0, 1]
    )
    exploration = SimpleNamespace(
        topology=ring,
        pairs=np.array([(0, 1), (0, 1)]),
        findings=SimpleNamespace(longest=np.array(hops)),
    )
    monkeypatch.setattr(checks_of_hops, "_exploration", lambda trial: exploration)
    with pytest.raises(Failed, match="3 hops, 1 are enough"):
        checks_of_hops.minimal(None)


def test_every_check_has_a_mutant():
    caught = {(kind, check) for kind, _, check, _ in CASES}
    checks_of_functions = {
        check.run: {(kind, each.name) for kind in CHECKS for each in CHECKS[kind] if each == check}
        for checks in CHECKS.values()
        for check in checks
    }
    assert [
        function.__name__ for function, places in checks_of_functions.items() if not places & caught
    ] == []


@pytest.fixture(scope="module")
def other_process(zoo):
    """One other process for all right plugins, which finds them; mutants before get one each."""
    with one_other_process():
        yield


@cache
def all_of(kind, key):
    return run_checks(kind, key, budget_seconds=ENOUGH)


@pytest.mark.usefixtures("other_process")
@pytest.mark.parametrize("right", RIGHT, ids=[f"{right.kind}/{right.name}" for right in RIGHT])
def test_a_right_plugin_passes(right):
    results = all_of(right.kind, right.name)
    assert [result for result in results if result.status == "failed"] == []
    passed = {result.check for result in results if result.status == "passed"}
    assert passed > {"contract", "result", "repeatable", "fresh-process"}


def test_the_page_lists_every_check():
    page = (Path(__file__).parents[3] / "docs/conformance.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z-]+)`", page.partition("## Checks")[2]))
    assert {check.name for checks in CHECKS.values() for check in checks} <= named


@pytest.mark.usefixtures("other_process")
def test_every_check_passes_somewhere():
    """Together the right plugins claim all that there is to claim."""
    passed = {
        result.check
        for right in RIGHT
        for result in all_of(right.kind, right.name)
        if result.status == "passed"
    }
    assert passed == {check.name for checks in CHECKS.values() for check in checks}


def test_a_crash_costs_its_input_only():
    for budget in LONGER_BUDGETS:
        results = run_checks(
            "rules", "never-ends", budget_seconds=budget, only=["result", "begins"]
        )
        others = [result for result in results if result.input != "two-switches"]
        if all(result.status == "passed" for result in others):
            break
    by_case = {(result.check, result.input): result for result in results}
    hung = by_case["result", "two-switches"]
    assert hung.status == "failed"
    assert hung.seconds >= budget
    again = by_case["begins", "two-switches"]
    assert again.status == "skipped"
    assert "took longer" in again.message
    assert {result.status for result in others} == {"passed"}


def test_a_plugin_that_hangs_again_and_again_is_not_waited_for():
    results = run_checks("selection", "holds-the-lock", budget_seconds=BUDGET, only=["result"])
    assert [result.status for result in results[:3]] == ["failed", "failed", "skipped"]
    assert {result.status for result in results[3:]} == {"skipped"}


def test_a_broken_plugin_fails_its_contract_and_nothing_else_is_tried():
    first, *others = run_checks("metric", "fails-to-import")
    assert first.status == "failed"
    assert {(result.status, result.message) for result in others} == {
        ("skipped", "the plugin cannot be used, see the check 'contract'")
    }


@pytest.mark.parametrize(
    ("kind", "key"), [("traffic", "bare-targets"), ("rules", "raises-its-reason")]
)
def test_a_plugin_that_fails_on_every_input_is_not_said_to_refuse_them(kind, key):
    (applies,) = run_checks(kind, key, only=["applies"], budget_seconds=ENOUGH)
    assert applies.status == "skipped"


def test_parameters_and_topologies_reach_the_plugin():
    results = run_checks(
        "selection/right~choice=last", topologies=["right~switches=7"], budget_seconds=ENOUGH
    )
    assert all(result.status != "failed" for result in results)
    assert ("result", "right~switches=7+walks", "passed") in {
        (result.check, result.input, result.status) for result in results
    }


@pytest.mark.parametrize(
    ("kind", "text", "more", "said"),
    [
        ("selektion", "right", {}, "did you mean 'selection'?"),
        ("selection", "rigth", {}, "did you mean 'right'?"),
        ("selection", "right~", {}, "expected a parameter"),
        ("selection", "right", {"only": ["leagl"]}, "did you mean 'legal'?"),
        ("routing", "right@nothing", {}, "no rules plugin is called 'nothing'"),
    ],
)
def test_nonexistent_plugins_and_checks_are_rejected(kind, text, more, said):
    with pytest.raises(InputError) as refusal:
        run_checks(kind, text, **more)
    assert said in str(refusal.value)


def test_wrong_parameters_fail_the_contract():
    first = run_checks("selection", "right~choice=middle")[0]
    assert isinstance(first, CheckResult)
    assert (first.check, first.status) == ("contract", "failed")
    assert "choice=middle" in first.message


def pytest_run(folder, *lines):
    (folder / "test_it.py").write_text(
        "\n".join(["from routelab.testing import conformance", *lines])
    )
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=folder,
        # wide enough for the messages, and without options of the run that runs this test
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def test_pytest_has_a_case_for_each_check_and_input(tmp_path):
    run = pytest_run(
        tmp_path,
        f"test_right = conformance('metric', 'right', budget_seconds={ENOUGH})",
        f"test_wrong = conformance('metric/two-words', budget_seconds={ENOUGH})",
    )
    assert run.returncode == 1, run.stdout
    assert (
        "FAILED test_it.py::test_wrong[names-torus] - Failed: names on torus: 'Mean" in run.stdout
    )
    assert "FAILED test_it.py::test_right" not in run.stdout


def test_pytest_fails_for_a_nonexistent_plugin(tmp_path):
    run = pytest_run(tmp_path, "test_none = conformance('metric', 'rigth')")
    assert run.returncode == 2, run.stdout
    assert "no metric plugin is called 'rigth'; did you mean 'right'?" in run.stdout
