"""`routelab compare` finds exactly what changed."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.cli import main
from routelab.report.changes import Tolerance, compare_results

RUNS = {
    "topology": ["torus~dims=4", "torus~dims=4", "torus~dims=4x4"],
    "routing": ["dor", "dor", "sssp"],
    "status": ["ok", "ok", "ok"],
    "reason": ["", "", "too many nodes"],
    "max_load": ["3", "4", "8"],
    "mean_load": ["1.5", "2.25", "0"],
    "cpu_seconds": ["0.1", "0.2", "0.3"],
    "routing.tie_seed": ["0", "1", "0"],
    "routing.rounds": ["", "", "16"],
    "command": ["a", "b", "c"],
}
MEASUREMENTS = {
    "topology": ["fabric"] * 2,
    "routing": ["dor", "sssp"],
    "benchmark": ["osu-latency"] * 2,
    "metric": ["latency"] * 2,
    "size": ["8"] * 2,
    "status": ["ok"] * 2,
    "job_ids": ["17", "18"],
    "median": ["10", "12"],
    "ci_low": ["9", "11"],
    "ci_high": ["11", "13"],
}


def write(folder, name, columns, study="small"):
    """Write a list of runs; values are columns of texts."""
    place = folder / "report" / study
    place.mkdir(parents=True, exist_ok=True)
    (place / "summary.json").write_text(json.dumps({"study": study}))
    with (place / name).open("w", newline="") as stream:
        csv.writer(stream).writerows([columns, *zip(*columns.values(), strict=True)])
    return folder


def changed(columns, row, **values):
    """Return columns with other values in one row."""
    return {
        name: [values.get(name, text) if k == row else text for k, text in enumerate(texts)]
        for name, texts in columns.items()
    }


@pytest.fixture
def pair(tmp_path):
    """Write old and new runs; return both folders."""

    def folders(new, old=RUNS, name="runs.csv"):
        return write(tmp_path / "old", name, old), write(tmp_path / "new", name, new)

    return folders


def found(folders, *tolerances):
    comparison = compare_results(*folders, tolerances=tolerances)
    return [(one.run, one.column, one.old, one.new, one.verdict) for one in comparison.changes]


def test_equal_results_have_no_change(pair):
    folders = pair(RUNS)
    assert found(folders) == []
    assert main(["compare", *map(str, folders)]) == 0


def test_a_number_that_falls_is_better_if_less_is_better(pair):
    folders = pair(changed(changed(RUNS, 0, max_load="2"), 1, max_load="5"))
    assert found(folders) == [
        ("torus~dims=4 dor 0", "max_load", "3", "2", "better"),
        ("torus~dims=4 dor 1", "max_load", "4", "5", "worse"),
    ]
    assert main(["compare", *map(str, folders)]) == 1


@pytest.mark.parametrize(
    ("tolerance", "count"),
    [
        (Tolerance("max_load", 1, False), 0),
        (Tolerance("max_load", 0.99, False), 1),
        (Tolerance("max_*", 0.125, True), 0),
        (Tolerance("max_load", 0.124, True), 1),
        (Tolerance("mean_load", 5, False), 1),
    ],
)
def test_tolerances_are_absolute_or_relative(pair, tolerance, count):
    assert len(found(pair(changed(RUNS, 2, max_load="9")), tolerance)) == count


def test_computing_times_count_only_with_a_tolerance(pair):
    folders = pair(changed(RUNS, 0, cpu_seconds="0.4"))
    assert found(folders) == []
    assert len(found(folders, Tolerance("cpu_seconds", 1, True))) == 1


def test_sentences_are_counted_but_are_no_change(pair):
    folders = pair(changed(RUNS, 2, reason="too many of the nodes"))
    comparison = compare_results(*folders)
    assert (comparison.changes, comparison.reworded) == ([], 1)


def test_a_new_default_is_a_change_of_the_run(pair):
    assert found(pair(changed(RUNS, 2, **{"routing.rounds": "4"}))) == [
        ("torus~dims=4x4 sssp 0", "routing.rounds", "16", "4", "changed")
    ]


def test_missing_and_new_runs_and_columns_are_changes(pair):
    new = changed(RUNS, 2, routing="nue")
    del new["mean_load"]
    new["turns"] = ["1", "2", "3"]
    assert found(pair(new)) == [
        ("torus~dims=4x4 sssp 0", "", "", "", "missing"),
        ("torus~dims=4x4 nue 0", "", "", "", "new"),
        ("", "mean_load", "", "", "missing"),
    ]


def test_measurements_differ_if_their_intervals_are_apart(pair):
    new = changed(MEASUREMENTS, 0, median="10.9", ci_low="10", ci_high="12", job_ids="40")
    assert found(pair(new, MEASUREMENTS, "benchmarks.csv")) == []
    new = changed(MEASUREMENTS, 0, median="14", ci_low="13", ci_high="15")
    assert found(pair(new, MEASUREMENTS, "benchmarks.csv")) == [
        ("fabric dor osu-latency latency 8", "median", "10 (9–11)", "14 (13–15)", "changed")
    ]


cells = st.tuples(
    st.integers(0, 2), st.sampled_from(["max_load", "mean_load", "status"]), st.integers(0, 99)
)


@given(edits=st.lists(cells))
def test_changes_are_the_cells_that_differ(tmp_path_factory, edits):
    new = RUNS
    for row, column, value in edits:
        new = changed(new, row, **{column: str(value)})
    expected = [
        (column, old, now)
        for column in RUNS
        for old, now in zip(RUNS[column], new[column], strict=True)
        if old != now
    ]
    folder = tmp_path_factory.mktemp("pair")
    folders = write(folder / "old", "runs.csv", RUNS), write(folder / "new", "runs.csv", new)
    assert sorted(one[1:4] for one in found(folders)) == sorted(expected)


def test_rows_that_cannot_be_told_apart_are_named(pair, capsys):
    twice = changed(RUNS, 1, **{"routing.tie_seed": "0"})
    assert main(["compare", *map(str, pair(twice, twice))]) == 2
    assert "small/runs.csv: several rows are called 'torus~dims=4 dor'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--study", "smal"], "no report of study 'smal'; did you mean 'small'?"),
        (["--tolerance", "maxload=1"], "no column 'maxload'; did you mean 'max_load'?"),
        (["--tolerance", "max_load"], "write COLUMN=VALUE"),
        (["--tolerance", "max_load=-1"], "write COLUMN=VALUE"),
    ],
)
def test_wrong_arguments_are_named(pair, capsys, arguments, message):
    assert main(["compare", *map(str, pair(RUNS)), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_folders_without_a_common_study_cannot_be_compared(tmp_path, capsys):
    folders = [write(tmp_path / name, "runs.csv", RUNS, study=name) for name in ("one", "another")]
    assert main(["compare", *map(str, folders)]) == 2
    assert "no study in common" in capsys.readouterr().err
    assert main(["compare", str(folders[0]), str(tmp_path / "nowhere")]) == 2


def test_the_page_and_the_list_have_the_changes(pair, tmp_path, capsys):
    folders = pair(changed(RUNS, 0, max_load="2"))
    output = tmp_path / "changes"
    assert main(["compare", *map(str, folders), "-o", str(output)]) == 1
    rows = list(csv.DictReader(io.StringIO((output / "changes.csv").read_text())))
    assert [(row["column"], row["old"], row["new"]) for row in rows] == [("max_load", "3", "2")]
    page = (output / "index.html").read_text()
    assert "1 better" in page
    assert "−33.33%" in page
    (output / "notes.txt").touch()
    assert main(["compare", *map(str, folders), "-o", str(output)]) == 2
    assert (output / "notes.txt").exists()
