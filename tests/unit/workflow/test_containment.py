"""Whatever plugin code does, in whatever stage: it is that job's outcome, and names the plugin."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from routelab.cli import main
from routelab.jobs.batches import run_batch
from routelab.registry.catalogue import installed_catalogue
from routelab.results.outcome import read_outcome
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.report import write_report

PLUGINS = """
import os, signal, sys

from routelab.api import (
    ExportPlugin, HopRoutingPlugin, LayersPlugin, MetricPlugin, Parameters, RoutingPlugin,
    RulesPlugin, SelectionPlugin, TopologyPlugin, TrafficPlugin, WorkloadPlugin, parameter,
)


class Deed(Parameters):
    deed: str = parameter("", description="What it does")


class Villain:
    summary = "Does harm"
    Parameters = Deed
    proof = "none"

    def act(self, *anything, **more):
        deed = self.parameters.deed
        if deed == "exit":
            sys.exit(0)
        if deed == "hard-exit":
            os._exit(0)
        if deed == "failure":
            os._exit(1)
        if deed == "interrupt":
            raise KeyboardInterrupt
        if deed == "system-exit":
            raise SystemExit("no more")
        if deed == "segv":
            os.kill(os.getpid(), signal.SIGSEGV)
        raise RuntimeError("broken")

    def supports(self, *anything):
        return None


class Network(Villain, TopologyPlugin):
    name = "bad-network"

    def build(self):
        self.act()


class Rules(Villain, RulesPlugin):
    name = "bad-rules"

    def routing_graph(self, topology):
        self.act()


class Selection(Villain, SelectionPlugin):
    name = "bad-selection"

    def select(self, graph):
        self.act()


class Layers(Villain, LayersPlugin):
    name = "bad-layers"

    def assign(self, table):
        self.act()


class Routing(Villain, RoutingPlugin):
    name = "bad-routing"

    def route(self, topology):
        self.act()


class Hops(Villain, HopRoutingPlugin):
    name = "bad-hops"

    def prepare(self, topology, virtual_channels):
        self.act()


class Metric(Villain, MetricPlugin):
    name = "bad-metric"

    def measure(self, table, graph):
        self.act()


class Traffic(Villain, TrafficPlugin):
    name = "bad-traffic"

    def demand(self, topology, seed):
        self.act()


class Workload(Villain, WorkloadPlugin):
    name = "bad-workload"

    def program(self, job):
        self.act()


class Export(Villain, ExportPlugin):
    name = "bad-export"

    def export(self, table, machine):
        self.act()
"""

POINTS = {
    kind: {f"bad-{name}": f"villains:{name.capitalize()}"}
    for kind, name in (
        ("topology", "network"),
        ("rules", "rules"),
        ("selection", "selection"),
        ("layers", "layers"),
        ("routing", "routing"),
        ("metric", "metric"),
        ("traffic", "traffic"),
        ("workload", "workload"),
        ("export", "export"),
    )
}
POINTS["routing"]["bad-hops"] = "villains:Hops"

RAISED = {
    "exit": "SystemExit: 0 (",
    "interrupt": "KeyboardInterrupt: ",
    "system-exit": "SystemExit: no more (",
    "error": "RuntimeError: broken (",
}
ENDED = {
    "hard-exit": "its process ended without a result",
    "failure": "its process ended with exit code 1 without a result",
    "segv": "the process was killed by SIGSEGV",
}
DEEDS = [*RAISED, *ENDED]
SWEEP = "{deed: {sweep: [" + ", ".join(DEEDS) + "]}}"

HEAD = "title: t\nlimits: {seconds: 60}\n"
USUAL = "topologies: [torus~dims=4]\n"


def routings(*entries: str) -> str:
    return f"routings: [{', '.join(['dor', *entries])}]\nmetrics: [route-length]\n"


def composed(pattern: str) -> list[str]:
    return [f'"{pattern.format(deed)}"' for deed in DEEDS]


# stage: kind of its jobs, the plugin, and a study with jobs of all deeds and one that is ok
STAGES = {
    "network": (
        "topologies",
        "bad-network",
        f"topologies: [torus~dims=4, {{bad-network: {SWEEP}}}]\n" + routings(),
    ),
    "rules": ("routes", "bad-rules", USUAL + routings(*composed("first@bad-rules~deed={}"))),
    "selection": (
        "routes",
        "bad-selection",
        USUAL + routings(*composed("bad-selection~deed={}@angara")),
    ),
    "layers": (
        "routes",
        "bad-layers",
        USUAL + routings(*composed("first@angara@bad-layers~deed={}")),
    ),
    "complete routing": ("routes", "bad-routing", USUAL + routings(f"{{bad-routing: {SWEEP}}}")),
    "rules of a bound": (
        "bounds",
        "bad-rules",
        USUAL + routings(*composed("first@bad-rules~deed={}")) + "bound: {seconds: 5}\n",
    ),
    "traffic": (
        "simulations",
        "bad-traffic",
        USUAL
        + "routings: [dor]\nmetrics: [route-length]\n"
        + f"traffic: [uniform, {{bad-traffic: {SWEEP}}}]\n"
        + "simulation: {loads: [0.1], sample_cycles: 10, max_cycles: 1000, precision: 0.9}\n",
    ),
    "kernels that decide hop by hop": (
        "simulations",
        "bad-hops",
        USUAL
        + routings(f"{{bad-hops: {SWEEP}}}")
        + "traffic: [uniform]\n"
        + "simulation: {loads: [0.1], sample_cycles: 10, max_cycles: 1000, precision: 0.9}\n",
    ),
    "workload": (
        "flows",
        "bad-workload",
        USUAL
        + "routings: [dor]\nmetrics: [route-length]\n"
        + f"workloads: [osu-alltoall, {{bad-workload: {SWEEP}}}]\n",
    ),
}


@pytest.fixture
def villains(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site.install("villains", POINTS, {"villains.py": PLUGINS})
    installed_catalogue.cache_clear()


def done(tmp_path: Path, text: str):
    """The plan of a study whose batches have all run; each has left its manifest."""
    path = tmp_path / "study.yaml"
    path.write_text(HEAD + text)
    plan = expand_studies([path])
    plan.write_lists()
    for batch in plan.batches.values():
        assert run_batch(plan.spec(batch), plan.manifest(batch)) == len(batch.jobs)
    for batch in plan.batches.values():
        if batch.kind != "surveys":
            ends = json.loads(plan.manifest(batch).read_text())["outcomes"]
            assert [end["folder"] for end in ends] == [job.folder for job in batch.jobs]
            assert all(end["status"] for end in ends)
    return plan


def check(deed: str, plugin: str, status: str, reason: str) -> None:
    assert status == "failed", reason
    if deed in RAISED:
        assert plugin in reason.partition(RAISED[deed])[0], reason
        assert RAISED[deed] in reason
        assert "villains.py, line " in reason
    else:
        assert reason.startswith(ENDED[deed]), reason
        assert deed != "segv" or "villains.py, line " in reason


@pytest.mark.parametrize("stage", STAGES)
def test_a_plugin_costs_its_own_jobs_only(villains, tmp_path, stage):
    kind, plugin, text = STAGES[stage]
    plan = done(tmp_path, text)
    outcomes = {folder: read_outcome(Path(folder, "outcome.json")) for folder in plan.jobs}
    bad = {}
    for job in plan.of(kind).values():
        names = " ".join(job.ids)
        if plugin not in names:
            assert outcomes[job.folder].status == "ok", outcomes[job.folder].reason
            continue
        deed = names.partition("deed=")[2].split()[0].split("@")[0]
        bad[deed] = outcomes[job.folder]
        check(deed, plugin, bad[deed].status, bad[deed].reason)
    assert set(bad) == set(DEEDS)
    # all others are ok, except those on networks that could not be built
    for folder, outcome in outcomes.items():
        if "bad-" not in folder:
            assert outcome.status == "ok", (folder, outcome.reason)


@pytest.mark.parametrize("deed", DEEDS)
def test_a_metric_costs_the_metrics_and_not_the_table(villains, tmp_path, deed):
    text = f"{USUAL}routings: [dor]\nmetrics: [bad-metric~deed={deed}]\n"
    plan = done(tmp_path, text)
    (job,) = plan.of("metrics").values()
    outcome = read_outcome(job.outcome)
    check(deed, "bad-metric", outcome.status, outcome.reason)
    (table,) = plan.of("routes").values()
    assert read_outcome(table.outcome).status == "ok"


def test_a_metric_costs_its_own_columns_and_not_those_of_others(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    metric = """
from routelab.api import Column, MetricPlugin


class {0}(MetricPlugin):
    name = "{1}"
    summary = "Raises"
    columns = (Column("{1}", "a number"),)

    def measure(self, table, graph):
        {2}
"""
    broken = metric.format("Bad", "bad", 'raise ZeroDivisionError("half")')
    sources = {"bad_metric.py": broken + metric.format("Odd", "odd", "return 3.0")}
    site.install("third", {"metric": {"bad": "bad_metric:Bad", "odd": "bad_metric:Odd"}}, sources)
    installed_catalogue.cache_clear()
    table = "tables: {t: {rows: [routing], values: [max_hops, bad]}, u: {rows: [routing], "
    plan = done(tmp_path, f"{USUAL}routings: [dor]\n{table}values: [max_load]}}}}\n")
    (job,) = plan.of("metrics").values()
    outcome = read_outcome(job.outcome)
    assert outcome.status == "failed"
    said = "all metrics but bad and odd are measured; bad: ZeroDivisionError: half ("
    assert outcome.reason.startswith(said)
    assert "; odd: expected a list of Measurements, found 3.0 (" in outcome.reason
    assert outcome.reason.endswith("bad_metric.py, line 21)")
    assert plan.failed() == 1  # is tried again
    write_report(tmp_path / "study.yaml", Path("results"), Path("page"))
    tables = {name: Path(f"page/tables/{name}.csv").read_text() for name in "tu"}
    assert tables["t"].splitlines() == ["routing,max_hops,bad", "dor,2,"]
    assert "dor" in tables["u"]
    page = Path("page/index.html").read_text()
    assert page.count(f"Without some values: 1 of 1 runs of dor ({said}") == 1
    assert f"1 of 1 set of metrics of study failed: {said}" in page
    with Path("page/runs.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["status"], row["deadlock"]) == ("ok", "proven")
    assert row["reason"] == outcome.reason


SURVEYED = {
    "bad-network": (f"[torus~dims=4, {{bad-network: {SWEEP}}}]", "[dor]"),
    "bad-rules": ("[torus~dims=4]", f"[dor, {', '.join(composed('first@bad-rules~deed={}'))}]"),
    "bad-routing": ("[torus~dims=4]", f"[dor, {{bad-routing: {SWEEP}}}]"),
}


@pytest.mark.parametrize("plugin", SURVEYED)
def test_in_a_survey_a_plugin_costs_its_own_rows(villains, tmp_path, plugin):
    topologies, algorithms = SURVEYED[plugin]
    bound = "bound: {seconds: 5}\n" if plugin == "bad-rules" else ""
    text = f"survey: true\ntopologies: {topologies}\nroutings: {algorithms}\n{bound}"
    plan = done(tmp_path, text)
    with Path(*plan.manifests()).open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 1 + len(DEEDS)
    for row in rows:
        names = f"{row['topology']} {row['routing']}"
        if plugin not in names:
            assert row["status"] == "ok", row
            continue
        deed = names.partition("deed=")[2].split()[0]
        check(deed, plugin, row["status"], row["reason"].removeprefix("no network: "))


@pytest.mark.parametrize(
    "command",
    [
        "topology bad-network~deed=exit",
        "route torus~dims=4 bad-routing~deed=exit",
        "route torus~dims=4 bad-selection~deed=exit@angara",
        "route torus~dims=4 dor --metrics bad-metric~deed=exit",
        "evaluate torus~dims=4 dor bad-routing~deed=exit",
        "evaluate torus~dims=4 dor --metrics bad-metric~deed=exit",
        "bound torus~dims=4 bad-rules~deed=exit",
        "bound torus~dims=4 --traffic bad-traffic~deed=exit",
        "export bad-export~deed=exit torus~dims=4 dor",
        "export booksim torus~dims=4 bad-routing~deed=exit",
        "simulate torus~dims=4 bad-routing~deed=exit uniform",
        "simulate torus~dims=4 bad-hops~deed=exit uniform",
        "simulate torus~dims=4 dor bad-traffic~deed=exit",
    ],
)
def test_a_plugin_that_exits_is_the_error_of_a_command(villains, capsys, command):
    assert main(command.split()) == 1
    written = capsys.readouterr()
    said = written.out if command.startswith("evaluate") else written.err
    assert "SystemExit: 0 (" in said
    assert "villains.py, line " in said
    assert "Traceback" not in written.out + written.err
    if command.startswith("evaluate torus~dims=4 dor bad"):
        dor, bad = written.out.splitlines()[1:3]
        assert (dor.split()[:2], bad.split()[1]) == (["dor", "ok"], "failed")
    elif "--metrics" in command:
        assert "proven" in written.out
    elif not command.startswith("evaluate"):
        assert not written.out


def test_a_module_that_exits_when_it_is_imported_costs_its_own_jobs(villains, site, tmp_path):
    points = {"routing": {"leaver": "leavers:Routing"}}
    site.install("leavers", points, {"leavers.py": "import sys\nsys.exit(0)\n"})
    installed_catalogue.cache_clear()
    plan = done(tmp_path, USUAL + routings("leaver"))
    ends = {job.ids[1]: read_outcome(job.outcome) for job in plan.of("routes").values()}
    assert ends["dor"].status == "ok"
    assert ends["leaver"].status == "failed"
    assert "plugin routing/leaver of leavers 1.0" in ends["leaver"].reason
    assert "found SystemExit: 0" in ends["leaver"].reason
