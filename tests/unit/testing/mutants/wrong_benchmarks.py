"""Wrong benchmarks; ``caught``: by which check, and a part of what it says."""

from __future__ import annotations

import math

from right import RightBenchmark

from routelab.api import BenchmarkError, BenchmarkResult, FigureOfMerit


class FindsAnyNumber(RightBenchmark):
    name = "finds-any-number"
    caught = "parse", "parse() finds figures in one number"

    def parse(self, output, task):
        if not output.stdout.strip().isdigit():
            raise BenchmarkError("unreadable", "there is no number")
        return BenchmarkResult((FigureOfMerit("time", float(output.stdout), "s", "lower"),))


class BreaksOnNothing(RightBenchmark):
    name = "breaks-on-nothing"
    caught = "parse", "parse() raised IndexError"

    def parse(self, output, task):
        if not output.stdout.split()[0].startswith("time"):
            raise BenchmarkError("unreadable", "there is no time")
        return super().parse(output, task)


class NeedsATask(RightBenchmark):
    name = "needs-a-task"
    caught = "parse", "parse() raised AttributeError"

    def parse(self, output, task):
        raise BenchmarkError("no-result", f"{task.ranks} ranks told nothing")


class NamesAFailureOfItsOwn(RightBenchmark):
    name = "names-a-failure-of-its-own"
    caught = "parse", "parse() reports a failure in a valid output: 'bad'"

    def parse(self, output, task):
        raise BenchmarkError("bad", "it is bad")


class AsksForALine(RightBenchmark):
    name = "asks-for-a-line"
    caught = "result", "command() must return a tuple of texts, but returned '/the/program input"

    def command(self, task):
        return f"{task.executable} input.txt"


class HasNoName(RightBenchmark):
    name = "has-no-name"
    caught = "result", "executables() must return a tuple of texts, but returned ()"

    def executables(self, ranks):
        return ()


class WritesElsewhere(RightBenchmark):
    name = "writes-elsewhere"
    caught = "result", "files(): '../input.txt' is not a plain file name"

    def files(self, task):
        return {"../input.txt": ""}


class ModelsByName(RightBenchmark):
    name = "models-by-name"
    caught = "prediction", "model() returned str, expected a WorkloadModel or None"

    def model(self, task):
        return "my-workload"


class PredictsForEver(RightBenchmark):
    name = "predicts-for-ever"
    caught = "prediction", "predicted() must return a tuple of finite figures"

    def predicted(self, facts, task):
        return (FigureOfMerit("time", math.inf, "s", "lower"),)


class NeedsFacts(RightBenchmark):
    name = "needs-facts"
    caught = "prediction", "predicted() raised KeyError: 'timed_s'"

    def predicted(self, facts, task):
        return (FigureOfMerit("time", facts["timed_s"], "s", "lower"),)
