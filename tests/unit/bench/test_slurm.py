"""What Slurm is asked for."""

import pytest

from routelab.bench.comparison import START_MINUTES, Comparison, ComparisonPart
from routelab.bench.slurm import salloc
from routelab.config.bench_settings import BenchSettings
from routelab.config.cluster.file import Cluster


def test_salloc_names_the_node_set_and_the_time(tmp_path, monkeypatch):
    program = tmp_path / "salloc"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    cluster = Cluster(partition="short", account="a1", allocation=["--qos=bench"])
    assert salloc(cluster, ("n01", "n03"), 40, ["routelab", "a b;c"]) == [
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
