"""Studies with traffic: which simulations they stand for, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.jobs.job import MAX_ID
from routelab.simulation.packet.plugin import PacketEngine
from routelab.workflow.parts.settings import DEFAULT, settings_id
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.plan.preview import check_studies

STUDY = """\
title: Simulated
topologies: [torus~dims=4, torus~dims=4x4]
routings: [dor, rdr]
traffic: [uniform, {tornado: {shift: {sweep: ["1", "2"]}}}, {use: transpose, as: turned}]
simulation: {loads: [0.1], vcs: {sweep: [2, 4]}}
limits: {seconds: 60, memory_gb: 2}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(text, name="simulated"):
        path = Path(f"{name}.yaml")
        path.write_text(text)
        return path

    return write


def mistakes(path):
    with pytest.raises(InputError) as raised:
        expand_studies([path])
    return str(raised.value).splitlines()


def test_every_routing_meets_all_traffic_and_settings_and_only_tables_are_routed(write):
    path = write(STUDY)
    plan = expand_studies([path])
    assert {routing for _, routing in plan.of("routes")} == {"dor"}
    shown = plan.studies["simulated"]
    simulations = shown.ids("simulations")
    assert simulations == tuple(plan.of("simulations"))
    assert len(simulations) == 2 * 2 * 4 * 2
    assert simulations[0] == ("torus~dims=4", "dor", "uniform", "vcs=2,loads=0.1")
    assert {ids[2] for ids in simulations} == {
        "uniform",
        "tornado~shift=1",
        "tornado~shift=2",
        "turned",
    }
    job = plan.of("simulations")["torus~dims=4x4", "rdr", "turned", "loads=0.1"]
    assert (job.text, job.work, job.limits.seconds) == ("rdr", "transpose", 60)
    assert job.engine == "packet~loads=0.1"
    (summary,) = check_studies([path])
    assert "32 simulations" in summary


def test_a_job_s_fingerprint_is_that_of_its_settings_traffic_and_engine(write):
    before = expand_studies([write(STUDY)]).of("simulations")
    assert len({job.fingerprint for job in before.values()}) == len(before)
    assert expand_studies([write(STUDY)]).of("simulations") == before
    after = expand_studies([write(STUDY.replace("loads: [0.1]", "loads: [0.1], precision: 0.5"))])
    for ids, job in before.items():
        other = (*ids[:3], f"{ids[3]},precision=0.5")
        assert after.of("simulations")[other].fingerprint != job.fingerprint


def test_settings_name_a_folder(write):
    assert settings_id(PacketEngine()) == DEFAULT
    many = tuple(k / 1000 for k in range(1, 100))
    assert len(settings_id(PacketEngine(loads=many))) == 16 < MAX_ID
    assert settings_id(PacketEngine(loads=many, vcs=2)) != settings_id(PacketEngine(loads=many))


def test_a_routing_without_a_table_needs_traffic(write):
    path = write("title: t\ntopologies: [torus~dims=4]\nroutings: [dor, rdr]\n")
    (line,) = mistakes(path)
    assert line == (
        f"{path}:3: routings[1]: rdr decides hop by hop and has no route table, so it can only be "
        "simulated: add 'traffic'"
    )


def test_all_mistakes_of_settings_are_reported_together(write):
    path = write(
        """\
title: t
topologies: [torus~dims=4]
routings: [dor]
traffic: [uniform]
simulation:
  load: [0.1]
  vcs: {sweep: [0, 4]}
  packet_flits: {swep: 3}
  buffer_flits: many
"""
    )
    lines = [line.removeprefix(f"{path}:") for line in mistakes(path) if line.startswith(str(path))]
    places = [
        *("8: simulation.packet_flits: ", "6: simulation.load: ", "7: simulation.vcs: 0 "),
        "9: simulation.buffer_flits: ",
    ]
    assert len(lines) == len(places)
    for place in places:
        assert any(line.startswith(place) for line in lines), place


def test_all_mistakes_of_entries_are_reported_together(write):
    path = write(
        """\
title: t
topologies: [torus~dims=4]
routings: [dorr]
traffic:
  - uniforn
  - {use: uniform, on: {sample: 3}}
  - {tornado: {shft: 1}}
"""
    )
    lines = [line.removeprefix(f"{path}:") for line in mistakes(path) if line.startswith(str(path))]
    places = [
        *("3: routings[0]: ", "5: traffic[0]: ", "6: traffic[1]: on: ", "7: traffic[2]: "),
    ]
    assert len(lines) == len(places)
    for place in places:
        assert any(line.startswith(place) for line in lines), place


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("simulation: {vcs: 2}\n", "'simulation' needs 'traffic'"),
        ("traffic: [uniform]\nsurvey: true\n", "a survey does not simulate"),
        (
            "tables: {t: {of: loads, rows: [routing], values: [load]}}\n",
            "tables.t: nothing is simulated; add 'traffic'",
        ),
        ("traffic: [uniform]\nsimulation: {vcs: 2, buffer_flits: 1, packet_flits: 8}\n", "no pack"),
        ("traffic: [uniform]\nsimulation: 3\n", "simulation: 3 should be a valid dictionary"),
    ],
)
def test_contradictory_keys_are_rejected(write, more, message):
    lines = mistakes(write("title: t\ntopologies: [torus~dims=4]\nroutings: [dor]\n" + more))
    assert any(message in line for line in lines), lines


def test_a_routing_runs_on_the_families_that_it_names(write):
    path = write(
        STUDY.replace("[torus~dims=4, torus~dims=4x4]", "[torus~dims=4, mesh~dims=3]").replace(
            "rdr]", "{use: rdr, on: {families: [mesh]}}]"
        )
    )
    pairs = {
        (topology, routing) for topology, routing, *_ in expand_studies([path]).of("simulations")
    }
    assert pairs == {("torus~dims=4", "dor"), ("mesh~dims=3", "dor"), ("mesh~dims=3", "rdr")}
