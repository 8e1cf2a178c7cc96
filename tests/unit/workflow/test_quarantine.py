"""A plugin that is installed and broken costs its own results and nobody else's."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from routelab.jobs.batches import run_batch, write_jobs
from routelab.registry.catalogue import QuarantinedError, installed_catalogue
from routelab.registry.instances import load_routing
from routelab.results.outcome import read_outcome
from routelab.study import Limits
from routelab.workflow import report, warm
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.stages.routes import RouteJob

pytestmark = pytest.mark.slow

MODES = """
import os, signal
from routelab.api import Parameters, RoutingPlugin, parameter

class ModeParameters(Parameters):
    deed: str = parameter("hang", description="What it does")

class Mode(RoutingPlugin):
    name = "mode"
    summary = "Does not route"
    Parameters = ModeParameters

    def route(self, topology):
        if self.parameters.deed == "die":
            os.kill(os.getpid(), signal.SIGSEGV)
        while True:
            pass
"""


@pytest.fixture
def plugins(site, tmp_path, monkeypatch):
    """A broken routing and a broken topology beside what is really installed."""
    monkeypatch.chdir(tmp_path)
    real = installed_catalogue()
    points = {"topology": {"moon": "nowhere:Moon"}, "routing": {"bad": "nowhere:Bad"}}
    site.install("extra", {**points, "rules": {"odd": "nowhere:Odd"}}, {}, "0.3")
    site.install("modes", {"routing": {"mode": "modes:Mode"}}, {"modes.py": MODES})
    installed_catalogue.cache_clear()
    catalogue = installed_catalogue()
    assert set(catalogue.keys("routing")) == {*real.keys("routing"), "bad", "mode"}
    return catalogue


def study(tmp_path: Path, topologies: str, routings: str) -> Path:
    path = tmp_path / "study.yaml"
    path.write_text(
        f"title: t\ntopologies: {topologies}\nroutings: {routings}\nmetrics: [route-length]\n"
    )
    return path


def do(plan) -> None:
    """All batches of a plan, as the workflow does them."""
    plan.write_lists()
    for batch in plan.batches.values():
        run_batch(plan.spec(batch), plan.manifest(batch))


def status(topology: str, routing: str) -> str:
    return read_outcome(Path("results/study/routes", topology, routing, "outcome.json")).status


def test_broken_plugins_are_outcomes_and_the_others_are_reported(plugins, tmp_path):
    path = study(
        tmp_path,
        "[torus~dims=4, {moon: {craters: 3}}]",
        "[dor, {bad: {depth: [1, 2]}}, first@odd, {use: bad, as: other}]",
    )
    plan = expand_studies([path])
    assert list(plan.of("topologies")) == [("torus~dims=4",), ("moon~craters=3",)]
    routings = ["dor", "bad~depth=1+2", "first@odd", "other"]
    assert [routing for topology, routing in plan.of("routes") if "torus" in topology] == routings
    assert [compilation.name for compilation, _ in plan.compilations().values()] == [
        "networks",
        "dor",
        "metrics",
    ]
    assert [cause.split(" cannot")[0] for cause in plan.quarantined] == [
        "topology 'moon'",
        "routing 'bad'",
        "first@odd: rules 'odd'",
    ]
    do(plan)
    assert status("torus~dims=4", "dor") == "ok"
    for routing in routings[1:]:
        outcome = read_outcome(Path("results/study/routes/torus~dims=4", routing, "outcome.json"))
        assert outcome.status == "failed"
        assert "of extra 0.3" in outcome.reason
        assert "No module named 'nowhere'" in outcome.reason
    moon = read_outcome(Path("results/study/topologies/moon~craters=3/outcome.json"))
    assert (moon.status, moon.topology) == ("failed", "moon~craters=3")
    assert {status("moon~craters=3", routing) for routing in routings} == {"failed"}
    # they are tried again, and the report shows them beside the others
    assert expand_studies([path]).failed() == 1 + 3 + 4
    report.write_report(path, Path("results"), Path("results/report/study"))
    page = Path("results/report/study/index.html").read_text()
    assert "plugin routing/bad of extra 0.3" in page
    summary = json.loads(Path("results/report/study/summary.json").read_text())
    assert any("8 runs on 2 networks: 1 ok, 7 failed" in line for line in summary["sentences"])


def test_a_mended_plugin_is_tried_again(plugins, site, tmp_path):
    path = study(tmp_path, "[torus~dims=4]", "[dor, bad]")
    do(expand_studies([path]))
    done = Path("results/study/routes/torus~dims=4/dor/outcome.json").stat().st_mtime_ns
    mended = MODES.replace('name = "mode"', 'name = "bad"').split("        if self")[0]
    mended += "        return RouteTable.from_next_hops(topology, [[-1, 0], [1, -1]])\n"
    (site.folder / "nowhere.py").write_text(
        mended.replace("import Param", "import RouteTable, Param").replace("Mode(", "Bad(")
    )
    site.modules.add("nowhere")
    installed_catalogue.cache_clear()
    do(expand_studies([path]))
    outcome = read_outcome(Path("results/study/routes/torus~dims=4/bad/outcome.json"))
    # four switches, not two: it is imported now, and what it makes is refused
    assert outcome.status == "failed"
    assert "nowhere" not in outcome.reason
    assert Path("results/study/routes/torus~dims=4/dor/outcome.json").stat().st_mtime_ns == done


def test_an_ambiguous_plugin_is_quarantined_as_well(zoo, site, monkeypatch):
    again = {"zoo_two.py": (site.folder / "zoo.py").read_text()}
    site.install("more", {"selection": {"pick": "zoo_two:Pick"}}, again)
    catalogue = site.hide_others(monkeypatch)
    with pytest.raises(QuarantinedError, match=r"by (zoo-plugins|more) 1\.0 .*uninstall"):
        load_routing("pick@turns", catalogue)


def route(text: str, network: str, classes: tuple[str, ...], seconds: float) -> RouteJob:
    return RouteJob(
        folder=f"results/{text.rpartition('=')[2]}",
        topology=network,
        text=text,
        digest="f",
        limits=Limits(seconds=seconds, memory_gb=4.0),
        classes=classes,
    )


def mode(deed: str, network: str, classes: tuple[str, ...] = ("modes:Mode",)) -> RouteJob:
    return route(f"mode~deed={deed}", network, classes, seconds=1.0)


DIES = "the process was killed by SIGSEGV in route (modes.py)"
HANGS = "reached its limit of {} CPU-s (limits.seconds) in route (modes.py)"


def without_folder(reason: str) -> str:
    return re.sub(r"\(/.*/modes\.py, line \d+", "(modes.py", reason)


def test_a_plugin_that_kills_or_holds_up_its_process_costs_its_own_jobs(plugins, tmp_path):
    plan = expand_studies([study(tmp_path, "[torus~dims=4]", "[dor]")])
    do(plan)
    network = "results/study/topologies/torus~dims=4"
    jobs = [mode(deed, network) for deed in ("die", "hang")]
    assert all(job.compilations() for job in jobs)
    for first in (jobs, jobs[::-1]):
        write_jobs(first, tmp_path / "spec.json")
        assert run_batch(tmp_path / "spec.json", tmp_path / "manifest.json") == 2
        ends = json.loads((tmp_path / "manifest.json").read_text())["outcomes"]
        assert {end["folder"]: (end["status"], without_folder(end["reason"])) for end in ends} == {
            "results/die": ("failed", DIES),
            "results/hang": ("timeout", HANGS.format(1)),
        }


def test_such_a_plugin_does_not_keep_others_from_being_compiled(
    plugins, tmp_path, monkeypatch, capfd
):
    # more than the kernels of the other take
    monkeypatch.setattr(warm, "PREPARE_SECONDS", 10.0)
    network = "results/study/topologies/torus~dims=4"
    # kernels are those of classes: two of one class are compiled once
    jobs = [
        mode("die", network),
        mode("hang", network, classes=("other",)),
        route("dor", network, ("dor",), 60.0),
    ]
    write_jobs(jobs, tmp_path / "spec.json")
    skipped = warm.compile_kernels(tmp_path / "spec.json", partial(print, flush=True))
    lines = capfd.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("compiling ")] == [
        "compiling mode~deed=die",
        "compiling mode~deed=hang",
        "compiling dor",
    ]
    assert list(map(without_folder, skipped)) == [
        f"mode~deed=die: {DIES}",
        f"mode~deed=hang: {HANGS.format(10)}",
    ]
