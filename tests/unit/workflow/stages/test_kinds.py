"""What all kinds of jobs have in common: files and fingerprints."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from routelab.api import InputError
from routelab.cluster.bench.comparison import Comparison
from routelab.jobs.batches import read_jobs, run_batch, write_jobs
from routelab.jobs.job import BaseJob
from routelab.results.json_files import read_json, write_json
from routelab.results.missing_results import loss_sentences
from routelab.results.outcome import read_outcome
from routelab.study import Limits
from routelab.workflow import stages as package
from routelab.workflow.console import job_title, problem_lines
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
    found = {job.kind: job for job in plan.jobs.values()}
    assert set(found) == set(kinds()) == set(IN_FINGERPRINTS)
    assert all(type(job) is kinds()[kind] for kind, job in found.items())
    return found


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
            return Limits(seconds=value.seconds + 1, memory_gb=99, idle_seconds=9)
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
    assert (read.title, read.labels, read.base_name) == (job.title, job.labels, job.base_name)


def test_numbers_are_the_same_in_files(jobs, tmp_path):
    """A default may be 60, which files hold as 60.0."""
    for seconds in (60, 60.0):
        job = replace(jobs["bounds"], seconds=seconds)
        write_jobs([job], tmp_path / "spec.json")
        assert read_jobs(tmp_path / "spec.json")[0].fingerprint == jobs["bounds"].fingerprint


@pytest.mark.parametrize("kind", IN_FINGERPRINTS)
def test_a_fingerprint_depends_on_the_inputs_of_the_result_only(jobs, kind):
    job = jobs[kind]
    found = {
        field.name
        for field in fields(job)
        if replace(job, **{field.name: changed(getattr(job, field.name))}).fingerprint
        != job.fingerprint
    }
    assert found == IN_FINGERPRINTS[kind]
    assert replace(job, digest="").fingerprint == ""


def test_only_a_kind_of_job_is_read(jobs, tmp_path):
    path = tmp_path / "spec.json"
    write_jobs([jobs["topologies"]], path)
    content = read_json(path, "batch/2")
    for name in ("os:system", "routelab.jobs.job:Rehearsal", "nowhere:Job", "no-name"):
        content["jobs"][0]["class"] = name
        write_json(path, content)
        with pytest.raises(InputError, match="is not a list of jobs as this version of routelab"):
            read_jobs(path)


# --- a kind that the core does not know -------------------------------------------------------

SCRATCH = '''
"""How many letters the name of a network has."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from routelab.api import UnsupportedError
from routelab.jobs.folder_job import FolderJob, Result, Task
from routelab.jobs.job import Rehearsal
from routelab.workflow.stages.networks import network_jobs


@dataclass(frozen=True, kw_only=True)
class LettersJob(FolderJob):
    kind = "letters"
    outcome_kind = "letters"
    nouns = "count of letters", "counts of letters"
    order = 9
    per_batch = 2

    least: int = 0

    @classmethod
    def plan(cls, parts) -> Iterable["LettersJob"]:
        for id_, network in network_jobs(parts).items():
            yield cls(
                folder=cls.folder_of(parts.results, (id_,)),
                ids=(id_,),
                text=network.text,
                digest="1",
                needs=(network.folder,),
                limits=parts.study.limits,
                network=network.text,
                least=12,
            )

    def content(self):
        return (str(self.least),)

    def rehearsals(self):
        return (Rehearsal(("letters",), "letters", lambda: Path("rehearsed").touch()),)

    def load(self):
        return Task(topology=self.text, facts={"least": self.least}), self.count

    def count(self, facts):
        if "4x4" in self.text:
            raise ValueError("I do not like it")
        if len(self.text) < self.least:
            raise UnsupportedError("too short")
        return Result({"letters": len(self.text)}, self.write)

    def write(self, folder, provenance):
        (folder / "letters.txt").write_text(f"{len(self.text)}\\n")
'''


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A module with a kind of job, put among the others."""
    folder = tmp_path / "more_kinds"
    folder.mkdir()
    (folder / "scratch_letters.py").write_text(SCRATCH)
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
    monkeypatch.chdir(tmp_path)
    kinds.cache_clear()
    yield kinds()["letters"]
    kinds.cache_clear()


def test_a_new_kind_is_planned_run_resumed_and_reported_by_the_core_as_it_is(scratch):
    assert list(kinds())[-1] == "letters"
    Path("s.yaml").write_text(
        "title: t\ntopologies: ['torus~dims=4', 'torus~dims=4x4', 'torus~dims=4x2', "
        "'mesh~dims=2']\nroutings: [dor]\nmetrics: [route-length]\n"
    )
    plan = expand_studies([Path("s.yaml")])
    assert plan.studies["s"].ids("letters") == tuple(plan.of("letters"))
    cut = {id_: batch for (kind, id_), batch in plan.batches.items() if kind == "letters"}
    assert {id_: len(batch.jobs) for id_, batch in cut.items()} == {
        "s-1": 2,
        "s-2": 2,
    }
    assert cut["s-1"].after == (("topologies", "s-1"),)
    assert set(map(str, map(plan.manifest, cut.values()))) <= set(plan.manifests(plan.studies["s"]))
    assert ("letters",) in plan.rehearsals()
    line = job_title(plan, "letters", {"study": "s", "batch": "1"})
    assert line == "counts of letters of s, part 1 of 2 (2 jobs)"

    plan.write_specs()
    for batch in cut.values():
        assert run_batch(plan.spec(batch), plan.manifest(batch)) == len(batch.jobs)
    assert Path("rehearsed").exists()
    statuses = {
        end["folder"]: (end["status"], end["reason"])
        for batch in cut.values()
        for end in json.loads(plan.manifest(batch).read_text())["outcomes"]
    }
    assert {folder.rpartition("/")[2]: status for folder, (status, _) in statuses.items()} == {
        "torus~dims=4": "ok",
        "torus~dims=4x4": "failed",
        "torus~dims=4x2": "ok",
        "mesh~dims=2": "unsupported",
    }
    outcome = read_outcome(Path("results/s/letters/torus~dims=4x2/outcome.json"))
    assert (outcome.kind, outcome.facts) == ("letters", {"letters": 14})
    assert Path("results/s/letters/torus~dims=4x2/letters.txt").read_text() == "14\n"
    assert read_outcome(Path("results/s/letters/mesh~dims=2/outcome.json")).facts == {"least": 12}

    (line,) = [line for batch in cut.values() for line in problem_lines(batch.jobs)]
    assert line.startswith("count of letters torus~dims=4x4: failed: ")
    assert "I do not like it (" in line
    failed, short = [one for one in loss_sentences(plan.statuses()) if "letters" in one]
    assert failed.startswith("1 of 4 counts of letters of s failed: ValueError: I do not like it (")
    assert short == "1 of 4 counts of letters of s does not apply to its network: too short"
    # what failed is tried again, and nothing else
    assert [job.title for job in plan.jobs_to_repeat()] == ["torus~dims=4x4"]
    again = {id_: run_batch(plan.spec(one), plan.manifest(one)) for id_, one in cut.items()}
    assert again == {"s-1": 0, "s-2": 1}
