"""study check finds tables whose rows stand for runs of different names, before anything runs."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.workflow.plan.expansion import expand_studies

STUDY = """\
title: t
topologies: [torus~dims=4x2, torus~dims=4x4]
routings: [dor, {{angara-sssp: {{tie_seed: {{range: 2}}}}}}]
{more}
tables: {{t: {table}}}
"""
TRAFFIC = "traffic: [uniform, tornado]\nsimulation: {loads: [0.1, 0.2]}\n"
FLOWS = (
    "workloads: [{use: osu-alltoall, as: a, routings: [dor]}, "
    "{use: transpose, as: b, routings: [angara-sssp]}]\n"
)


@pytest.fixture
def mistake_of(tmp_path):
    def mistake_of(table, more=""):
        path = tmp_path / "study.yaml"
        path.write_text(STUDY.format(table=table, more=more))
        try:
            expand_studies([path])
        except InputError as error:
            return str(error).partition(": ")[2]
        return ""

    return mistake_of


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        (
            "{rows: [routing], values: [max_load]}",
            "",
            "rows routing do not distinguish topology 'torus~dims=4x2' from 'torus~dims=4x4'",
        ),
        (
            "{rows: [topology], values: [max_load], over: {tie_seed: median}}",
            "",
            "rows topology do not distinguish routing 'dor' from 'angara-sssp'",
        ),
        (
            "{rows: [routing], values: [max_load], where: {topology: torus~dims=4x4}}",
            *("", ""),
        ),
        ("{rows: [routing, dims], values: [max_load]}", "", ""),
        ("{rows: [topology], values: [max_load], count: true}", "", ""),
        ("{rows: [topology], pivot: {by: routing, value: max_load}}", "", ""),
        (
            "{of: simulations, rows: [topology, routing], values: [saturation_load]}",
            TRAFFIC.replace("loads", "find_saturation: true, loads"),
            "rows topology, routing do not distinguish traffic 'uniform' from 'tornado'",
        ),
        ("{of: flows, rows: [topology, routing], values: [completion_time_s]}", FLOWS, ""),
        (
            "{of: flows, rows: [topology, routing], values: [completion_time_s]}",
            FLOWS.replace("[angara-sssp]", "[dor]"),
            "rows topology, routing do not distinguish workload 'a' from 'b'",
        ),
    ],
)
def test_rows_that_stand_for_different_runs_are_refused(mistake_of, table, more, said):
    answer = mistake_of(table, more)
    assert answer.startswith(f"tables.t: {said}") if said else not answer, answer


def test_a_routing_without_a_table_has_no_row_of_benchmarks(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "title: t\ntopologies: [torus~dims=4]\nroutings: [dor, minimal-adaptive]\n"
        "traffic: [uniform]\nsimulation: {loads: [0.1]}\nworkloads: [osu-alltoall]\n"
        "tables: {t: {of: flows, rows: [workload], values: [completion_time_s]}}\n"
    )
    expand_studies([path])
    path.write_text(path.read_text().replace("minimal-adaptive", "angara-sssp"))
    with pytest.raises(InputError, match="do not distinguish routing 'dor' from 'angara-sssp'"):
        expand_studies([path])
