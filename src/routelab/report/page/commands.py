"""Commands that reproduce a report, or one run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from routelab.api import EnginePlugin
from routelab.api.engine import DEFAULT_ENGINES
from routelab.metrics.bounds.throughput.facts import traffic_seeds
from routelab.report.labels import shown_path
from routelab.report.rows.bench_rows import BenchmarkRecord
from routelab.report.rows.benchmarks import BenchmarkRows
from routelab.report.rows.routes import RouteRecord
from routelab.report.rows.row_set import Record, RowSet
from routelab.report.rows.simulations import SimulationRecord, SimulationRows
from routelab.results.outcome import Outcome
from routelab.study.bench_settings import BenchSettings

_SIMULATE_OPTIONS = {"loads": "--load", "find_saturation": "--saturation"}
"""Options of `routelab simulate` whose names differ from their settings."""
_BENCH_OPTIONS = set(BenchSettings.model_fields) - {"cluster", "baseline", "predict", "minutes"}
"""Settings of a comparison that change what is measured for a row."""


def run_command(record: RouteRecord) -> str:
    """Return the command that routes, proves and measures a run and prints its numbers."""
    metrics = f" --metrics {_shell_word('+'.join(record.metrics))}" if record.metrics else ""
    return f"routelab route {_record_words(record)}{metrics}"


def bound_command(record: RouteRecord) -> str:
    """Return the command that prints the bounds of a run and its distance from them."""
    return f"routelab evaluate {_record_words(record)} --bound"


def throughput_command(record: SimulationRecord, outcome: Outcome) -> str:
    """Return the command that prints the throughput bounds for any routing, for one seed.

    The bounds of a study are for all seeds of its traffic; the command has only the first one.

    Parameters
    ----------
    record : SimulationRecord
    outcome : Outcome
        Outcome of the bounds for the record's network and traffic, with the loads that are bounded.
    """
    topology, traffic = _shell_word(record.topology_name), _shell_word(record.work_name)
    seed = traffic_seeds(record.engine.parameters)[0]
    bounds = outcome.facts.get("throughput_by_seed", {}).get(str(seed), {})
    loads = ",".join(f"{bound['load']:g}" for bound in bounds.get("accepted", ()))
    command = f"routelab bound {topology} --traffic {traffic}"
    # Load 1 and seed 0 are the defaults of the command. Bounds that failed have no loads.
    if loads not in ("", "1"):
        command += f" --load {loads}"
    if seed != 0:
        command += f" --seed {seed}"
    return command


def _record_words(record: Record) -> str:
    """Return the arguments for the network and the routing of a record."""
    return f"{_shell_word(record.topology_name)} {_shell_word(record.routing_name)}"


def simulate_command(record: SimulationRecord, engine: EnginePlugin) -> str:
    """Return the command that repeats a simulation and prints its numbers."""
    words = [_record_words(record), _shell_word(record.work_name)]
    if engine.name != DEFAULT_ENGINES["traffic"]:
        words.append(f"--engine {engine.name}")
    fields = type(engine.parameters).model_fields
    for name, text in engine.parameters.non_defaults().items():
        words.append(_SIMULATE_OPTIONS.get(name, "--" + name.replace("_", "-")))
        # the value itself; the text, if the parameter has another name as an attribute
        value = getattr(engine.parameters, name, text)
        # a truth value that is off by default has an option without a value
        is_flag = value is True and name in fields and fields[name].default is False
        if isinstance(value, tuple):
            # Names of instances join the values of a list with +, options with commas.
            words.append(_shell_word(text.replace("+", ",")))
        elif not is_flag:
            words.append(_shell_word(text))
    return f"routelab simulate {' '.join(words)}"


def bench_command(record: BenchmarkRecord) -> str:
    """Return the command that repeats a benchmark under a routing and under the baseline."""
    words = [
        "--cluster",
        _shell_word(record.cluster),
        "--topology",
        _shell_word(record.topology_name),
    ]
    # The first routing is the baseline. The command for the baseline itself, and for a benchmark
    # without a baseline, names one routing.
    for name in dict.fromkeys((record.baseline_name or record.routing_name, record.routing_name)):
        words += ["--routing", _shell_word(name)]
    words += ["--benchmark", _shell_word(record.benchmark_name)]
    for name, value in record.settings.non_defaults().items():
        if name in _BENCH_OPTIONS:
            words += ["--" + name.replace("_", "-"), _shell_word(value)]
    return f"routelab bench {' '.join(words)}{' --apply-routing' if record.switched else ''}"


def row_command(row_set: RowSet, run: int) -> str:
    """Return the command that prints the numbers of a row."""
    if isinstance(row_set, SimulationRows):
        return simulate_command(row_set.records[run], row_set.engine(run))
    if isinstance(row_set, BenchmarkRows):
        return bench_command(row_set.records[run])
    record = row_set.records[run]
    assert isinstance(record, RouteRecord)
    return run_command(record)


def study_command(
    study: Path, benchmarks: Sequence[BenchmarkRecord] = (), cluster: str = ""
) -> str:
    """Return the command that rebuilds a study's report.

    Parameters
    ----------
    study : Path
        Its file.
    benchmarks : sequence of BenchmarkRecord
        Its benchmarks; if they need permission to switch a fabric, the command gives it.
    cluster : str, optional
        Cluster that was measured on instead of those of the study.
    """
    # Snakemake finds the studies in this folder by their names.
    path = Path(shown_path(study))
    selector = path.stem if path.is_relative_to("config/studies") else str(path)
    words = [f"studies={_shell_word(selector)}"]
    if cluster:
        words.append(f"cluster={_shell_word(cluster)}")
    if any(record.switched for record in benchmarks):
        words.append("apply_routing=true")
    return f"snakemake report --config {' '.join(words)}"


def _shell_word(text: str) -> str:
    """Quote a word for a shell; instance names need no quotes although they contain ``~``.

    A shell replaces ``~`` by the home folder only at the beginning of a word.
    """
    return text if re.fullmatch(r"[\w@%+=:,./-][\w@%+=:,./~-]*", text) else shlex.quote(text)
