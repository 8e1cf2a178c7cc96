"""What Slurm is asked for."""

import pytest

from routelab.api import InputError
from routelab.cluster.bench.comparison import START_MINUTES, Comparison, ComparisonPart
from routelab.cluster.bench.slurm import Allocation, salloc_command
from routelab.study.bench_settings import BenchSettings
from routelab.study.cluster.keys import Cluster


def test_salloc_names_the_node_set_and_the_time(tmp_path, monkeypatch):
    program = tmp_path / "salloc"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    cluster = Cluster(partition="short", account="a1", allocation=["--qos=bench"])
    assert salloc_command(cluster, ("n01", "n03"), 40, ["routelab", "a b;c"]) == [
        str(program),
        "--nodes=2",
        "--nodelist=n[01,03]",
        "--exclusive",
        "--job-name=routelab",
        "--kill-command=TERM",
        "--partition=short",
        "--account=a1",
        "--time=40",
        "--qos=bench",
        "routelab",
        "a b;c",
    ]


@pytest.mark.parametrize(
    ("routings", "minutes", "least"),
    [(0, 0, 4), (1, 0, 4), (3, 0, 12), (3, 15, 5), (3, 10_000, 12)],
)
def test_the_time_is_that_of_runs_that_all_take_their_limit(routings, minutes, least):
    # two benchmarks in 1 + 3 rounds of 30 s a run
    settings = BenchSettings(repeats=3, warm_up=1, seconds=30, minutes=minutes)
    chosen = tuple(ComparisonPart(str(number), str(number)) for number in range(routings))
    benchmarks = (ComparisonPart("a", "a"), ComparisonPart("b", "b"))
    comparison = Comparison("torus~dims=2", chosen, benchmarks, settings)
    assert comparison.minutes == least + START_MINUTES


def test_hosts_are_requested_by_the_names_that_slurm_has(tmp_path, monkeypatch):
    for name, text in {"salloc": "", "sinfo": "printf 'n01\\nn02\\nn03\\n'"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    command = salloc_command(Cluster(), ("n01.cl.example", "n03"), 40, [])
    assert "--nodelist=n[01,03]" in command


def test_an_allocation_names_hosts_as_slurm_does():
    job = Allocation("17", ("n01", "n02"))
    assert job.node_names(("n02.cl.example", "n01")) == ("n02", "n01")
    with pytest.raises(InputError, match=r"job 17 has n\[01-02\], but not n03.cl.example; ask"):
        job.node_names(("n01", "n03.cl.example"))
