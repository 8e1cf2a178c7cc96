"""Which kernels are compiled ahead of the jobs, and when again."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from routelab._runtime import sources
from routelab.jobs.batches import write_jobs
from routelab.jobs.job import Compilation
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.plan.plan import PLAN
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.warm import LOCK, cold_compilations, compile_kernels, wait_for_kernels

KERNEL = "import numba\n\n@numba.njit(cache=True)\ndef f(): return 1\n"


def test_an_edited_plugin_is_compiled_again_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    request.addfinalizer(sources.forget)
    sources.forget()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"from {name}.kernels import f\n")
        (tmp_path / name / "kernels.py").write_text(KERNEL)
    job = RouteJob(folder="results/x", topology="y", text="one", classes=("one:One",))

    def left(*names: str) -> list[str]:
        compilations = [Compilation(("routes", n), n, print, (f"{n}:Plugin",)) for n in names]
        stale = cold_compilations([(compilation, job) for compilation in compilations])
        for marker in stale:
            marker.touch()
        return [compilation.name for compilation, _ in stale.values()]

    assert left("one") == ["one"]
    assert left("one", "two") == ["two"]  # as if it had been installed
    assert left("one", "two") == []
    (tmp_path / "two" / "kernels.py").write_text(KERNEL.replace("1", "12"))
    assert left("one", "two") == ["two"]
    (tmp_path / "two" / "kernels.py").write_text(KERNEL)
    assert left("one", "two") == []
    monkeypatch.setattr("numba.__version__", "0.1")
    assert left("one", "two") == ["one", "two"]


@pytest.fixture
def batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The list of a job whose kernels have no marker, in a results folder with a lock."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    results = tmp_path / "results"
    (results / PLAN).mkdir(parents=True)
    (results / PLAN / LOCK).touch()
    network = str(results / "study/topologies/torus~dims=4")
    job = RouteJob(folder=f"{results}/x", topology=network, text="dor", classes=("dor",))
    write_jobs([job], tmp_path / "spec.json", results)
    return tmp_path / "spec.json"


def is_waiting(batch: Path, after: float) -> bool:
    """Whether a batch still waits for its kernels after some seconds."""
    thread = threading.Thread(target=wait_for_kernels, args=[batch], daemon=True)
    thread.start()
    thread.join(timeout=after)
    return thread.is_alive()


def test_a_batch_waits_for_its_kernels_while_a_run_compiles(batch: Path) -> None:
    assert not is_waiting(batch, after=60)  # nobody compiles, so the jobs do
    with (batch.parent / "results" / PLAN / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert is_waiting(batch, after=1)
        compile_kernels(batch, note=lambda line: None)
        assert not is_waiting(batch, after=60)  # its own are there, others may still be compiled


def test_a_batch_does_not_wait_for_a_run_that_was_killed(batch: Path) -> None:
    with (batch.parent / "results" / PLAN / LOCK).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = threading.Thread(target=wait_for_kernels, args=[batch], daemon=True)
        waiting.start()
    waiting.join(timeout=60)
    assert not waiting.is_alive()


def test_the_first_study_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, routing in (("quick", "dor"), ("long", "angara-genetic")):
        Path(f"{name}.yaml").write_text(
            f"title: t\ntopologies: [torus~dims=4x4x4]\nroutings: [{routing}]\n"
        )
    for names in (("quick", "long"), ("long", "quick")):
        plan = expand_studies([Path(f"{name}.yaml") for name in names])
        batches = sorted(plan.batches.values(), key=lambda batch: -batch.priority)
        studies = [batch.id.rpartition("-")[0] for batch in batches]
        assert studies == sorted(studies, key=names.index)
        for batch in batches:
            assert all(plan.batches[key].priority > batch.priority for key in batch.after)
        jobs = [job for _, job in plan.compilations().values()]
        kernels = [job.folder.split("/")[1] for job in jobs]
        assert set(kernels) == {*names}
        assert kernels == sorted(kernels, key=names.index)
