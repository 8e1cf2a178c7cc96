"""The file that jobs on nodes read instead of expanding studies."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import pytest

from routelab.api import InputError
from routelab.jobs.batches import Batch, write_jobs
from routelab.jobs.job import BaseJob
from routelab.study.study import Limits
from routelab.workflow.plan.plan import Plan
from routelab.workflow.plan.steps import make_steps
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.stages.topologies import TopologyJob
from routelab.workflow.step_file import VARIABLE, read_steps, wait_for_list, write_steps


@pytest.fixture
def plan(tmp_path) -> Plan:
    network = TopologyJob(folder="r/net", text="torus", inputs=("links.csv",))
    routes = RouteJob(folder="r/dor", topology="net", text="dor", limits=Limits(seconds=120))
    batches = (
        Batch("topologies", "small-1", (network,)),
        Batch("routes", "small-1", (routes,), after=(("topologies", "small-1"),)),
    )
    keys = {(batch.kind, batch.id): batch for batch in batches}
    return Plan(tmp_path, {}, {}, keys)


def test_steps_have_what_the_plan_says(plan):
    steps = make_steps(plan, 240)
    for batch in plan.batches.values():
        step = steps[str(plan.spec(batch))]
        kinds = {key[0] for key in batch.after}
        assert {kind: list(step.before[kind]) for kind in step.before} == {
            kind: plan.manifests_before(batch, kind) for kind in kinds
        }
        assert list(step.work) == plan.work(batch) == [step.spec]
        assert (step.inputs, step.priority) == (batch.inputs, batch.priority)
        assert step.fingerprint == batch.fingerprint
    assert step.minutes == 15 + 2
    plan.unlisted.add(("routes", "small-1"))
    assert make_steps(plan, 240)[step.spec].work == ()


def test_a_job_reads_the_steps_of_its_run(plan, tmp_path, monkeypatch):
    steps = make_steps(plan, 240)
    monkeypatch.setenv(VARIABLE, str(write_steps(steps, tmp_path / "steps")))
    read = read_steps()
    assert json.dumps({k: vars(v) for k, v in read.items()}, sort_keys=True) == json.dumps(
        {k: vars(v) for k, v in steps.items()}, sort_keys=True
    )


def test_a_job_of_an_earlier_run_ends_with_one_line(plan, tmp_path, monkeypatch):
    earlier = write_steps(make_steps(plan, 240), tmp_path / "steps")
    later = write_steps(make_steps(plan, 240), tmp_path / "steps")
    assert earlier != later
    monkeypatch.setenv(VARIABLE, str(earlier))
    with pytest.raises(SystemExit) as end:
        read_steps()
    assert end.value.code == "The run of this job has ended, so the job does nothing."


def test_without_a_file_there_are_no_steps(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert read_steps() is None


def write_list(plan: Plan, *jobs: BaseJob) -> Batch:
    batch = plan.batches["routes", "small-1"]
    write_jobs(jobs or batch.jobs, plan.spec(batch), plan.results)
    return batch


def test_a_batch_waits_for_the_list_of_its_run(plan, tmp_path, monkeypatch):
    spec = plan.spec(write_list(plan, RouteJob(folder="r/old", topology="net", text="dor")))
    wait_for_list(spec, 0)  # no job of a cluster
    monkeypatch.setenv(VARIABLE, str(write_steps(make_steps(plan, 240), tmp_path / "steps")))
    with pytest.raises(InputError, match="is not the list of work that its run has written"):
        wait_for_list(spec, 0)
    timer = threading.Timer(0.2, write_list, [plan])
    timer.start()
    wait_for_list(spec, 60)
    timer.join()
    wait_for_list(tmp_path / "another.json", 0)


def test_jobs_on_nodes_import_no_plan():
    code = (
        "import sys, routelab.workflow.entry, routelab.workflow.cluster_options;"
        "print([n for n in sys.modules if n.startswith(('routelab.workflow.plan', 'numba',"
        " 'routelab.workflow.stages', 'routelab.study', 'numpy', 'pydantic'))])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
