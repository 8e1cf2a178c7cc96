"""`routelab compare` finds exactly what changed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.cli import main
from routelab.registry.columns import installed_columns
from routelab.report.changes import KEY_COLUMNS, compare_results
from routelab.results.tables import further_columns

RUNS = {
    "topology": ["torus~dims=4", "torus~dims=4", "torus~dims=4x4"],
    "routing": ["dor", "dor~tie_seed=1", "sssp"],
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
    "unit": ["us", "us"],
    "failed": ["0", "0"],
    "version": ["5.1", "5.1"],
}

REPORT = Path(__file__).parents[2] / "data/results-0.1/results/report/every-kind"

LISTS = {
    "runs.csv": ("routes",),
    "simulations.csv": ("simulations", "loads"),
    "flows.csv": ("flows",),
    "benchmarks.csv": ("benchmarks",),
}
"""Lists of a report, and the kinds of rows whose columns they have."""

UNDECLARED = ("bound_reason", "command")
THIRD_PARTY = (
    *("origin", "cpu_seconds_of_solver", "bound_seconds", "run_cpu_seconds", "reasons"),
    *("mean", "median", "ci_low", "name", "side", "turn", "old", "new"),
)
LEFT_OUT = {
    *("reason", "deadlock_reason", "bound_reason", "command"),
    *("routing_seconds", "cpu_seconds", "engine_seconds", "opensm_seconds", "flit_hops_per_cpu_s"),
}
ENDS = ("ci_low", "ci_high", "improvement_low", "improvement_high")
LEFT_OUT_OF_MEASUREMENTS = {"job_ids", "mean", "cov_percent", *ENDS}


def write(folder, name, columns, study="small"):
    """Write a list of runs; values are columns of texts."""
    place = folder / "report" / study
    place.mkdir(parents=True, exist_ok=True)
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


def differences(folders, rtol=0.0):
    changes = compare_results(*folders, rtol)
    return [
        (change.row, change.column, change.old, change.new, change.difference) for change in changes
    ]


def test_a_changed_value_is_found_with_its_place(pair, capsys):
    folders = pair(changed(RUNS, 0, max_load="2", status="failed"))
    place = ("small", "runs.csv", "torus~dims=4 dor")
    assert compare_results(*folders) == [
        (*place, "status", "ok", "failed", ""),
        (*place, "max_load", "3", "2", "-0.3333"),
    ]
    assert main(["compare", *map(str, folders), "--format", "json"]) == 1
    printed = capsys.readouterr()
    assert [row["old"] for row in json.loads(printed.out)] == ["ok", "3"]
    assert printed.err == "differences: 2\n"
    studies = [folder / "report/small" for folder in folders]
    assert main(["compare", *map(str, studies), "--format", "csv"]) == 1
    assert "small,runs.csv,torus~dims=4 dor,max_load,3,2,-0.3333\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "new",
    [
        RUNS,
        {name: texts[::-1] for name, texts in RUNS.items()},
        changed(RUNS, 0, cpu_seconds="0.4", command="x", reason="not so many"),
        changed(RUNS, 0, max_load="3.0", mean_load="15e-1"),
        RUNS | {"turns": ["", "", ""]},
    ],
    ids=["same", "order", "uncompared", "spelling", "empty-column"],
)
def test_these_results_are_equal(pair, new):
    folders = pair(new)
    assert differences(folders) == []
    assert main(["compare", *map(str, folders)]) == 0


@pytest.mark.parametrize(
    ("rtol", "code"), [("0.126", 0), ("0.125", 0), ("0.124", 1), ("0", 1), ("-1", 2), ("nan", 2)]
)
def test_a_tolerance_is_relative_to_the_old_number(pair, rtol, code):
    folders = pair(changed(RUNS, 2, max_load="9"))
    assert main(["compare", *map(str, folders), "--rtol", rtol]) == code


def test_a_tolerance_allows_no_other_text_and_no_change_from_zero(pair):
    folders = pair(changed(RUNS, 2, mean_load="0.1", status="failed"))
    assert [change[1] for change in differences(folders, rtol=5)] == ["status", "mean_load"]


def test_a_new_default_is_a_change_of_the_run(pair):
    assert differences(pair(changed(RUNS, 2, **{"routing.rounds": "4"}))) == [
        ("torus~dims=4x4 sssp", "routing.rounds", "16", "4", "-0.75")
    ]


def test_missing_and_new_runs_and_columns_are_changes(pair):
    # a fact such as `blocked` is a column as soon as one run has it
    new = changed(RUNS, 2, routing="nue") | {"blocked": ["", "no credits", ""]}
    del new["mean_load"]
    assert set(differences(pair(new))) == {
        ("torus~dims=4x4 sssp", "", "", "", "missing"),
        ("torus~dims=4x4 nue", "", "", "", "new"),
        ("", "mean_load", "", "", "missing"),
        ("", "blocked", "", "", "new"),
    }


def test_missing_and_new_lists_and_studies_are_changes(pair):
    old, new = pair(RUNS)
    write(old, "flows.csv", RUNS)
    write(new, "runs.csv", RUNS, study="another")
    assert [(*change[:2], change.difference) for change in compare_results(old, new)] == [
        ("another", "runs.csv", "new"),
        ("small", "flows.csv", "missing"),
    ]


def test_measurements_differ_if_their_intervals_are_apart(pair):
    new = changed(MEASUREMENTS, 0, median="10.9", ci_low="10", ci_high="12", job_ids="40")
    assert differences(pair(new, MEASUREMENTS, "benchmarks.csv")) == []
    new = changed(MEASUREMENTS, 0, median="14", ci_low="13", ci_high="15")
    folders = pair(new, MEASUREMENTS, "benchmarks.csv")
    assert differences(folders) == [
        ("fabric dor osu-latency latency 8", "median", "10", "14", "+0.4")
    ]
    assert differences(folders, rtol=0.5) == []
    del new["ci_low"]
    changes = differences(pair(new, MEASUREMENTS, "benchmarks.csv"))
    assert [change[1] for change in changes] == ["ci_low", "median"]


@pytest.mark.parametrize(
    ("column", "value", "difference"),
    [("failed", "1", ""), ("unit", "ms", ""), ("version", "5.10", ""), ("status", "failed", "")],
)
def test_no_interval_covers_other_columns_of_measurements(pair, column, value, difference):
    new = changed(MEASUREMENTS, 1, **{column: value})
    folders = pair(new, MEASUREMENTS, "benchmarks.csv")
    row = "fabric sssp osu-latency latency 8"
    assert differences(folders) == [(row, column, MEASUREMENTS[column][1], value, difference)]


def row_name(row):
    return " ".join(row[key] for key in KEY_COLUMNS if row.get(key))


@pytest.mark.parametrize(
    ("old", "new", "difference"),
    [
        ("proven if declared", "cycle", ""),
        ("cycle", "proven if declared", ""),
        ("", "a text", ""),
        ("yes", "", ""),
        ("4", "5", "+0.25"),
        ("9007199254740993", "9007199254740992", "-1.11e-16"),  # equal as floats
    ],
)
@pytest.mark.parametrize("name", LISTS)
def test_all_columns_but_a_few_are_compared(pair, name, old, new, difference):
    declared = [column for rows in LISTS[name] for column in installed_columns().of(rows)]
    stored = further_columns(REPORT / name, ())
    columns = [*dict.fromkeys([*stored, *declared, *UNDECLARED, *THIRD_PARTY])]
    left_out = LEFT_OUT | (LEFT_OUT_OF_MEASUREMENTS if name == "benchmarks.csv" else set())
    assert len(columns) > 100
    # a row for each column, in which it is edited; a measurement without interval has no noise
    ends = ENDS if name == "benchmarks.csv" else ()
    before = [
        dict.fromkeys(columns, old) | dict.fromkeys(ends, "") | {"routing": f"r{k}"}
        for k in range(len(columns))
    ]
    after = [row | {column: new} for row, column in zip(before, columns, strict=True)]
    expected = []
    for column, was, now in zip(columns, before, after, strict=True):
        if column in KEY_COLUMNS:
            expected += [(row_name(was), "", "", "", "missing"), (row_name(now), "", "", "", "new")]
        elif column not in left_out:
            # no number is a version
            relative = "" if column in ("hosts", "version") else difference
            expected.append((row_name(was), column, old, new, relative))
    tables = [
        {column: [row[column] for row in rows] for column in columns} for rows in (after, before)
    ]
    assert sorted(differences(pair(*tables, name))) == sorted(expected)


def test_a_list_of_the_test_is_a_list_of_a_report():
    assert {*LISTS} == {path.name for path in REPORT.glob("*.csv")}


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
    assert sorted(change[1:4] for change in differences(folders)) == sorted(expected)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"topology,routing,max_load\nt,r,1",  # cut within the line
        b"topology,routing,max_load\nt,r\n",
        b"topology,routing,max_load\nt,r,1,2\n",
        b"topology,routing,topology\nt,r,t\n",
        b"a,b\n1,2\n",
        b"\x89PNG\r\n\x1a\n\x00",
    ],
)
def test_a_damaged_list_is_one_message(pair, capsys, content):
    old, new = pair(RUNS)
    path = new / "report/small/runs.csv"
    path.write_bytes(content)
    assert main(["compare", str(old), str(new)]) == 2
    printed = capsys.readouterr()
    (message,) = printed.err.splitlines()
    assert f"{path} is damaged" in message
    assert printed.out == ""


def test_folders_without_a_common_study_cannot_be_compared(tmp_path, capsys):
    folders = [write(tmp_path / name, "runs.csv", RUNS, study=name) for name in ("one", "another")]
    assert main(["compare", *map(str, folders)]) == 2
    assert "no study in common" in capsys.readouterr().err
    assert main(["compare", str(folders[0]), str(tmp_path / "nowhere")]) == 2
    assert "no such folder" in capsys.readouterr().err
