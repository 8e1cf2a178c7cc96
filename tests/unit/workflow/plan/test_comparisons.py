"""Studies with benchmarks: which comparisons and predictions they stand for, and what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.cluster.bench.comparison import Comparison, ComparisonPart
from routelab.study import Choice
from routelab.study.bench_settings import BenchSettings
from routelab.workflow.parts.instances import instance_of
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.plan.preview import check_studies
from routelab.workflow.stages.comparisons import count_terminals
from routelab.workflow.stages.predictions import predictions

METERS = """
from pathlib import Path

from routelab.api import (
    BenchmarkPlugin, BenchmarkResult, FigureOfMerit, Parameters, WorkloadModel, parameter
)


class Meter(BenchmarkPlugin):
    name = "meter"
    summary = "Measures something"
    figure = "speed"

    class Parameters(Parameters):
        size: int = parameter(1, description="bytes")

    def executables(self, ranks):
        return ("meter",)

    def command(self, task):
        return (str(task.executable),)

    def parse(self, output, task):
        return BenchmarkResult((FigureOfMerit("speed", 1.0, "B/s", "higher"),))


class Modelled(Meter):
    name = "modelled"
    summary = "Measures something that is known beforehand"

    def supports(self, ranks, ranks_per_node):
        return None if ranks > 8 else "too few ranks"

    def model(self, task):
        text = f"osu-alltoall~size={task.ranks * task.ranks_per_node}"
        return WorkloadModel(text, iterations=3)
"""

STUDY = """\
title: Measure
topologies: [torus~dims=4, torus~dims=4x4]
routings: [dor, {use: angara-sssp, as: sssp}]
benchmarks: [meter, {use: modelled, as: known}]
bench: {cluster: fast, repeats: {sweep: [2, 3]}, seconds: 60, baseline: sssp}
limits: {seconds: 60, memory_gb: 2}
"""

FAST = """\
machine: {link_bandwidth: 4.0e+9}
ranks_per_node: 2
partition: short
account: lab
allocation: [--reservation=a b]
launcher: srun
topology: torus~dims=4x4
hosts: "n[01-16]"
node_sets: {torus~dims=4: "n[01-04]"}
"""


HOPS = "minimal-adaptive"


@pytest.fixture
def write(site, tmp_path, monkeypatch):
    points = {"benchmark": {"meter": "meters:Meter", "modelled": "meters:Modelled"}}
    site.install("meters", points, {"meters.py": METERS})
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    Path("config/clusters").mkdir()
    Path("config/clusters/fast.yaml").write_text(FAST)

    def write(text):
        path = Path("config/studies/run.yaml")
        path.write_text(text)
        return path

    return write


def mistakes(path):
    with pytest.raises(InputError) as raised:
        expand_studies([path])
    return [line.removeprefix(f"{path}:") for line in str(raised.value).splitlines()]


def batch_of(plan, job):
    (batch,) = (batch for batch in plan.batches.values() if job in batch.jobs)
    assert batch.jobs == (job,)
    return batch


def marks(plan):
    return [job.fingerprint for job in plan.of("comparisons").values()]


def predicted(plan):
    return {
        prediction.ids: prediction.flow for prediction in predictions(plan.studies["run"].parts)
    }


def test_every_network_is_compared_once_with_all_settings(write):
    plan = expand_studies([write(STUDY)])
    shown = plan.studies["run"]
    two, three = "cluster=fast,repeats=2,seconds=60.0", "cluster=fast,repeats=3,seconds=60.0"
    assert shown.ids("comparisons") == (
        ("run", "torus~dims=4", two),
        ("run", "torus~dims=4", three),
        ("run", "torus~dims=4x4", two),
        ("run", "torus~dims=4x4", three),
    )
    job = plan.of("comparisons")["run", "torus~dims=4x4", three]
    batch = batch_of(plan, job)
    assert re.fullmatch(
        r"run\.torus-dims-4x4\.cluster-fast-repeats-3-seconds-60\.0-[0-9a-f]{8}-1", batch.id
    )
    assert job.folder == f"results/bench/comparisons/run/torus~dims=4x4/{three}"
    assert job.store == "results/bench/runs"
    assert job.comparison == Comparison(
        "results/run/topologies/torus~dims=4x4",
        (
            ComparisonPart("dor", "dor", Path("results/run/routes/torus~dims=4x4/dor")),
            ComparisonPart("sssp", "angara-sssp", Path("results/run/routes/torus~dims=4x4/sssp")),
        ),
        (ComparisonPart("meter", "meter"), ComparisonPart("known", "modelled")),
        BenchSettings(cluster="config/clusters/fast.yaml", repeats=3, seconds=60, baseline="sssp"),
    )
    assert job.inputs == ("config/clusters/fast.yaml",)
    assert batch.after == (
        ("topologies", "run-1"),
        ("routes", "run-1"),
    )
    (summary,) = check_studies([Path("config/studies/run.yaml")])
    assert "4 comparisons" in summary


def test_a_run_can_name_another_cluster(write):
    """A cluster that the study names, too, is the same measurement; another one is its own."""
    path = write(STUDY)
    own = expand_studies([path]).of("comparisons")
    same = expand_studies([path], cluster="fast").of("comparisons")
    assert {job.folder: job.fingerprint for job in same.values()} == {
        job.folder: job.fingerprint for job in own.values()
    }
    Path("config/clusters/slow.yaml").write_text(FAST.replace("short", "long"))
    others = expand_studies([path], cluster="slow").of("comparisons")
    assert {job.partition for job in others.values()} == {"long"}
    assert {ids[2].replace("slow", "fast") for ids in others} == {ids[2] for ids in own}
    assert not {job.folder for job in others.values()} & {job.folder for job in own.values()}
    with pytest.raises(InputError, match="no cluster 'none'"):
        expand_studies([path], cluster="none")


def test_an_allocation_is_as_large_as_the_network_and_as_long_as_the_worst_case(write):
    plan = expand_studies([write(STUDY)])
    small = next(job for ids, job in plan.of("comparisons").items() if ids[1] == "torus~dims=4")
    assert (small.nodes, small.hosts, small.partition, small.account) == (
        *(4, "n[01-04]"),
        *("short", "lab"),
    )
    # (1 warm-up + 2 rounds) × 2 routings × 2 benchmarks × 60 s, and 10 minutes for the beginning
    assert small.minutes == 12 + 10
    assert small.slurm_extra == (
        "--exclusive --ntasks-per-node=1 '--nodelist=n[01-04]' '--reservation=a b'"
    )
    large = next(job for ids, job in plan.of("comparisons").items() if ids[1] == "torus~dims=4x4")
    assert (large.nodes, large.hosts) == (16, "n[01-16]")
    plan = expand_studies([write(STUDY.replace("seconds: 60,", "seconds: 60, minutes: 15,", 1))])
    assert {job.minutes for job in plan.of("comparisons").values()} == {15}


def test_names_of_files_are_short_plain_and_different(write):
    study = STUDY.replace("[torus~dims=4, ", f"[{{use: torus~dims=4, as: {'x' * 100}}}, ")
    study = study.replace("repeats:", "ranks_per_node: 4, seed: 11, repeats:")
    ids = [id_ for kind, id_ in expand_studies([write(study)]).batches if kind == "comparisons"]
    assert len(set(ids)) == len(ids) == 4
    # what Snakemake hands to a job of Slurm is split at commas
    assert all(re.fullmatch(r"[A-Za-z0-9._-]{1,131}", id_) for id_ in ids)


FINGERPRINTED = {
    "another title": (lambda text: text.replace("Measure", "Other"), False),
    "another baseline": (lambda text: text.replace("baseline: sssp", "baseline: dor"), False),
    "no prediction": (lambda text: text.replace("baseline:", "predict: false, baseline:"), False),
    "minutes": (lambda text: text.replace("baseline:", "minutes: 15, baseline:"), False),
    "another benchmark": (lambda text: text.replace("[meter,", "[meter~size=2,"), True),
    "one routing more": (lambda text: text.replace("[dor,", "[dor, angara-bfs,"), True),
    "another routing by that name": (
        lambda text: text.replace("angara-sssp,", "angara-bfs,"),
        True,
    ),
    "another order of turns": (lambda text: text.replace("baseline:", "seed: 1, baseline:"), True),
}


@pytest.mark.parametrize("what", FINGERPRINTED)
def test_the_fingerprint_changes_with_the_measurement_only(write, what):
    change, again = FINGERPRINTED[what]
    before = list(expand_studies([write(STUDY)]).of("comparisons").values())
    after = list(expand_studies([write(change(STUDY))]).of("comparisons").values())
    for earlier, later in zip(before, after, strict=True):
        assert (earlier.fingerprint != later.fingerprint) == again


def test_the_fingerprint_covers_the_clusters_file_and_not_the_code_of_parsers(write, site):
    path = write(STUDY)
    before = marks(expand_studies([path]))
    source = site.folder / "meters.py"
    source.write_text(METERS.replace("1.0,", "2.0,"))
    site.forget()
    assert marks(expand_studies([path])) == before
    Path("config/clusters/fast.yaml").write_text(FAST + "environment: {A: b}\n")
    after = marks(expand_studies([path]))
    assert set(after).isdisjoint(before)


def test_models_are_run_beforehand_with_the_clusters_machine_and_are_no_rows(write):
    plan = expand_studies([write(STUDY)])
    shown = plan.studies["run"]
    settings = "machine=fast,ranks_per_node=2,iterations=3"
    # 4 nodes × 2 ranks are too few, meter has no model
    two, three = "cluster=fast,repeats=2,seconds=60.0", "cluster=fast,repeats=3,seconds=60.0"
    assert predicted(plan) == {
        ("torus~dims=4x4", routing, "known", options): (
            *("torus~dims=4x4", routing),
            *("osu-alltoall~size=64", settings),
        )
        for routing in ("dor", "sssp")
        for options in (two, three)
    }
    assert set(plan.of("flows")) == set(predicted(plan).values())
    job = plan.of("flows")["torus~dims=4x4", "dor", "osu-alltoall~size=64", settings]
    assert job.engine == "flow~machine=config/clusters/fast.yaml,ranks_per_node=2,iterations=3"
    assert job.limits.seconds == 60
    assert [path for path in plan.manifests(shown) if "/flows/" in path] == [
        "results/run/batches/flows/1.json"
    ]
    plan = expand_studies([write(STUDY.replace("baseline:", "predict: false, baseline:"))])
    assert not plan.of("flows")
    assert not predicted(plan)


def test_a_prediction_that_the_study_asks_for_is_the_same_simulation(write):
    request = (
        'workloads: ["osu-alltoall~size=64"]\n'
        "flow: {machine: fast, ranks_per_node: 2, iterations: 3}\n"
    )
    plan = expand_studies([write(STUDY + request)])
    shown = plan.studies["run"]
    assert len(set(shown.ids("flows"))) == len(plan.of("flows")) == 4
    assert set(predicted(plan).values()) < set(shown.ids("flows"))


def test_routings_without_tables_are_left_out_where_there_is_traffic_for_them(write):
    text = STUDY.replace("[dor,", "[dor, HOPS,") + "traffic: [uniform]\n"
    text = text.replace("HOPS", HOPS)
    plan = expand_studies([write(text)])
    for job in plan.of("comparisons").values():
        assert [routing.id for routing in job.comparison.routings] == ["dor", "sssp"]


WRONG = {
    f"[dor, -> [{HOPS},": ("3: routings[0]: ", "add 'traffic' to simulate it"),
    "baseline: sssp -> baseline: ssp": ("5: bench.baseline: ", "did you mean 'sssp'?"),
    "cluster: fast -> cluster: fats": ("5: bench: cluster: ", "did you mean 'fast'?"),
    "[meter, -> [metre,": ("4: benchmarks[0]: ", "did you mean 'meter'?"),
    "torus~dims=4x4 -> torus~dims=4x2": ("5: bench: ", "add its 8 hosts"),
}


def test_mistakes_are_reported_with_their_place(write):
    for wrong, (place, said) in WRONG.items():
        right, _, other = wrong.partition(" -> ")
        (line,) = mistakes(write(STUDY.replace(right, other, 1)))
        assert line.startswith(place)
        assert said in line
    Path("config/clusters/fast.yaml").write_text("partitions: short\n")
    (line,) = mistakes(write(STUDY))
    assert line.startswith("5: bench: config/clusters/fast.yaml:1: partitions: unknown key")


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("torus~dims=4x2x2", 16),
        ("mesh~dims=3x3,terminals=2", 18),
        ("torus~dims=4x4,failed_switches=3", 15),
        ("torus~dims=4x4,nodes=0+1+4+5", 4),
        ("torus~dims=2x2,failed_switches=9", 0),
    ],
)
def test_the_size_of_a_network_is_known_before_it_is_built(text, count):
    instance = instance_of("topology", Choice(text), Path())
    assert count_terminals(instance) == count
    if count:
        assert instance.plugins[0].build().num_terminals == count
