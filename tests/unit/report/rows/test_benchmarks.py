"""Measurements in tables, figures and on the page, from folders as a session writes them."""

from __future__ import annotations

import csv
import statistics as plain
from dataclasses import replace

import pandas as pd
import pytest

from routelab.api import BenchmarkPlugin, FigureOfMerit, InputError
from routelab.cluster.bench.comparison import FIGURE_COLUMNS, RUN_COLUMNS
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.page.commands import bench_command
from routelab.report.page.measurements import RESTORE_ALARM
from routelab.report.page.study_page import write_study_report
from routelab.report.rows.bench_rows import BenchmarkRecord
from routelab.report.rows.benchmarks import SWITCH_WARNING
from routelab.report.rows.study_rows import StudyRows
from routelab.report.table_formats import to_latex
from routelab.report.tables import build_table
from routelab.results.outcome import Outcome, read_outcome, write_outcome
from routelab.results.tables import write_csv
from routelab.study import Figure, Table
from routelab.study.bench_settings import BenchSettings

DIMS = "4x2"
FACTS = {
    "cluster": "tiny",
    "launcher": "srun",
    "hosts": ["n1", "n2"],
    "nodes": 2,
    "ranks": 4,
    "ranks_per_node": 2,
    "job_ids": ["17", "18"],
    "versions": {"slurm": "22.05.8", "mpi": "MPICH 4.0.2"},
    "environment": {"MPICH_ASYNC_PROGRESS": "1"},
    "systems": ["Linux 6.1"],
    "rounds": 5,
    "warm_up": 1,
    "applied": True,
    "fabric": "command",
    "wall_seconds": 12.5,
    "failed": 0,
    "restored": True,
    "started": "2026-11-22T10:00:00+00:00",
    "ended": "2026-11-22T10:20:00+00:00",
}
SLOW, FAST = [10.0, 12.0, 11.0, 10.5, 11.5], [8.0, 8.4, 8.2, 8.3, 8.1]


class Stopwatch(BenchmarkPlugin):
    """Stands for a program with a time, and a count that is no merit."""

    name = "stopwatch"
    figure = "seconds"

    def executables(self, ranks):
        return ("stopwatch",)

    def command(self, task):
        return (str(task.executable),)

    def parse(self, output, task):
        raise NotImplementedError

    def predicted(self, facts, task):
        assert (task.ranks, task.nodes) == (4, 2)
        return (FigureOfMerit("seconds", facts["timed_s"], "s", "lower"),)


class Lost:
    """A run without figures."""

    def __init__(self, status="failed", failure="", reason="it broke"):
        self.outcome = status, failure, reason


class Comparison:
    """A comparison's folder, and its records."""

    def __init__(self, world, cells, *, baseline="dor", metric="seconds", better="lower", **more):
        self.world = world
        self.settings = BenchSettings(cluster="tiny", **more.pop("settings", {}))
        self.status = more.pop("status", "ok")
        self.applied = more.pop("applied", {})
        self.sizes = more.pop("sizes", [None])
        self.facts = FACTS | more.pop("facts", {})
        assert not more
        self.directory = world.results / "bench/comparisons/demo/net/settings"
        self.store = world.results / "bench/runs"
        self.runs, self.figures = [], []
        for (routing, benchmark), samples in cells.items():
            # a warm-up run that is far off
            for turn, value in enumerate([1000.0, *samples]):
                self._run(routing, benchmark, turn, value, metric, better)
        for name, columns, rows in (
            ("runs.csv", RUN_COLUMNS, self.runs),
            ("figures.csv", FIGURE_COLUMNS, self.figures),
        ):
            write_csv(self.directory / name, columns, rows)
        reason = "" if self.status == "ok" else "the allocation ended"
        outcome = Outcome("comparison", f"torus~dims={DIMS}", "", self.status, reason, self.facts)
        write_outcome(outcome, self.directory / "outcome.json")
        self.records = [
            self.record(routing, benchmark, baseline)
            for routing in dict.fromkeys(cell_name for cell_name, _ in cells)
            for benchmark in dict.fromkeys(cell_name for _, cell_name in cells)
        ]

    def _run(self, routing, benchmark, turn, value, metric, better):
        lost = isinstance(value, Lost)
        status, failure, reason = value.outcome if lost else ("ok", "", "")
        run = f"{len(self.runs):064x}"
        applied = self.applied.get(routing, "yes")
        job = "17" if turn < 3 else "18"
        self.runs.append(
            (
                *(routing, benchmark, turn, 1, status, failure, reason, int(lost), 1.25),
                *("2026-11-22T10:00:00+00:00", 4, "n1,n2", job, f"of {job}", applied, "1.0", run),
            )
        )
        folder = self.store / run
        folder.mkdir(parents=True)
        (folder / "stdout.txt").write_text("out")
        if not lost:
            for size in self.sizes:
                scaled = value * (size or 1)
                line = (routing, benchmark, turn, metric, size, scaled, "s", better, run)
                self.figures += [line]
                self.figures += [(*line[:3], "rounds_done", size, 7.0, "", "", run)]

    def record(self, routing, benchmark, baseline):
        topology = f"torus~dims={DIMS}"
        return BenchmarkRecord(
            topology=topology,
            routing=routing,
            topology_name=topology,
            routing_name=routing,
            directory=self.directory,
            topology_directory=self.world.results / "topologies" / topology,
            topology_parameters={"dims": DIMS},
            benchmark=benchmark,
            benchmark_name=f"{benchmark.lower()}~class=S",
            benchmark_parameters={"class": "S"},
            plugin=Stopwatch(),
            settings=self.settings,
            settings_id="cluster=tiny",
            cluster="tiny",
            baseline=baseline,
            baseline_name=baseline,
            store=self.store,
        )


def views(world, measured):
    for routing in dict.fromkeys(record.routing for record in measured):
        if all(job.routing != routing for job in world.records):
            world.add(routing, DIMS, load=[3])
    return StudyRows(world.records, (), (), measured)


def table(world, records, **spec):
    view = Table(of="benchmarks", **spec)
    seen = views(world, records)
    return build_table("t", view, seen.rows_for(view), None, "here: ")


def two(world, **more):
    cells = {("dor", "A"): SLOW, ("fast", "A"): FAST}
    return Comparison(world, cells, **more)


def test_a_row_has_the_statistics_of_the_rounds_that_count(world):
    frame = views(world, two(world).records).by_kind("benchmarks").frame
    assert frame["routing"].tolist() == ["dor", "fast"]
    assert frame["metric"].tolist() == ["seconds"] * 2
    for row, sample in zip(frame.to_dict("records"), (SLOW, FAST), strict=True):
        assert row["median"] == plain.median(sample)
        assert row["mean"] == pytest.approx(plain.fmean(sample))
        assert row["cov_percent"] == pytest.approx(100 * plain.stdev(sample) / plain.fmean(sample))
        # of five values the interval is the range
        assert (row["ci_low"], row["ci_high"]) == (min(sample), max(sample))
        assert (row["runs"], row["failed"], row["failures"]) == (5, 0, "")
        assert (row["nodes"], row["ranks"], row["hosts"], row["job_ids"]) == (2, 4, "n1,n2", 2)
        assert (row["unit"], row["better"], row["applied"]) == ("s", "lower", "yes")
        assert row["class"] == row["benchmark.class"] == "S"
        assert row["max_load"] == 3
    slow, fast = frame.to_dict("records")
    assert fast["improvement_percent"] == pytest.approx(100 * (11.0 / 8.2 - 1))
    assert slow["improvement_percent"] == 0
    assert fast["improvement_low"] <= fast["improvement_percent"] <= fast["improvement_high"]
    assert fast["improvement_low"] > 0
    assert fast["within_noise"] is False
    assert slow["within_noise"] is None or slow["within_noise"] != slow["within_noise"]


def test_higher_rates_are_better_and_the_study_sets_the_baseline(world):
    comparison = two(world, baseline="fast", better="higher")
    rows = table(
        world, comparison.records, rows=["routing"], values=["improvement_percent", "within_noise"]
    ).rows
    assert rows[0]["improvement_percent"] == pytest.approx(100 * (11.0 / 8.2 - 1))
    assert rows[1]["improvement_percent"] == 0
    assert [row.get("within_noise") for row in rows] == [False, None]


def test_only_the_figure_that_stands_for_a_benchmark_is_shown_unless_metrics_are_asked_for(world):
    records = two(world).records
    shown = {"rows": ["routing", "benchmark"], "values": ["median"]}
    assert len(table(world, records, **shown).rows) == 2
    rows = table(world, records, rows=["routing", "metric"], values=["median", "better"]).rows
    assert [row["metric"] for row in rows] == ["seconds", "rounds_done"] * 2
    chosen = table(world, records, **shown, where={"metric": "rounds_done"}).rows
    assert [row["median"] for row in chosen] == [7, 7]
    named = {"names": {"quantity": "metric"}, "rows": ["routing", "quantity"], "values": ["runs"]}
    assert len(table(world, records, **named).rows) == 4


def test_metrics_without_direction_have_no_improvement(world):
    frame = views(world, two(world).records).benchmarks.frame
    counts = frame[frame["metric"] == "rounds_done"]
    assert counts["improvement_percent"].isna().all()
    assert counts["runs"].tolist() == [5, 5]


def test_sizes_are_rows_of_their_own(world):
    comparison = two(world, sizes=[8, 1024])
    with pytest.raises(InputError, match=r"do not distinguish .*size 8.* from .*size 1024"):
        table(world, comparison.records, rows=["routing"], values=["median"])
    rows = table(world, comparison.records, rows=["size", "routing"], values=["median"]).rows
    assert [(row["size"], row["routing"], row["median"]) for row in rows] == [
        (8, "dor", 88),
        (8, "fast", pytest.approx(65.6)),
        (1024, "dor", 11 * 1024),
        (1024, "fast", pytest.approx(8.2 * 1024)),
    ]


def test_a_failed_cell_is_a_row_with_its_cause_in_every_size(world):
    cells = {
        ("dor", "A"): SLOW,
        ("bad", "A"): [Lost("timeout", reason="stopped after 600 s"), Lost("unsupported")],
    }
    comparison = Comparison(world, cells, sizes=[8, 1024])
    built = table(
        world,
        comparison.records,
        rows=["routing", "size"],
        values=["median", "runs", "failed", "failures", "status", "reason", "unit"],
    )
    bad = [row for row in built.rows if row["routing"] == "bad"]
    assert [row["size"] for row in bad] == [8, 1024]
    for row in bad:
        assert row.get("median") is None
        assert (row["runs"], row["failed"], row["unit"]) == (0, 2, "s")
        assert row["failures"] == "1 timeout, 1 unsupported"
        # the worse one, and the first cause
        assert (row["status"], row["reason"]) == ("timeout", "stopped after 600 s")
    assert any("bad" in note and "stopped after 600 s" in note for note in built.notes)


def test_some_failed_runs_leave_a_result_and_their_cause(world):
    wrong = Lost(failure="wrong-processes", reason="2 of 4 processes")
    comparison = Comparison(
        world, {("dor", "A"): SLOW, ("fast", "A"): [8.0, wrong, 8.2, Lost("timeout"), wrong]}
    )
    row = views(world, comparison.records).by_kind("benchmarks").frame.iloc[1]
    assert (row["status"], row["reason"]) == ("ok", "2 of 4 processes")
    assert (row["runs"], row["failed"]) == (2, 3)
    assert row["failures"] == "2 wrong-processes, 1 timeout"
    assert row["median"] == pytest.approx(8.1)
    # two runs tell nothing
    assert row["within_noise"]


def test_a_comparison_that_did_not_run_leaves_rows_that_say_so(world):
    comparison = two(world)
    (comparison.directory / "outcome.json").unlink()
    for name in ("runs.csv", "figures.csv"):
        (comparison.directory / name).unlink()
    frame = views(world, comparison.records).by_kind("benchmarks").frame
    assert frame["status"].tolist() == ["not-run", "not-run"]
    assert all(reason.endswith("outcome.json does not exist") for reason in frame["reason"])
    assert frame["metric"].tolist() == ["seconds"] * 2


def test_a_damaged_table_is_named(world):
    comparison = two(world)
    text = (comparison.directory / "figures.csv").read_text()
    (comparison.directory / "figures.csv").write_text(text.replace("lower", "shorter"))
    with pytest.raises(InputError, match=r"figures.csv is damaged: better is 'shorter'"):
        _ = views(world, comparison.records).benchmarks


@pytest.mark.parametrize("applied", [{"dor": "no", "fast": "no"}, {"dor": "no"}])
def test_differences_without_switching_count_as_noise(world, applied):
    comparison = two(world, applied=applied)
    built = table(world, comparison.records, rows=["routing"], values=["within_noise"])
    assert built.rows[1]["within_noise"] is True
    (warning,) = built.warnings
    assert warning.startswith(SWITCH_WARNING)
    assert "% The fabric was not switched" in to_latex(built)


def predicted(world, seconds):
    comparison = two(world)
    for record in comparison.records:
        flow = world.flow(record.routing, DIMS, facts={"timed_s": seconds[record.routing]})
        object.__setattr__(record, "prediction", flow.directory)
    world.flows.clear()
    return comparison.records


def test_predictions_stand_beside_measurements(world):
    records = predicted(world, {"dor": 3.0, "fast": 2.0})
    rows = table(
        world,
        records,
        rows=["routing"],
        values=["median", "predicted", "predicted_improvement_percent"],
    ).rows
    assert [row["predicted"] for row in rows] == [3, 2]
    assert [row["predicted_improvement_percent"] for row in rows] == [0, 50]
    spec = Figure(kind="scatter", of="benchmarks", x="predicted", y="median")
    drawn = draw_figure(FigureRequest(spec, views(world, records).rows_for(spec), (), "here: "))
    assert drawn.data["predicted"].tolist() == [3, 2]
    assert drawn.data["median_low"].tolist() == [10, 8]


def test_facts_and_predictions_of_another_table_are_not_beside_measurements(world):
    records = predicted(world, {"dor": 3.0, "fast": 2.0})
    views(world, records)  # writes the tables
    used = {"dor": "old", "fast": "new"}
    present = {"digest": "new", "sources": {"table": "new"}}
    known = [(records[0].directory, {"sources": used})]
    known += [(record.prediction, present) for record in records]
    for record in world.records:
        known += [(record.directory, present), (record.metrics_directory, present)]
    for folder, provenance in known:
        outcome = read_outcome(folder / "outcome.json")
        write_outcome(replace(outcome, provenance=provenance), folder / "outcome.json")
    first, second = views(world, records).by_kind("benchmarks").frame.to_dict("records")
    assert (first["median"], second["median"]) == (11, 8.2)
    assert (second["max_load"], second["predicted"]) == (3, 2)
    assert pd.isna([first["max_load"], first["predicted"]]).all()


def test_metrics_of_which_less_and_more_is_better_are_not_compared_as_one(world):
    slow = two(world)
    text = (slow.directory / "figures.csv").read_text()
    (slow.directory / "figures.csv").write_text(text.replace(",7.0,,,", ",7.0,,higher,"))
    assert ",higher," in (slow.directory / "figures.csv").read_text()
    spec = {"rows": ["routing", "metric"], "values": ["median_ratio"]}
    relative = {"to": "dor", "column": "median"}
    with pytest.raises(InputError, match="choose a 'metric' with 'where'"):
        table(world, slow.records, **spec, relative=relative)
    rows = table(world, slow.records, **spec, relative=relative, where={"metric": "seconds"}).rows
    assert [row["median_ratio"] for row in rows] == [pytest.approx(8.2 / 11)]


def test_bars_have_intervals_and_a_sign_for_noise(world):
    cells = {("dor", "A"): SLOW, ("fast", "A"): FAST, ("same", "A"): [*SLOW[1:], SLOW[0]]}
    seen = views(world, Comparison(world, cells).records)
    spec = Figure(kind="bar", of="benchmarks", x="benchmark", y="improvement_percent")
    drawn = draw_figure(FigureRequest(spec, seen.rows_for(spec), (), "here: "))
    rows = {row["routing"]: row for row in drawn.data.to_dict("records")}
    frame = seen.by_kind("benchmarks").frame.set_index("routing")
    for name in ("fast", "same"):
        for end in ("low", "high"):
            limit = rows[name][f"improvement_percent_{end}"]
            assert limit == frame.loc[name, f"improvement_{end}"]
    assert [rows[name]["within_noise"] for name in ("dor", "fast", "same")] == [False, False, True]
    (axis,) = drawn.figure.axes
    assert [text.get_text() for text in axis.texts].count("≈") == 1
    assert "within noise" in drawn.description


def test_the_command_of_a_row_measures_it_and_the_baseline_again(world):
    comparison = two(world, settings={"repeats": 7, "minutes": 30, "predict": False})
    common = "routelab bench --cluster tiny --topology torus~dims=4x2 --routing dor"
    assert bench_command(replace(comparison.records[1], switched=True)) == (
        f"{common} --routing fast --benchmark a~class=S --repeats 7 --apply-routing"
    )
    assert bench_command(comparison.records[0]) == f"{common} --benchmark a~class=S --repeats 7"


STUDY = """
benchmarks: [npb]
tables:
  gains:
    of: benchmarks
    rows: [benchmark, routing]
    values: [median, cov_percent, improvement_percent, within_noise, failures]
figures:
  gains: {kind: bar, of: benchmarks, x: benchmark, y: improvement_percent}
"""


def written(world, write_study, **more):
    cells = {
        ("dor", "A"): SLOW,
        ("fast", "A"): [*FAST[:4], Lost(failure="killed")],
        ("dor", "B"): SLOW,
        ("fast", "B"): [Lost("timeout", reason="stopped after 600 s")] * 5,
    }
    comparison = Comparison(world, cells, **more)
    views(world, comparison.records)
    study = write_study(STUDY)
    folder = world.results / "report" / study.name
    write_study_report(study, world.records, world.results, folder, benchmarks=comparison.records)
    return folder


def test_a_cell_without_a_result_stands_in_the_table_with_its_cause(world, write_study):
    folder = written(world, write_study)
    rows = list(csv.DictReader((folder / "tables" / "gains.csv").open()))
    lost = next(row for row in rows if (row["benchmark"], row["routing"]) == ("B", "fast"))
    assert (lost["median"], lost["failures"]) == ("", "5 timeout")
    kept = next(row for row in rows if (row["benchmark"], row["routing"]) == ("A", "fast"))
    assert (kept["median"], kept["failures"]) == ("8.25", "1 killed")
    every = list(csv.DictReader((folder / "benchmarks.csv").open()))
    assert len(every) == 4 * 2
    assert every[0]["command"].startswith("routelab bench --cluster tiny")


def test_a_fabric_that_was_not_restored_is_a_banner_at_the_top(world, write_study):
    folder = written(world, write_study, facts={"restored": False}, status="failed")
    text = (folder / "index.html").read_text(encoding="utf-8")
    assert text.count(RESTORE_ALARM) == 2
    assert "Not everything was measured: the allocation ended" in text
