"""Studies with workloads: which flow simulations they stand for, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.plan.preview import check_studies

STUDY = """\
title: Run
topologies: [torus~dims=4, torus~dims=4x4]
routings: [dor, angara-sssp]
workloads: [{use: "npb-cg~class=S", as: CG}, osu-alltoall]
flow:
  machine: fast
  latency: {sweep: [1.0e-6, 2.0e-6]}
  iterations: {by: {CG: 2}}
limits: {seconds: 60, memory_gb: 2}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    Path("config/clusters").mkdir()
    Path("config/clusters/fast.yaml").write_text("machine: {link_bandwidth: 4.0e+9}\n")

    def write(text):
        path = Path("config/studies/run.yaml")
        path.write_text(text)
        return path

    return write


def mistakes(path):
    with pytest.raises(InputError) as raised:
        expand_studies([path])
    return [line.removeprefix(f"{path}:") for line in str(raised.value).splitlines()]


def test_every_table_meets_every_workload_with_all_its_settings(write):
    path = write(STUDY)
    plan = expand_studies([path])
    shown = plan.studies["run"]
    flows = shown.ids("flows")
    assert flows == tuple(plan.of("flows"))
    assert len(flows) == 2 * 2 * 2 * 2
    assert not shown.ids("simulations")
    common = "machine=fast,latency=1e-06"
    assert flows[0] == (
        *("torus~dims=4", "dor", "CG"),
        "machine=fast,iterations=2,latency=1e-06",
    )
    assert flows[2] == ("torus~dims=4", "dor", "osu-alltoall", common)
    job = plan.of("flows")["torus~dims=4", "dor", "CG", "machine=fast,iterations=2,latency=1e-06"]
    assert (job.text, job.work, job.limits.seconds) == ("dor", "npb-cg~class=S", 60)
    assert job.engine == "flow~machine=config/clusters/fast.yaml,iterations=2,latency=1e-06"
    assert job.inputs == ("config/clusters/fast.yaml",)
    (summary,) = check_studies([path])
    assert "16 flow simulations" in summary


def test_a_workload_may_run_with_some_of_the_routings(write):
    limited = STUDY.replace("as: CG}", "as: CG, routings: [angara-sssp]}")
    every, some = (expand_studies([write(text)]).of("flows") for text in (STUDY, limited))
    left_out = {ids for ids in every if ids[1:3] == ("dor", "CG")}
    assert len(left_out) == 2 * 2
    assert {ids: job for ids, job in every.items() if ids not in left_out} == some


def test_a_job_s_fingerprint_is_that_of_its_machine_s_file(write):
    path = write(STUDY)
    before = expand_studies([path]).of("flows")
    assert len({job.fingerprint for job in before.values()}) == len(before)
    assert expand_studies([path]).of("flows") == before
    Path("config/clusters/fast.yaml").write_text("machine: {link_bandwidth: 5.0e+9}\n")
    after = expand_studies([path]).of("flows")
    assert all(after[ids].fingerprint != job.fingerprint for ids, job in before.items())


def test_a_placement_is_a_file_of_the_study_s_folder(write):
    text = STUDY.replace("machine: fast", "placement: ranks.txt")
    assert any("ranks.txt" in line for line in mistakes(write(text)))
    Path("config/studies/ranks.txt").write_text("0\n1\n2\n3\n")
    plan = expand_studies([write(text)])
    job = next(iter(plan.of("flows").values()))
    assert job.inputs == ("config/studies/ranks.txt",)
    assert "placement=config/studies/ranks.txt" in job.engine


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "by: {CG: 2}",
            "by: {GC: 2}",
            "workload 'GC' is not part of this study; known: CG, osu-alltoall",
        ),
        ("machine: fast", "machine: fst", "no cluster 'fst'"),
        ("as: CG}", "as: CG, routings: [sssp]}", "routings: the study has no routing 'sssp'; "),
        (", as: CG}", ", routings: [dor]}", "give it an alias with 'as: NAME'"),
        ("[dor,", "[{use: dor, as: d, routings: [d]},", "routings: only workloads run with some"),
        ("workloads:", "# workloads:", "'flow' needs 'workloads': the programs to run"),
        ("limits:", "survey: true\nlimits:", "a survey does not simulate: leave out 'workloads'"),
    ],
)
def test_contradictory_keys_are_rejected(write, old, new, message):
    lines = mistakes(write(STUDY.replace(old, new)))
    assert any(message in line for line in lines), lines
