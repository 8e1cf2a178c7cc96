"""The figures of merit in a file that a benchmark printed."""

from __future__ import annotations

import logging
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from routelab.api import (
    BenchmarkError,
    BenchmarkPlugin,
    BenchmarkResult,
    InputError,
    RunOutput,
)
from routelab.cluster.bench.run_check import judge_output
from routelab.cluster.bench.store import MOST_OUTPUT
from routelab.registry.instances import load
from routelab.toolkit.input_files import read_bytes

logger = logging.getLogger(__name__)


def parse_output(benchmark: str, file: Path) -> BenchmarkResult:
    """Read the output of a benchmark without knowing its arguments.

    Parameters
    ----------
    benchmark : str
        Instance name; parameters have no effect.
    file : Path
        The standard output of a run; it may include the standard error.

    Raises
    ------
    InputError
        If the benchmark does not exist, or the file cannot be read.
    BenchmarkError
        If the figures are missing or cannot be trusted, or a launcher reports a failure; the text
        names file and failure.
    PluginError
        If the parser raises anything else on the output of a run that did not fail.
    """
    plugin = cast(BenchmarkPlugin, load("benchmark", benchmark))
    try:
        # in binary mode: text mode would take a lone carriage return for the end of a line
        text = read_bytes(file, MOST_OUTPUT).decode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from None
    verdict = judge_output(plugin, RunOutput(text), task=None)  # the run's arguments are unknown
    if verdict.result is None:
        # There is a failure whenever there is no result, but the type also allows an empty text.
        failure = verdict.failure or "killed"
        raise BenchmarkError(failure, f"{file}: {failure}: {verdict.reason}")
    if not plugin.shows_end:
        largest_size = max(figure.size or 0 for figure in verdict.result.figures)
        logger.warning(
            "%s: the program prints no end, so a cut output may look complete; check that the "
            "largest messages were of %d bytes",
            file,
            largest_size,
        )
    return verdict.result


def result_as_mapping(benchmark: str, result: BenchmarkResult) -> dict[str, Any]:
    """Return a result as a mapping for JSON; ``foreign`` are the lines of other programs."""
    return {
        "benchmark": benchmark,
        "version": result.version,
        "figures": [asdict(figure) for figure in result.figures],
        "facts": dict(result.facts),
        "foreign": list(result.foreign),
    }
