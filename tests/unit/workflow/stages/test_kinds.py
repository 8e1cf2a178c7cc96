"""What all kinds of jobs have in common: files and fingerprints."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from routelab.api import InputError
from routelab.cluster.bench.comparison import Comparison
from routelab.jobs.batches import read_jobs, write_jobs
from routelab.jobs.job import BaseJob
from routelab.results.json_files import read_json, write_json
from routelab.study import Limits
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages import kinds
from routelab.workflow.stages.surveys import SurveyItem

STUDY = """\
title: Everything
topologies: [torus~dims=4]
routings: [dor, "first@angara"]
metrics: [channel-load]
bound: {any_routing: true}
traffic: [uniform]
simulation: {vcs: 2}
workloads: ["npb-cg~class=S"]
benchmarks: [{use: "npb~kernel=cg,class=S", as: CG}]
bench: {cluster: tiny}
"""
SURVEY = "title: Survey\nsurvey: true\nbound: true\ntopologies: [torus~dims=4]\nroutings: [dor]\n"

ON_NETWORKS = {"text", "digest", "network", "network_digest"}
IN_FINGERPRINTS = {
    "topologies": {"text", "digest"},
    "routes": ON_NETWORKS,
    "metrics": {*ON_NETWORKS, "metrics", "metric_digests"},
    "bounds": {*ON_NETWORKS, "seconds", "exact"},
    "throughput": {*ON_NETWORKS, "loads", "seeds", "seconds"},
    "simulations": {*ON_NETWORKS, "work", "work_digest", "engine", "engine_digest"},
    "flows": {*ON_NETWORKS, "work", "work_digest", "engine", "engine_digest"},
    # the digests of these cover all that is in their other fields
    "comparisons": {"text", "digest"},
    "surveys": {"text", "digest"},
}
"""Fields that change the fingerprint of a job of each kind."""


@pytest.fixture
def jobs(tmp_path, monkeypatch) -> dict[str, BaseJob]:
    """A job of each kind, as studies make them."""
    monkeypatch.chdir(tmp_path)
    Path("clusters").mkdir()
    Path("clusters/tiny.yaml").write_text("ranks_per_node: 2\n")
    Path("all.yaml").write_text(STUDY)
    Path("survey.yaml").write_text(SURVEY)
    plan = expand_studies([Path("all.yaml"), Path("survey.yaml")])
    by_kind = {job.kind: job for job in plan.jobs.values()}
    assert set(by_kind) == set(kinds()) == set(IN_FINGERPRINTS)
    assert all(type(job) is kinds()[kind] for kind, job in by_kind.items())
    return by_kind


def changed(value: Any) -> Any:
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case Limits():
            return Limits(seconds=value.seconds + 1, memory_gb=99)
        case Comparison():
            return replace(value, topology="another")
        case dict():
            return {**value, "another": "digest"}
        case tuple() if value and isinstance(value[0], SurveyItem):
            return (*value, SurveyItem("f", "another"))
        case tuple() if value and isinstance(value[0], tuple):
            return (*value, ("another", ()))
        case tuple():
            return (*value, "another")
    raise AssertionError(f"no other value of {value!r}")


@pytest.mark.parametrize("kind", IN_FINGERPRINTS)
def test_a_job_comes_back_as_it_was_written(jobs, kind, tmp_path):
    job = jobs[kind]
    write_jobs([job], tmp_path / "spec.json", tmp_path / "results")
    (read,) = read_jobs(tmp_path / "spec.json")
    assert type(read) is type(job)
    assert read == job
    assert read.fingerprint == job.fingerprint != ""
    assert (read.title, read.base_name) == (job.title, job.base_name)


def test_numbers_are_the_same_in_files(jobs, tmp_path):
    """A default may be 60, which files hold as 60.0."""
    for seconds in (60, 60.0):
        job = replace(jobs["bounds"], seconds=seconds)
        write_jobs([job], tmp_path / "spec.json")
        assert read_jobs(tmp_path / "spec.json")[0].fingerprint == jobs["bounds"].fingerprint


@pytest.mark.parametrize("kind", IN_FINGERPRINTS)
def test_a_fingerprint_depends_on_the_inputs_of_the_result_only(jobs, kind):
    job = jobs[kind]
    significant = {
        field.name
        for field in fields(job)
        if replace(job, **{field.name: changed(getattr(job, field.name))}).fingerprint
        != job.fingerprint
    }
    assert significant == IN_FINGERPRINTS[kind]
    assert replace(job, digest="").fingerprint == ""


def test_only_a_kind_of_job_is_read(jobs, tmp_path):
    path = tmp_path / "spec.json"
    write_jobs([jobs["topologies"]], path)
    content = read_json(path, "batch/2")
    for name in ("os:system", "routelab.jobs.job:Compilation", "nowhere:Job", "no-name"):
        content["jobs"][0]["class"] = name
        write_json(path, content)
        with pytest.raises(InputError, match="is not a list of jobs as this version of routelab"):
            read_jobs(path)
