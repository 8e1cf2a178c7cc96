"""What is measured on this machine ends with the run, and the fabric is restored."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from process_trees import Processes, left_after, wait_until

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.usefixtures("default_signals"),
]

CLUSTER = """\
launcher: mpiexec
nodes: 2
benchmarks: {{npb: {folder}}}
fabric:
  apply: [{folder}/hook, apply]
  restore: [{folder}/hook, restore]
"""

STUDY = """\
title: A routing, measured here
topologies: [torus~dims=2]
routings: [angara-bfs]
benchmarks: [{use: "npb~kernel=lu,class=W", as: lu}]
bench: {cluster: ../../here.yaml, repeats: 1, warm_up: 0, seconds: 300, predict: false}
"""


@pytest.fixture
def measuring(tmp_path):
    """A run whose benchmark hangs: the folder, Snakemake, and the processes below it."""
    for name, text in (
        ("lu.W.x", "#!/bin/sh\nsleep 600\n"),
        ("hook", f"#!/bin/sh\necho $1 >> {tmp_path}/calls\n"),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "here.yaml").write_text(CLUSTER.format(folder=tmp_path))
    (tmp_path / "config/studies").mkdir(parents=True)
    (tmp_path / "config/config.yaml").write_text("studies: [here]\n")
    (tmp_path / "config/studies/here.yaml").write_text(STUDY)
    words = ["--snakefile", str(ROOT / "Snakefile"), "--cores", "2"]
    with (tmp_path / "printed").open("w") as printed:
        run = subprocess.Popen(
            [BIN / "snakemake", *words, "report", "--config", "apply_routing=true"],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )

    def below() -> list[int]:
        return Processes().below(run.pid)

    try:
        wait_until(
            lambda: (
                run.poll() is not None
                or sum(Processes().command.get(pid) == "sleep 600" for pid in below()) == 2
            ),
            240,
            "the benchmark does not start",
        )
        logs = "".join(path.read_text() for path in tmp_path.glob("results/logs/**/*.log"))
        assert run.poll() is None, (tmp_path / "printed").read_text() + logs
        yield tmp_path, run, Processes().identities(below())
    finally:
        if run.poll() is None:  # else its number may be that of another process
            for pid in [*below(), run.pid]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        run.wait()


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.thorough), signal.SIGKILL]
)
def test_a_benchmark_ends_with_snakemake_and_the_fabric_is_restored(measuring, number):
    folder, run, processes = measuring
    assert shutil.which("mpiexec.mpich")
    os.kill(run.pid, number)
    assert left_after(processes, 60.0) == []
    assert (folder / "calls").read_text().split() == ["apply", "restore"]
    run.wait(60)
