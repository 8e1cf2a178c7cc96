"""perf/compare_results.py: it finds every difference of two results folders, timings excepted."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "perf/compare_results.py"
ROUTE = "small/routes/torus~dims=4/dor"
FLOW = "small/flows/torus~dims=4/dor/halo/machine=desmos"

FILES = {
    "report/small/tables/loads.csv": "routing,nodes,max_load,cpu_seconds_median\ndor,4,2,0.1\n",
    "report/small/figures/loads.csv": "x,y\n1,0.5\n2,0.25\n",
    "report/small/runs.csv": "topology,routing,max_load,routing_seconds\nt,a,2,0.1\nt,b,3,0.2\n",
    f"{ROUTE}/metrics.csv": "metric,value,unit,better\nmax_load,2.0,routes,lower\n",
    f"{ROUTE}/channels.csv": "channel,load\n0,1.0\n1,2.0\n",
    f"{FLOW}/channels.csv": "channel,bytes,seconds\n0,10,0.5\n",
    "big/surveys/1.csv": "topology,routing,max_load,origin\nt,a,2,aa\nt,b,3,aa\n",
    "big/surveys/2.csv": "topology,routing,max_load,run_cpu_seconds\nu,a,4,0.3\n",
}


def outcome(kind="route", **facts):
    return {
        "format": "outcome/1",
        "kind": kind,
        "topology": "torus~dims=4",
        "status": "ok",
        "reason": "",
        "facts": {"max_load": 2, "parts": [4, 1], "cpu_seconds": 0.1} | facts,
        "provenance": {"started": "2026-05-04T12:00:00+00:00", "wall_seconds": 1.0},
    }


def arrays(path, commit="aa", **more):
    metadata = json.dumps({"format": "routes/1", "provenance": {"git_commit": commit}})
    np.savez(path, metadata=metadata, hops=np.arange(3), weight=np.array([0.5, np.nan]), **more)


@pytest.fixture
def folders(tmp_path):
    """Two results folders with the same content."""
    old = tmp_path / "old"
    for name, text in FILES.items():
        path = old / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for folder in (ROUTE, FLOW):
        (old / folder / "outcome.json").write_text(json.dumps(outcome()))
    arrays(old / ROUTE / "routes.npz")
    (old / "report/small/index.html").write_text("made by aa")
    shutil.copytree(old, tmp_path / "new")
    return old, tmp_path / "new"


@pytest.fixture
def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("compare_results", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def differences(script, folders):
    """What differs: file, row, column, old and new value."""
    return lambda: [tuple(one) for one in script.compare_folders(*folders).differences]


def edit(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_equal_folders(script, folders, capsys):
    assert script.main([str(folder) for folder in folders]) == 0
    printed = capsys.readouterr().out
    assert "cpu_seconds, also cpu_seconds_<statistic>: CPU time" in printed
    assert "1 report/.../*.html" in printed
    assert "0 different\n0 missing in OLD, 0 missing in NEW\n" in printed


@pytest.mark.parametrize("name", FILES)
def test_a_changed_value_in_any_table(folders, differences, name):
    _, new = folders
    rows = (new / name).read_text().splitlines()
    cells = rows[-1].split(",")
    place = {"report/small/figures/loads.csv": 1}.get(name, 2 if len(cells) > 2 else 1)
    column, before = rows[0].split(",")[place], cells[place]
    cells[place] = "7.5"
    (new / name).write_text("\n".join([*rows[:-1], ",".join(cells)]) + "\n")
    ((file, row, found, was, now),) = differences()
    assert file == (name if "surveys" not in name else "big/surveys/*.csv")
    assert (found, was, now) == (column, before, "7.5")
    assert row


def test_the_last_digit_of_a_number_counts_and_its_spelling_does_not(folders, differences):
    _, new = folders
    edit(new, f"{ROUTE}/channels.csv", "0,1.0", "0,1")
    edit(new, f"{ROUTE}/metrics.csv", "2.0", "20e-1")
    assert differences() == []
    edit(new, f"{ROUTE}/channels.csv", "1,2.0", "1,2.0000000000000000001")
    assert differences() == [
        (f"{ROUTE}/channels.csv", "channel=1", "load", "2.0", "2.0000000000000000001")
    ]


def test_rows_columns_and_files_that_are_missing(folders, differences):
    old, new = folders
    edit(new, "report/small/runs.csv", "t,b,3,0.2\n", "")
    edit(old, "big/surveys/1.csv", "t,b,3,aa\n", "")
    edit(new, f"{ROUTE}/metrics.csv", "unit", "units")
    (new / FLOW / "channels.csv").unlink()
    (old / FLOW / "outcome.json").unlink()
    assert set(differences()) == {
        ("report/small/runs.csv", "topology=t routing=b", "", "(row)", "(missing)"),
        ("big/surveys/*.csv", "topology=t routing=b", "", "(missing)", "(row)"),
        (f"{ROUTE}/metrics.csv", "", "unit", "(column)", "(missing)"),
        (f"{ROUTE}/metrics.csv", "", "units", "(missing)", "(column)"),
        (f"{FLOW}/channels.csv", "", "", "(file)", "(missing)"),
        (f"{FLOW}/outcome.json", "", "", "(missing)", "(file)"),
    }


def test_a_survey_may_be_cut_and_ordered_otherwise(folders, differences):
    _, new = folders
    (new / "big/surveys/2.csv").unlink()
    (new / "big/surveys/1.csv").write_text(
        "routing,max_load,topology,origin,run_cpu_seconds\na,4,u,bb,9\nb,3,t,bb,\na,2,t,,\n"
    )
    assert differences() == []
    edit(new, "big/surveys/1.csv", "b,3,t", "b,4,t")
    assert differences() == [("big/surveys/*.csv", "topology=t routing=b", "max_load", "3", "4")]


def test_another_order_of_rows_in_a_report(folders, differences):
    _, new = folders
    (new / "report/small/figures/loads.csv").write_text("x,y\n2,0.25\n1,0.5\n")
    ((file, *_, what),) = differences()
    assert (file, what) == ("report/small/figures/loads.csv", "(another order)")


def test_timings_are_ignored_and_simulated_times_are_not(folders, differences):
    _, new = folders
    edit(new, "report/small/tables/loads.csv", "2,0.1", "2,0.9")
    edit(new, "report/small/runs.csv", "2,0.1", "2,0.9")
    edit(new, "big/surveys/1.csv", "2,aa", "2,bb")
    edit(new, "big/surveys/2.csv", "0.3", "0.9")
    content = outcome(cpu_seconds=9.0) | {"provenance": {"host": "elsewhere"}}
    (new / ROUTE / "outcome.json").write_text(json.dumps(content))
    arrays(new / ROUTE / "routes.npz", commit="bb")
    assert differences() == []
    edit(new, f"{FLOW}/channels.csv", "10,0.5", "10,0.6")
    assert differences() == [(f"{FLOW}/channels.csv", "channel=0", "seconds", "0.5", "0.6")]


def test_facts_status_and_reason_of_outcomes(folders, differences):
    _, new = folders
    content = outcome(parts=[4, 2], sweeps=1, started="now") | {"status": "failed", "reason": "why"}
    del content["facts"]["max_load"]
    (new / ROUTE / "outcome.json").write_text(json.dumps(content))
    assert [one[2:] for one in differences()] == [
        ("status", "ok", "failed"),
        ("reason", "", "why"),
        ("facts.max_load", "(2)", "(missing)"),
        ("facts.parts.1", "1", "2"),
        ("facts.sweeps", "(missing)", "(1)"),
        ("facts.started", "(missing)", "(now)"),
    ]


def test_some_facts_are_excluded_for_one_kind_only(script):
    assert script.excluded("started", "comparison")
    assert script.excluded("bound_seconds", "bound")
    assert not script.excluded("bound_seconds", "route")
    assert not script.excluded("started")
    assert not script.excluded("cycle_seconds")
    assert not script.excluded("memory_bytes", "flow")


def test_arrays(folders, differences):
    _, new = folders
    path = new / ROUTE / "routes.npz"
    metadata = json.dumps({"format": "routes/2", "provenance": {}})
    np.savez(path, metadata=metadata, hops=np.array([0, 1, 3]), more=np.zeros(1))
    assert differences() == [
        (f"{ROUTE}/routes.npz:metadata", "", "format", "routes/1", "routes/2"),
        (f"{ROUTE}/routes.npz", "2", "hops", "2", "3"),
        (f"{ROUTE}/routes.npz", "", "weight", "(array)", "(missing)"),
        (f"{ROUTE}/routes.npz", "", "more", "(missing)", "(array)"),
    ]
    path.write_bytes(b"no archive")
    assert [one[3] for one in differences()] == ["(cannot be read)"]


def test_all_differences_go_to_a_file_and_the_first_ones_are_printed(script, folders, capsys):
    _, new = folders
    (new / f"{ROUTE}/channels.csv").write_text("channel,load\n0,5\n1,6\n")
    words = [*map(str, folders), "--limit", "1", "--output", str(new / "found.csv")]
    assert script.main(words) == 1
    printed = capsys.readouterr().out
    assert "channel=0, load: 1.0 -> 5\n  and 1 more" in printed
    assert "2 different" in printed
    with (new / "found.csv").open(newline="") as stream:
        assert [row["new"] for row in csv.DictReader(stream)] == ["5", "6"]


def test_bad_arguments_are_one_message(folders, tmp_path):
    old, _ = folders
    (tmp_path / "empty").mkdir()
    for other, why in (
        ("nowhere", "folder not found"),
        ("empty", "no results in this folder"),
        ("old", "are the same folder"),
    ):
        done = subprocess.run(
            [sys.executable, SCRIPT, old, tmp_path / other], capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (2, "")
        (said,) = done.stderr.splitlines()
        assert why in said
