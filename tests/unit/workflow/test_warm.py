"""Which kernels are compiled ahead of the jobs, and when again."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab._runtime import sources
from routelab.jobs.job import Rehearsal
from routelab.workflow.stages.routes import RouteJob
from routelab.workflow.warm import cold

KERNEL = "import numba\n\n@numba.njit(cache=True)\ndef f(): return 1\n"


def test_an_edited_plugin_is_rehearsed_again_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    sources.forget()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"from {name}.kernels import f\n")
        (tmp_path / name / "kernels.py").write_text(KERNEL)
    job = RouteJob(folder="results/x", topology="y", text="one", classes=("one:One",))

    def left(*names: str) -> list[str]:
        rehearsals = [Rehearsal(("routes", n), n, print, (f"{n}:Plugin",)) for n in names]
        found = cold([(one, job) for one in rehearsals])
        for marker in found:
            marker.touch()
        return [rehearsal.name for rehearsal, _ in found.values()]

    assert left("one") == ["one"]
    assert left("one", "two") == ["two"]  # as if it had been installed
    assert left("one", "two") == []
    (tmp_path / "two" / "kernels.py").write_text(KERNEL.replace("1", "2"))
    assert left("one", "two") == ["two"]
    (tmp_path / "two" / "kernels.py").write_text(KERNEL)
    assert left("one", "two") == []
    monkeypatch.setattr("numba.__version__", "0.1")
    assert left("one", "two") == ["one", "two"]
