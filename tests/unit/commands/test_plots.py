"""``simulate`` with several routings, and the pictures of ``simulate`` and ``evaluate``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from routelab import notebook
from routelab.cli import main

NETWORK = "torus~dims=4x4"
QUICK = ("--load", "0.1,0.4", "--sample-cycles", "20", "--max-cycles", "4000", "--precision", "0.1")
UNSTABLE = {"cpu_seconds", "routing_seconds", "flit_hops_per_cpu_s"}
"""Columns of measured times."""


@pytest.fixture
def printed(capsys):
    """Run a command that has to end with a code, and return what it prints."""

    def run(*arguments: str, code: int = 0) -> str:
        assert main(list(arguments)) == code
        return capsys.readouterr().out

    return run


def rows_of(text: str) -> list[dict[str, str]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    return [{k: v for k, v in row.items() if k not in UNSTABLE} for row in rows]


def test_several_routings_give_the_rows_of_each_alone(printed) -> None:
    form = ("--format", "csv")
    both = rows_of(printed("simulate", NETWORK, "dor", "angara-sssp", "uniform", *QUICK, *form))
    alone = []
    for routing in ("dor", "angara-sssp"):
        start = {"routing": routing, "status": "ok", "reason": ""}
        rows = rows_of(printed("simulate", NETWORK, routing, "uniform", *QUICK, *form))
        assert len(rows) == 2
        alone += [start | row for row in rows]
    assert both == alone


def test_a_routing_that_does_not_apply_is_a_row_and_the_others_run(capsys) -> None:
    command = ["simulate", NETWORK, "dfsssp", "dor", "uniform", *QUICK, "--vcs", "1"]
    assert main([*command, "--format", "csv"]) == 1
    text = capsys.readouterr()
    assert text.err.count("routelab: error: dfsssp: it needs 2 virtual channels") == 1
    rows = rows_of(text.out)
    assert [(row["routing"], row["status"]) for row in rows] == [
        ("dfsssp", "unsupported"),
        ("dor", "ok"),
        ("dor", "ok"),
    ]
    assert "raise --vcs to 2" in rows[0]["reason"]
    assert rows[0]["latency_mean"] == ""
    assert main(command) == 1
    assert "unsupported" in capsys.readouterr().out


def test_a_routing_that_is_named_twice_is_refused(capsys) -> None:
    assert main(["simulate", NETWORK, "dor", "updown", "dor", "uniform"]) == 2
    assert main(["simulate", NETWORK, "dor", "dor", "uniform"]) == 2
    assert "routings are listed twice: dor" in capsys.readouterr().err


def test_the_plot_of_loads_has_the_measured_latencies(tmp_path: Path, printed) -> None:
    file = tmp_path / "curve.csv"
    command = ("simulate", NETWORK, "dor", "angara-sssp", "uniform", *QUICK, "--format", "csv")
    rows = rows_of(printed(*command, "--plot", str(file)))
    names = ("routing", "load", "latency_mean", "latency_mean_low", "latency_mean_high")
    drawn = rows_of(file.read_text())
    assert len(drawn) == 4
    for row, point in zip(rows, drawn, strict=True):
        assert point["routing"] == row["routing"]
        for name in names[1:]:
            assert float(point[name]) == pytest.approx(float(row[name]), rel=1e-9)


def test_a_saturated_load_is_marked_and_has_no_point(tmp_path: Path, printed) -> None:
    file = tmp_path / "curve.svg"
    circle = ("simulate", "torus~dims=8", "dor", "tornado", *QUICK, "--load", "0.1,1")
    printed(*circle, "--plot", str(file))
    root = ET.fromstring(file.read_text())
    (description,) = [element.text for element in root if element.tag.endswith("}desc")]
    assert "from there saturated, and the line ends before" in description
    first = file.read_bytes()
    printed(*circle, "--plot", str(file))
    assert file.read_bytes() == first


def test_simulations_without_loads_are_drawn_as_bars(tmp_path: Path, printed) -> None:
    file = tmp_path / "time.csv"
    flow = ("simulate", NETWORK, "dor", "angara-sssp", "npb-cg~class=S", "--engine", "flow")
    whole = json.loads(printed(*flow, "--format", "json", "--plot", str(file)))
    for row, bar in zip(whole, rows_of(file.read_text()), strict=True):
        assert bar["routing"] == row["routing"]
        assert float(bar["completion_time_s"]) == pytest.approx(row["completion_time_s"])
    batch = ("simulate", NETWORK, "dor", "uniform", "--messages", "3")
    (fact,) = [json.loads(printed(*batch, "--format", "json", "--plot", str(file)))]
    (bar,) = rows_of(file.read_text())
    assert float(bar["completion_cycles"]) == fact["completion_cycles"]
    for suffix in ("png", "pdf", "svg"):
        picture = tmp_path / f"time.{suffix}"
        printed(*batch, "--plot", str(picture))
        assert picture.stat().st_size > 1000


def test_the_plot_of_an_evaluation_has_the_load_of_every_channel(tmp_path: Path, printed) -> None:
    file = tmp_path / "loads.csv"
    printed("evaluate", NETWORK, "dor", "angara-sssp", "--plot", str(file))
    drawn = rows_of(file.read_text())
    for routing in ("dor", "angara-sssp"):
        rows = [row for row in drawn if row["routing"] == routing]
        loads = np.sort(notebook.route(NETWORK, routing).loads["load"])[::-1]
        assert [float(row["load"]) for row in rows] == loads.tolist()
        shares = [float(row["share"]) for row in rows]
        assert shares == pytest.approx([(i + 1) / len(loads) for i in range(len(loads))])


@pytest.mark.parametrize("verb", [("evaluate", NETWORK, "dor"), ("simulate", NETWORK, "dor", "u")])
def test_wrong_plot_files_are_refused_before_any_work(capsys, tmp_path: Path, verb) -> None:
    (tmp_path / "file").touch()
    for name, message in (
        ("picture.jpg", "unknown format; name a file that ends with .svg, .png, .pdf, .csv"),
        ("picture", "unknown format"),
        ("file/picture.svg", "cannot write"),
    ):
        assert main([*verb, "--plot", str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err
