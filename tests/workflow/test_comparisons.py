"""Studies with benchmarks: what Snakemake runs for them, and what a scheduler is asked for."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from routelab.workflow.stages import kinds

from .conftest import ROOT

pytestmark = pytest.mark.workflow

METER = """
from routelab.api import BenchmarkPlugin, BenchmarkResult, FigureOfMerit, WorkloadModel


class Meter(BenchmarkPlugin):
    name = "meter"
    summary = "Measures something"
    figure = "speed"

    def executables(self, ranks):
        return ("meter",)

    def command(self, task):
        return (str(task.executable),)

    def parse(self, output, task):
        return BenchmarkResult((FigureOfMerit("speed", 1.0, "B/s", "higher"),))

    def model(self, task):
        return WorkloadModel("osu-alltoall")
"""

POINTS = "[routelab.benchmark]\nmeter = meter_plugin:Meter\n"

STUDY = """\
title: Measure
topologies: [torus~dims=4, torus~dims=4x2]
routings: [dor, angara-sssp]
benchmarks: [meter]
bench: {{cluster: {cluster}, repeats: {repeats}, seconds: 60}}
"""

FAST = """\
launcher: srun
partition: short
topology: torus~dims=4x2
hosts: n[01-08]
node_sets: {torus~dims=4: "n[01-04]"}
"""


@pytest.fixture
def measuring(folder):
    info = folder.path / "site" / "meter_plugin-1.0.dist-info"
    folder.write("site/meter_plugin.py", METER)
    folder.write(f"site/{info.name}/METADATA", "Metadata-Version: 2.1\nName: m\nVersion: 1.0\n")
    folder.write(f"site/{info.name}/entry_points.txt", POINTS)
    paths = [str(folder.path / "site"), os.environ.get("PYTHONPATH", "")]
    folder.env["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    folder.write("config/clusters/fast.yaml", FAST)
    folder.write("config/clusters/here.yaml", "launcher: mpiexec\n")
    folder.write("config/studies/small.yaml", STUDY.format(cluster="fast", repeats=2))
    return folder


SETTINGS = "cluster=fast,repeats=2,seconds=60.0"


def outputs(folder, *arguments):
    """What a run made, without reports and kernels."""
    return [path for path in folder.ran(*arguments) if not path.startswith(("report", "WARM"))]


def test_nothing_is_compiled_beside_a_measurement(measuring):
    measuring.write("slow", "3")
    measuring.ran()
    notes = (measuring.path / "calls.txt").read_text().splitlines()
    measurements = [number for number, line in enumerate(notes) if " bench " in line]
    assert measurements
    assert min(measurements) > max(at for at, line in enumerate(notes) if line == "JOB compiled")


def test_comparisons_run_behind_routes_and_only_again_when_something_else_is_measured(measuring):
    first = outputs(measuring)
    calls = [call for call in measuring.calls() if call[2] == "bench"]
    specs = [call[4] for call in calls]
    for call, spec in zip(calls, specs, strict=True):
        id_ = Path(spec).stem
        assert call == [
            *("NUMBA=1", "OMP=1", "bench", "--comparison"),
            f"results/.plan/comparisons/{id_}.json",
            *("-o", f"results/bench/batches/{id_}.json"),
        ]
    order = [call[2] for call in measuring.calls()]
    routes = [at for at, call in enumerate(measuring.calls()) if "/routes/" in call[3]]
    assert len(routes) == 1
    assert order.index("bench") > max(routes)
    assert sum(path.startswith("flows/") for path in first) == 4
    batches = [json.loads((measuring.path / spec).read_text()) for spec in sorted(specs)]
    compared = [job["comparison"] for spec in batches for job in spec["jobs"]]
    assert [[part["folder"] for part in comparison["routings"]] for comparison in compared] == [
        [f"results/small/routes/torus~dims={dims}/{routing}" for routing in ("dor", "angara-sssp")]
        for dims in ("4", "4x2")
    ]
    assert outputs(measuring) == []
    # what was measured with leave to switch the fabric is not measured again without it
    assert outputs(measuring, "report", "--config", "apply_routing=true") == []
    measuring.write("config/studies/small.yaml", STUDY.format(cluster="fast", repeats=3))
    assert outputs(measuring) == [
        f"bench/comparisons/small/torus~dims={dims}/cluster=fast,repeats=3,seconds=60.0"
        for dims in ("4", "4x2")
    ]


def test_a_comparison_runs_in_the_run_that_makes_a_route_table_for_it(measuring):
    measuring.ran()
    text = STUDY.format(cluster="fast", repeats=2).replace("angara-sssp]", "angara-sssp, dfsssp]")
    measuring.write("config/studies/small.yaml", text)
    parts = [path.split("/")[0] for path in outputs(measuring)]
    assert (parts.count("bench"), parts.count("routes")) == (2, 2)
    assert outputs(measuring) == []


def comparison_calls(folder):
    return [call for call in folder.calls() if "--comparison" in call]


def test_an_upgrade_does_not_start_a_comparison_again(measuring):
    measuring.ran()
    assert len(comparison_calls(measuring)) == 2
    # another version of the benchmark's plugin, with other code
    info = measuring.path / "site/meter_plugin-1.0.dist-info/METADATA"
    info.write_text(info.read_text().replace("Version: 1.0", "Version: 2.0"))
    measuring.write("site/meter_plugin.py", METER.replace("Measures something", "Measures more"))
    # routes that are computed again are newer files
    for manifest in (measuring.results / "batches/routes").iterdir():
        manifest.unlink()
    outputs(measuring)
    routes = [call for call in measuring.calls() if "/routes/" in call[3]]
    assert len(routes) == 1
    assert comparison_calls(measuring) == []
    # forced jobs find the results, and measure nothing
    made_again = outputs(measuring, "report", "--forceall")
    assert len(comparison_calls(measuring)) == 2
    assert not [path for path in made_again if path.startswith("bench/")]
    fresh = outputs(measuring, "report", "--config", "fresh=all")
    assert {path.split("/")[0] for path in fresh} == {"topologies", "routes", "metrics", "flows"}
    assert comparison_calls(measuring) == []
    assert measuring.ran() == []


def test_in_a_folder_of_an_earlier_version_nothing_is_measured_again(measuring):
    measuring.ran()
    results = measuring.path / "results"
    measuring.results.rename(results / "routes")
    (results / "bench/batches").rename(results / "batches")
    shutil.rmtree(measuring.path / ".snakemake")
    assert shown(measuring) == {}
    for again in (False, True):
        run = measuring.run()
        assert run.returncode == 0, run.stderr
        assert comparison_calls(measuring) == []
        assert bool(measuring.calls()) != again
    # and so it is when the results of a study were removed
    shutil.rmtree(measuring.results)
    measuring.ran()
    assert comparison_calls(measuring) == []


def test_a_comparison_that_failed_is_tried_again(measuring):
    measuring.ran()
    folder = f"bench/comparisons/small/torus~dims=4/{SETTINGS}"
    outcome = measuring.path / "results" / folder / "outcome.json"
    outcome.write_text(outcome.read_text().replace('"ok"', '"failed"'))
    run = measuring.run("-n")
    assert "A run tries 1 failed or timed-out job again." in run.stderr
    assert outputs(measuring) == [folder]
    measuring.write("status", "unsupported")
    outcome.unlink()
    assert outputs(measuring) == [folder]
    assert outputs(measuring) == []


SWITCHED = """\
fabric: {apply: [/bin/true], restore: [/bin/true]}
"""


def test_the_fabric_may_be_switched_only_when_that_is_said(measuring):
    measuring.write("config/clusters/fast.yaml", FAST + SWITCHED)
    measuring.ran("report", "--config", "apply_routing=true")
    calls = [call for call in measuring.calls() if call[2] == "bench"]
    assert len(calls) == 2
    assert all(call[-1] == "--apply-routing" for call in calls)


def test_routings_are_not_applied_where_nothing_switches_between_them(measuring):
    request = ("report", "--config", "apply_routing=true")
    for words in (request, ("-n", *request)):
        run = measuring.run(*words)
        assert run.returncode == 1
        last = run.stderr.strip().splitlines()[-1]
        assert last.startswith(
            "config/clusters/fast.yaml: fabric: nothing switches between the 2 routings: "
        )
        assert "; add what switches them (fabric: {apply: " in last
    assert measuring.calls() == []
    # one routing has nothing to be compared with
    text = STUDY.format(cluster="fast", repeats=2).replace("dor, angara-sssp", "dor")
    measuring.write("config/studies/small.yaml", text)
    assert measuring.run("-n", *request).returncode == 0


def test_a_setting_that_is_none_ends_in_one_message(measuring):
    run = measuring.run("report", "--config", "apply_routing=perhaps")
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("apply_routing=perhaps: must be true or false")
    assert measuring.calls() == []


ORDER = """
import zlib
from snakemake.jobs import Job

Job.__hash__ = lambda job: zlib.crc32(str(job.output or job.rule).encode()) >> {shift}
include: "{root}/Snakefile"
"""


def shown(folder, *arguments):
    """Return the text of each comparison in a dry run, by network, in Snakemake's order."""
    run = folder.run(*arguments, "-n", "--quiet", "host")
    assert run.returncode == 0, run.stdout + run.stderr
    jobs = re.split(r"\n(?=(?:local)?rule )", run.stdout + run.stderr)
    jobs = [job for job in jobs if re.match(r"(local)?rule comparisons:", job)]
    return {re.search(r"wildcards: batch=small\.([\w-]+)\.", job)[1]: job for job in jobs}


def test_a_scheduler_is_asked_for_the_nodes_of_the_network(measuring):
    """Snakemake keeps jobs in sets, by their addresses, so their order differs between runs."""
    orders = set()
    profile = ("--workflow-profile", str(ROOT / "profiles/default"))
    for shift in (0, 3):
        probe = measuring.write("order.smk", ORDER.format(shift=shift, root=ROOT))
        jobs = shown(measuring, "report", "--snakefile", str(probe), *profile)
        orders.add(tuple(jobs))
        check_requests(jobs["torus-dims-4"], jobs["torus-dims-4x2"])
    assert len(orders) == 2


def check_requests(small, large):
    assert "threads:" not in small
    for job, nodes, hosts in ((small, 4, "n[01-04]"), (large, 8, "n[01-08]")):
        assert job.startswith("rule ")
        for resource in (
            *("fabric=1", f"nodes={nodes}", f"tasks={nodes}", "mpi=0", "mem_mb=0"),
            # (1 warm-up + 2) × 2 routings × 60 s, and 10 minutes
            "runtime=16",
            "slurm_partition=short",
            f"slurm_extra=--exclusive --ntasks-per-node=1 '--nodelist={hosts}'",
        ):
            assert resource in job
        assert "slurm_account" not in job


def test_local_measurements_take_all_cores(measuring):
    measuring.write("config/studies/small.yaml", STUDY.format(cluster="here", repeats=2))
    jobs = shown(measuring)
    assert len(jobs) == 2
    assert all("threads: 2" in job for job in jobs.values())


@pytest.mark.parametrize("submit", ["all", "measurements"])
def test_networks_and_pages_do_not_go_to_a_cluster_and_parts_as_requested(measuring, submit):
    # dry runs are local ones, in which Snakemake tells nothing of it
    including = f'include: "{ROOT / "Snakefile"}"\nprint("LOCAL", *workflow._localrules)\n'
    path = measuring.write("probe.smk", including)
    run = measuring.run("report", "-n", "--snakefile", str(path), "--config", f"submit={submit}")
    (line,) = (line for line in run.stdout.splitlines() if line.startswith("LOCAL"))
    stages = set(kinds()) - {"comparisons"} if submit == "measurements" else {"topologies"}
    assert set(line.split()[1:]) == {*stages, "page", "index", "figures", "all", "report"}
