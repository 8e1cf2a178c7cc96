"""Flow simulations in tables and figures, and comparisons with a routing's median."""

from __future__ import annotations

import argparse

import pytest

from routelab.api import InputError
from routelab.commands import simulate
from routelab.commands._shared.settings import settings_from_options
from routelab.report.figures.kinds import draw_figure
from routelab.report.figures.request import FigureRequest
from routelab.report.page.commands import simulate_command
from routelab.report.rows.study_rows import StudyRows
from routelab.report.tables import build_table
from routelab.simulation.flow.settings import FlowSettings
from routelab.simulation.smpi.plugin import SmpiEngine
from routelab.study import Figure, Reference, Source, Table


def views(world):
    return StudyRows(world.records, world.simulated, world.flows)


def table(world, reference=None, **spec):
    view = Table(of="flows", **spec)
    return build_table("t", view, views(world).flows, reference, "here: ")


def test_a_row_is_a_run_with_its_machine_job_and_table(world):
    world.add("dor", "4x2", load=[5])
    world.flow(
        "dor",
        workload="npb-cg~class=S",
        alias="CG",
        facts={"timed_s": 2.0, "latency": 1e-6, "ranks": 8},
        machine="fast",
        overhead=1e-7,
    )
    world.flow("rdr", status="unsupported")
    frame = views(world).flows.frame
    assert frame["workload"].tolist() == ["CG", "osu-alltoall"]
    assert frame["program"].tolist() == ["npb-cg", "osu-alltoall"]
    assert frame["status"].tolist() == ["ok", "unsupported"]
    # what the settings leave to the machine, and what they say of it
    assert frame["flow.latency"][0] == frame["latency"][0] == 1e-6
    assert frame["flow.overhead"][0] == 1e-7
    assert frame["max_load"][0] == 5
    assert frame["nodes"].tolist() == [8, 8]
    assert frame["flow"][0] == "machine=fast,overhead=1e-07"


def measured(world):
    """A reference with runs of 10, 20, 30 and 40 s, and one of 10 s."""
    for seed, seconds in enumerate((40.0, 10.0, 30.0, 20.0)):
        facts = {"timed_s": seconds, "mops": 120 / seconds}
        world.flow(f"bfs~tie_seed={seed}", facts=facts, parameters={"tie_seed": str(seed)})
    world.flow("ours", facts={"timed_s": 10.0, "mops": 12.0})


def test_runs_are_compared_with_the_median_of_a_routing_which_stays(world):
    measured(world)
    rows = table(
        world,
        rows=["routing"],
        values=["timed_s", "timed_s_ratio", "improvement_percent"],
        relative={"to": "bfs", "column": "timed_s", "median": True},
        over={"tie_seed": "median"},
    ).rows
    assert [row["routing"] for row in rows] == ["bfs", "ours"]
    # of 10, 20, 30 and 40, the lower median is 20
    assert [row["timed_s"] for row in rows] == [20, 10]
    assert rows[1]["timed_s_ratio"] == pytest.approx(1 / 2)
    assert [row["improvement_percent"] for row in rows] == pytest.approx([0, 100])


@pytest.mark.parametrize("column", ["timed_s", "mops"])
def test_an_improvement_is_that_of_the_values_in_its_row(world, column):
    measured(world)
    for seed, seconds in enumerate((5.0, 8.0)):
        facts = {"timed_s": seconds, "mops": 120 / seconds}
        parameters = {"tie_seed": str(seed)}
        world.flow(f"even~tie_seed={seed}", facts=facts, parameters=parameters)
    rows = table(
        world,
        rows=["routing"],
        values=[column, "improvement_percent", f"{column}_gain"],
        relative={"to": "bfs", "column": column, "median": True},
        over={"tie_seed": "median"},
    ).rows
    base = rows[0][column]
    assert [row["routing"] for row in rows] == ["bfs", "ours", "even"]
    for row in rows:
        ratio = row[column] / base if column == "mops" else base / row[column]
        assert row["improvement_percent"] == pytest.approx(100 * (ratio - 1))
        assert row[f"{column}_gain"] == pytest.approx(100 * (1 - row[column] / base))


def test_more_is_better_where_a_column_says_so(world):
    measured(world)
    (row,) = table(
        world,
        rows=["routing"],
        statistics={"improvement_percent": ["median"]},
        relative={"to": "bfs", "column": "mops"},
        over={"tie_seed": "range"},
    ).rows
    # against 12 and against 3 million operations per second
    assert row["improvement_percent_median_low"] == pytest.approx(0)
    assert row["improvement_percent_median_high"] == pytest.approx(300)


def test_only_runs_of_the_same_workload_and_settings_are_compared(world):
    for workload, seconds in (("osu-alltoall", 8.0), ("tornado", 2.0)):
        world.flow("bfs", workload=workload, facts={"timed_s": seconds})
        world.flow("ours", workload=workload, facts={"timed_s": 1.0})
    world.flow("ours", facts={"timed_s": 1.0}, latency=1e-3)
    rows = table(
        world,
        rows=["workload", "routing", "flow"],
        values=["timed_s_reference"],
        relative={"to": "bfs", "column": "timed_s"},
    ).rows
    assert [(row["workload"], row["timed_s_reference"]) for row in rows] == [
        ("osu-alltoall", 8),
        ("tornado", 2),
    ]


@pytest.fixture
def published(tmp_path):
    (tmp_path / "table.csv").write_text("benchmark,routing,mops,cov\nA2A,ours,7,0.5\n")
    source = Source(key="k", title="t", authors=["a"], tables={"table.csv": "x"})
    return Reference(tmp_path, source)


def test_columns_have_the_names_of_a_publication_and_stand_beside_some_of_it(world, published):
    world.flow("bfs", alias="A2A", facts={"mops": 4.0}, parameters={"tie_seed": "0"})
    world.flow("ours", alias="A2A", facts={"mops": 5.0})
    beside = {"reference": "table.csv", "on": ["benchmark", "routing"], "columns": ["mops"]}
    spec = {
        "names": {"benchmark": "workload"},
        "rows": ["benchmark", "routing"],
        "values": ["mops"],
        "over": {"tie_seed": "median"},
        "runs": False,
    }
    built = table(world, published, **spec, beside=beside)
    assert [column.name for column in built.columns] == [
        *("benchmark", "routing", "mops", "paper_mops")
    ]
    assert [(row["mops"], row["paper_mops"]) for row in built.rows] == [(4, None), (5, 7)]
    with pytest.raises(InputError, match="has no column mop; it has"):
        table(world, published, **spec, beside={**beside, "columns": ["mop"]})


def test_a_column_distinguishes_engines(world):
    """SimGrid has no tables: its rows have facts, and no channels to draw."""
    channels = [{"channel": k, "source": "a", "share": k / 4} for k in range(4)]
    world.flow("dor", facts={"timed_s": 1.0}, tables={"channels": channels})
    world.flow("dor", facts={"timed_s": 2.0}, engine=SmpiEngine)
    rows = table(world, rows=["routing", "engine"], values=["timed_s"]).rows
    assert [(row["engine"], row["timed_s"]) for row in rows] == [("flow", 1.0), ("smpi", 2.0)]
    figure = Figure(kind="ecdf", of="flow-channels", x="share")
    assert len(draw_figure(FigureRequest(figure, views(world).flows, (), "here: ")).data) == 4
    record = world.flows[-1]
    assert record.settings_id == "engine=smpi"
    assert simulate_command(record, record.engine).endswith("osu-alltoall --engine smpi")


def test_the_command_of_a_row_means_its_settings(world):
    settings = {
        "machine": "desmos",
        "ranks_per_node": 4,
        "handshake": False,
        "collectives": "alltoall=linear+bcast=binomial",
        "latency": 1e-6,
    }
    record = world.flow("dor", workload="npb-cg~class=S", **settings)
    command = simulate_command(record, record.engine)
    assert command.startswith("routelab simulate torus~dims=4x2 dor npb-cg~class=S --engine flow ")
    parser = argparse.ArgumentParser()
    simulate.add_parser(_Subparsers(parser))
    words = command.split()[2:]
    parsed = vars(parser.parse_args(words))
    assert settings_from_options(FlowSettings, parsed) == FlowSettings(**settings)


class _Subparsers:
    """Adds a command's options to a parser of its own."""

    def __init__(self, parser):
        self._parser = parser

    def add_parser(self, name, add_late_options, **more):
        add_late_options(self._parser)
        return self._parser
