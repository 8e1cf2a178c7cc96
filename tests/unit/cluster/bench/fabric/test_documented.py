"""What docs/concepts/fabrics.md shows: the script, and the tables of the example."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from routelab.cluster.bench.fabric.fabric import Fabric, FabricError, FabricJob
from routelab.cluster.bench.fabric.files import fabric_problems, write_fabric_files
from routelab.cluster.bench.fabric.switching import LoggedSwitch
from routelab.registry.instances import load
from routelab.routing.routing import Routing
from routelab.study.cluster.fabric import FabricCommands
from routelab.toolkit import build_grid

PAGE = (Path(__file__).parents[5] / "docs/concepts/fabrics.md").read_text(encoding="utf-8")


@pytest.fixture
def script(tmp_path, monkeypatch):
    path = tmp_path / "switch-routing"
    path.write_text(re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)[1])
    path.chmod(0o755)
    monkeypatch.setenv("SWITCH_ROUTING_STATE", str(tmp_path / "state"))
    return path


@pytest.fixture
def job(tmp_path):
    (tmp_path / "a folder").mkdir()
    table = Routing.from_name("angara-sssp").table(build_grid("torus", (3, 2), wrap=True))
    hosts = tuple(f"n{number}" for number in range(6))
    return FabricJob("angara-sssp", table, hosts, tmp_path / "a folder", "torus~dims=3x2")


def test_the_script_records_applies_and_restores(script, job, tmp_path):
    apply, restore = [str(script), "apply", "{folder}"], [str(script), "restore"]
    fabric = Fabric(FabricCommands(apply=apply, restore=restore))
    assert fabric_problems(fabric, job) == []
    run = LoggedSwitch(tmp_path / "log").run
    with pytest.raises(FabricError, match="exit code 2"):
        fabric.apply(job, run)  # nothing was rendered
    files = write_fabric_files(fabric, job)
    fabric.apply(job, run)
    active = tmp_path / "state" / "active"
    assert {path.name: path.read_text() for path in active.iterdir()} == files
    # what is active is what was meant
    table = load("export", "angara").read(
        {path.name: path.read_text() for path in active.iterdir()}
    )
    assert table.hop_channel.tolist() == job.table.hop_channel.tolist()
    fabric.restore(job, run)
    fabric.restore(job, run)
    assert not active.exists()
    noted = (tmp_path / "state" / "log").read_text().splitlines()
    assert [line.split(" ", 1)[1] for line in noted] == ["apply 6 tables", "restore", "restore"]


def test_the_script_rejects_unknown_commands(script):
    assert subprocess.run([script, "turn"], capture_output=True, check=False).returncode == 2
