"""Checks of benchmarks, which they never launch."""

from __future__ import annotations

import math
from functools import partial
from typing import get_args

from routelab.api import (
    BenchmarkError,
    BenchmarkTask,
    Failure,
    FigureOfMerit,
    RunOutput,
    WorkloadModel,
)
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Trial, call_plugin

USELESS = {
    "nothing": RunOutput("", exit_code=0),
    "empty lines": RunOutput("\n\n \n", exit_code=0),
    "one number": RunOutput("7\n"),
    "half a line of names": RunOutput("# Size  Latency"),
    "an error and exit code 1": RunOutput("", "error: there is no such thing\n", 1),
    "bytes that are not text": RunOutput("\ufffd\x00\x1b[0m\r\n\u2028=\n"),
}
"""Outputs without figures, by description."""


def parses(trial: Trial) -> str:
    """Check that ``parse()`` rejects outputs without figures with BenchmarkError only."""
    trial.require_support()
    task: BenchmarkTask = trial.value
    for what, output in USELESS.items():
        for known in (task, None):
            failure = call_plugin("parse()", partial(_failure, trial, output, known))
            if failure is None:
                raise Failed(f"parse() finds figures in {what}")
            if failure not in get_args(Failure):
                raise Failed(f"parse() reports a failure in a valid output: {failure!r}")
    return f"{len(USELESS)} outputs"


def _failure(trial: Trial, output: RunOutput, task: BenchmarkTask | None) -> str | None:
    try:
        trial.subject.plugin.parse(output, task)
    except BenchmarkError as error:
        return error.failure
    return None


def predicts(trial: Trial) -> str:
    """Check that ``model()`` names a workload, and that ``predicted()`` gives finite figures."""
    trial.require_support()
    plugin, task = trial.subject.plugin, trial.value
    model = call_plugin("model()", lambda: plugin.model(task))
    if model is None:
        raise Skipped("nothing predicts it")
    if not isinstance(model, WorkloadModel):
        raise Failed(f"model() returned {type(model).__name__}, expected a WorkloadModel or None")
    facts = {"timed_s": 0.5, "completion_time_s": 1.0, "mops": 100.0, "messages": 7.0}
    for given in (facts, {}):
        figures = call_plugin("predicted()", partial(plugin.predicted, given, task))
        wrong = [one for one in figures if not isinstance(one, FigureOfMerit)]
        wrong += [one for one in figures if not wrong and not math.isfinite(one.value)]
        if wrong or not isinstance(figures, tuple):
            raise Failed(f"predicted() must return a tuple of finite figures, not {figures!r}")
    return model.workload
