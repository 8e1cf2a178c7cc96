"""`routelab bench` without any cluster: the branches that end with a message."""

from __future__ import annotations

from pathlib import Path

import pytest

from routelab.cli import main
from routelab.jobs.batches import run_batch, write_jobs
from routelab.workflow.plan.expansion import expand_studies


def test_a_planned_comparison_needs_its_list(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "nowhere.json")
    assert main(["bench", "--comparison", missing, "-o", str(tmp_path / "done.json")]) == 2
    assert missing in capsys.readouterr().err


def test_an_unknown_cluster_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "--cluster", "nowhere", "--benchmark", "npb"]) == 2
    printed = capsys.readouterr().err
    assert "cluster: no cluster 'nowhere'" in printed
    assert "Traceback" not in printed


CLUSTER = """\
topology: torus~dims=4
program: {folder}/mpiexec
benchmarks: {{npb: {folder}/mpiexec}}
"""


def test_routings_are_applied_only_where_something_switches_between_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    Path("mine.yaml").write_text(CLUSTER.format(folder=tmp_path))
    alone = ["bench", "--cluster", "mine.yaml", "--benchmark", "npb", "--routing", "dor"]
    two = [*alone, "--routing", "angara-sssp"]
    for words in ([*two, "--apply-routing"], [*two, "--apply-routing", "--dry-run"]):
        assert main(words) == 2
        error = capsys.readouterr().err
        assert "mine.yaml: fabric: nothing switches between the 2 routings: " in error
        assert "; add what switches them (fabric: {apply: " in error
    assert not list(tmp_path.rglob("ran"))
    # what compares nothing, and what applies nothing, goes on as before
    for words in ([*two, "--dry-run"], [*alone, "--apply-routing", "--dry-run"]):
        assert main(words) == 0
        assert "runs are missing" in capsys.readouterr().out


def test_commands_are_shown_where_the_programs_of_the_fabric_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    fabric = "fabric: {export: '', apply: [no-such-sudo, -n, load], restore: ['true']}\n"
    Path("mine.yaml").write_text(CLUSTER.format(folder=tmp_path) + fabric)
    command = ["bench", "--cluster", "mine.yaml", "--benchmark", "npb", "--routing", "dor"]
    assert main([*command, "--apply-routing", "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert "no-such-sudo -n load\n" in printed.out
    assert "apply: program no-such-sudo is not found or not executable" in printed.err
    assert main([*command, "--apply-routing"]) == 2
    assert "apply: program no-such-sudo is not found or not executable" in capsys.readouterr().err
    assert not list(tmp_path.rglob("ran"))


def test_routings_with_equal_tables_are_named_before_the_first_launch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a ring of two switches there is one table; it is measured for each routing."""
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    fabric = "fabric: {export: '', apply: ['true'], restore: ['true']}\n"
    text = CLUSTER.format(folder=tmp_path).replace("dims=4", "dims=2")
    Path("mine.yaml").write_text(text + fabric)
    routings = ["--routing", "dor", "--routing", "dfsssp"]
    command = ["bench", "--cluster", "mine.yaml", "--benchmark", "npb", *routings, "--dry-run"]
    said = "# dor, dfsssp apply equal tables: differences between them are noise\n"
    assert main([*command, "--apply-routing"]) == 0
    assert said in capsys.readouterr().out


def test_commands_are_shown_where_slurm_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    text = CLUSTER.format(folder=tmp_path).replace(f"program: {tmp_path}/mpiexec", "launcher: srun")
    Path("mine.yaml").write_text(text + "hosts: n[01-04]\n")
    (tmp_path / "mpiexec").write_text("#!/bin/sh\n")
    (tmp_path / "mpiexec").chmod(0o755)
    command = ["bench", "--cluster", "mine.yaml", "--benchmark", "npb", "--routing", "dor"]
    assert main([*command, "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert "\nsalloc --nodes=4 '--nodelist=n[01-04]'" in printed.out
    assert "no salloc" in printed.err
    assert main(command) == 2


STUDY = """\
title: Measured
topologies: [torus~dims=4]
routings: [dor, angara-sssp]
benchmarks: [npb]
bench: {cluster: ../mine.yaml, repeats: 1, warm_up: 0, predict: false}
"""


def test_commands_of_a_planned_comparison_are_shown_and_nothing_is_started_or_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    for name in ("mpiexec", "salloc", "load-routes"):
        (tmp_path / name).write_text(f"#!/bin/sh\n: > {tmp_path}/started\n")
        (tmp_path / name).chmod(0o755)
    text = CLUSTER.format(folder=tmp_path).replace(f"program: {tmp_path}/mpiexec", "launcher: srun")
    text += f"program: {tmp_path}/mpiexec\nhosts: n[01-04]\n"
    text += "fabric: {apply: [load-routes], restore: [load-routes]}\n"
    Path("mine.yaml").write_text(text)
    Path("studies").mkdir()
    Path("studies/measured.yaml").write_text(STUDY)
    plan = expand_studies([Path("studies/measured.yaml")])
    for kind in ("topologies", "routes"):
        write_jobs(plan.of(kind).values(), Path("spec.json"))
        run_batch(Path("spec.json"), Path("manifest.json"))
    write_jobs(plan.of("comparisons").values(), Path("spec.json"), Path("results"))
    present = sorted(tmp_path.rglob("*"))
    words = ["bench", "--comparison", "spec.json", "-o", "done.json", "--apply-routing"]
    assert main([*words, "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert f"\n{tmp_path}/salloc --nodes=4 " in printed
    assert printed.count("\nload-routes\n") == 3  # applied twice, restored once
    assert sorted(tmp_path.rglob("*")) == present
