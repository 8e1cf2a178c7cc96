import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.jobs.batches import replaced_manifest_time
from routelab.jobs.job import MAX_ID
from routelab.registry.columns import default_metrics
from routelab.study.study import OTHER_FOLDERS
from routelab.workflow.plan.expansion import expand_studies

ROOT = Path(__file__).parents[4]

SMALL = """\
title: Small
topologies:
  - torus: {dims: {sweep: ["4", 4x2]}}
routings:
  - angara-sssp: {tie_seed: {range: 3}}
  - {use: "sssp@angara~turns=exact", as: exact-turns}
metrics: [channel-load]
limits: {seconds: 60, memory_gb: 2}
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a study; the working directory is the project's, as in a run."""
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)

    def write(name, text):
        path = Path("config/studies") / f"{name}.yaml"
        path.write_text(text)
        return path

    return write


def mistakes(*paths):
    with pytest.raises(InputError) as raised:
        expand_studies(paths)
    return str(raised.value).splitlines()


def networks(plan):
    return [id_ for (id_,) in plan.of("topologies")]


def fingerprints(plan):
    return {folder.removeprefix("results/"): job.fingerprint for folder, job in plan.jobs.items()}


def study(topologies="[torus~dims=4]", routings="[dor]", more=""):
    return f"title: t\ntopologies: {topologies}\nroutings: {routings}\n{more}"


def test_a_study_becomes_the_product_of_its_lists(write):
    plan = expand_studies([write("small", SMALL)])
    assert networks(plan) == ["torus~dims=4", "torus~dims=4x2"]
    routings = ["angara-sssp", "angara-sssp~tie_seed=1", "angara-sssp~tie_seed=2", "exact-turns"]
    runs = [(topology, routing) for topology in networks(plan) for routing in routings]
    assert list(plan.of("routes")) == runs
    assert plan.studies["small"].parts.runs == plan.studies["small"].ids("routes") == tuple(runs)
    job = plan.of("routes")["torus~dims=4x2", "exact-turns"]
    named = "exact-turns", "sssp@angara~turns=exact", "torus~dims=4x2"
    assert (job.ids[1], job.text, job.network) == named
    measured = plan.of("metrics")["torus~dims=4x2", "exact-turns"]
    assert (measured.ids[1], measured.text, measured.network) == named
    assert measured.metrics == ("channel-load",)
    assert measured.needs == (*job.needs, job.folder)
    assert plan.manifests() == [
        f"results/small/batches/{stage}/1.json" for stage in ("topologies", "routes", "metrics")
    ]
    shown = replace(plan.studies["small"], jobs={"routes": (job,)})
    assert plan.manifests(shown) == ["results/small/batches/routes/1.json"]


def test_every_way_of_writing_an_instance_is_one_job(write):
    entries = (
        '[torus~dims=4, {torus: {dims: 4}}, {torus: {dims: "4"}}, {torus: {dims: [4]}},'
        ' "torus~failed_links=[],dims=4"]'
    )
    plan = expand_studies([write("ways", study(entries))])
    assert networks(plan) == ["torus~dims=4"]


def test_studies_share_no_job(write):
    first = write("first", study(more="metrics: [channel-load]\nlimits: {seconds: 5}\n"))
    second = write("second", study(routings="[dor, dfsssp]", more="metrics: [route-length]\n"))
    both = expand_studies([first, second, first])
    assert list(both.studies) == ["first", "second"]
    alone = [expand_studies([path]) for path in (first, second)]
    assert both.jobs == alone[0].jobs | alone[1].jobs
    together, apart = (
        {key: replace(batch, least_priority=0) for key, batch in batches.items()}
        for batches in (both.batches, alone[0].batches | alone[1].batches)
    )
    assert together == apart
    assert {folder.split("/")[1] for folder in both.jobs} == {"first", "second"}


def test_all_shipped_studies_run_together():
    paths = sorted((ROOT / "config/studies").rglob("*.yaml"))
    plan = expand_studies(paths)
    assert len(plan.studies) == len(paths) > 30


def test_metrics_that_do_not_ask_to_be_named_are_the_default(write):
    (job,) = expand_studies([write("all", study())]).of("metrics").values()
    # rerouting-churn routes the network once a link
    assert "rerouting-churn" not in job.metrics
    assert list(job.metrics) == default_metrics()


def test_metrics_with_a_common_column_are_refused_together(write, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("source,target,bytes\n0,1,8\n")
    metrics = [f"traffic-load~matrix={tmp_path}/{name}.csv" for name in "ab"]
    with pytest.raises(InputError) as raised:
        expand_studies([write("both", study(more=f"metrics: {json.dumps(metrics)}\n"))])
    said = f"metrics: {metrics[0]} and {metrics[1]} both have the column 'traffic_max_load'"
    assert said in str(raised.value)
    apart = [f"{metric},label={name}" for metric, name in zip(metrics, "ab", strict=True)]
    expand_studies([write("apart", study(more=f"metrics: {json.dumps(apart)}\n"))])


def test_an_alias_has_one_meaning_in_a_study(write):
    first = write("first", study(routings="[{use: dor, as: mine}]"))
    second = write("second", study(routings="[{use: dfsssp, as: mine}]"))
    jobs = expand_studies([first, second]).jobs
    assert jobs["results/first/routes/torus~dims=4/mine"].text == "dor"
    assert jobs["results/second/routes/torus~dims=4/mine"].text == "dfsssp"
    both = write("both", study(routings="[{use: dor, as: mine}, {use: dfsssp, as: mine}]"))
    (line,) = mistakes(both)
    assert line.startswith(f"{both}:3: routings[1]: the name 'mine' stands for dfsssp here")
    assert f"dor at {both}:3: routings[0];" in line


@pytest.mark.parametrize("name", OTHER_FOLDERS)
def test_a_study_is_not_named_as_a_folder_with_another_use(write, name):
    path = write(name, study())
    assert mistakes(path) == [
        f"{path}: the folder results/{name} has another use; rename the study"
    ]


def test_names_with_a_path_need_an_alias_and_long_ones_do_not(write):
    failed = "+".join(str(i) for i in range(60))
    long = f"torus~dims=8x8,failed_switches={failed}"
    (job,) = expand_studies([write("long", study(f'["{long}"]'))]).of("topologies").values()
    assert job.ids == (long,)
    assert len(Path(job.folder).name) == MAX_ID
    plan = expand_studies([write("short", study(f'[{{use: "{long}", as: holes}}]'))])
    assert networks(plan) == ["holes"]
    assert plan.of("topologies")["holes",].text == long

    path = write("path", study('["graph~format=edges,file=nets/a.txt"]'))
    (path.parent / "nets").mkdir()
    (path.parent / "nets/a.txt").write_text("x y\n")
    (line,) = mistakes(path)
    assert "graph~file=config/studies/nets/a.txt,format=edges contains a path" in line
    assert line.endswith("{use: 'graph~file=nets/a.txt,format=edges', as: <alias>}")


def test_files_are_looked_up_beside_the_study_and_are_inputs(write):
    path = write(
        "files", study('[{use: "graph~file=nets/a.txt", as: a}, {use: "torus~dims=4", as: b}]')
    )
    nets = path.parent / "nets"
    nets.mkdir()
    (nets / "a.txt").write_text("x y\n")
    before = expand_studies([path])
    job = before.of("topologies")["a",]
    assert job.text == "graph~file=config/studies/nets/a.txt"
    assert job.inputs == ("config/studies/nets/a.txt",)
    assert before.of("topologies")["b",].inputs == ()

    (nets / "a.txt").write_text("x y\ny z\n")
    after = expand_studies([path])
    assert after.of("topologies")["a",].fingerprint != job.fingerprint
    assert fingerprints(after)["files/topologies/b"] == fingerprints(before)["files/topologies/b"]

    (nets / "a.txt").unlink()
    (line,) = mistakes(path)
    assert line.startswith(f"{path}:2: topologies[0]: no file config/studies/nets/a.txt")


def test_files_of_studies_elsewhere_are_absolute(write, tmp_path_factory):
    folder = tmp_path_factory.mktemp("elsewhere")
    (folder / "a.txt").write_text("x y\n")
    path = folder / "far.yaml"
    path.write_text(study("[{graph: {file: a.txt}}]"))
    (line,) = mistakes(path)
    assert f"{folder}/a.txt contains a path" in line
    path.write_text(study('[{use: "graph~file=a.txt", as: a}]'))
    assert expand_studies([path]).of("topologies")["a",].inputs == (f"{folder}/a.txt",)


def test_two_studies_cannot_have_one_name(write):
    first = write("same", study())
    other = Path("same.yaml")
    other.write_text(study())
    (line,) = mistakes(first, other)
    assert line == f"{other}: another study has this name: {first}"


def test_fingerprints_distinguish_jobs_and_stay(write):
    path = write("small", SMALL)
    plan, again = expand_studies([path]), expand_studies([path])
    known = fingerprints(plan)
    assert len(set(known.values())) == len(known) == 2 + 8 + 8
    assert "" not in known.values()
    assert fingerprints(again) == known
    study_job = plan.studies["small"]
    path.write_text(SMALL.replace("Small", "Renamed"))
    assert expand_studies([path]).studies["small"].fingerprint != study_job.fingerprint
    assert fingerprints(expand_studies([path])) == known


def test_another_metric_routes_nothing_again(write):
    path = write("small", SMALL)
    before = fingerprints(expand_studies([path]))
    path.write_text(SMALL.replace("[channel-load]", "[channel-load, route-length]"))
    after = fingerprints(expand_studies([path]))
    changed = {folder.split("/")[1] for folder in before if after[folder] != before[folder]}
    assert changed == {"metrics"}


def test_the_cited_reference_is_an_input_of_the_report(write):
    shutil.copytree(ROOT / "config/references", "config/references")
    plan = expand_studies([write("cites", study(more="cites: mukosey2020\n"))])
    folder = "config/references/mukosey2020"
    names = ("figure6", "survey", "table2", "table3", "unique-routes")
    assert set(plan.studies["cites"].inputs) == {
        "config/studies/cites.yaml",
        f"{folder}/citation.yaml",
        *(f"{folder}/{name}.csv" for name in names),
    }


@pytest.fixture
def outcomes(write):
    """A plan whose batches have run, with one outcome of every kind, by kind."""
    routings = "[{angara-sssp: {tie_seed: {range: 7}}}]"
    plan = expand_studies([write("study", study(routings=routings))])
    plan.write_lists()
    kinds = ["ok", "unsupported", "failed", "timeout", "missing", "unreadable", "of other code"]
    runs = dict(zip(kinds, plan.batches["routes", "study-1"].jobs, strict=True))
    measured = plan.of("metrics")[runs["ok"].ids]
    network = plan.batches["topologies", "study-1"].jobs[0]
    for kind, run in {**runs, "": network, "metrics": measured}.items():
        status = kind if kind in ("unsupported", "failed", "timeout") else "ok"
        fingerprint = "other" if kind == "of other code" else run.fingerprint
        reason = "" if status == "ok" else f"it is {status}"
        provenance = {"fingerprint": fingerprint}
        outcome = {"status": status, "reason": reason, "provenance": provenance}
        if kind != "missing":
            run.outcome.parent.mkdir(parents=True)
            run.outcome.write_text("{" if kind == "unreadable" else json.dumps(outcome))
    for batch in plan.batches.values():
        plan.manifest(batch).parent.mkdir(parents=True, exist_ok=True)
        plan.manifest(batch).write_text("{}")
    return plan, runs


def test_jobs_that_have_to_run_again_are_known(outcomes):
    plan, runs = outcomes
    again = ["failed", "timeout", "missing", "unreadable", "of other code"]
    assert [job for job in plan.jobs_to_repeat() if job.kind == "routes"] == [
        runs[kind] for kind in again
    ]
    # one that is missing or stale has not failed
    assert plan.failed() == len(["failed", "timeout", "unreadable"])
    assert plan.count(["unsupported"]) == 1


def test_every_job_has_a_status(outcomes):
    plan, runs = outcomes
    statuses = plan.statuses()
    assert [job.status for job in statuses if job.noun == "set of metrics"] == [
        "ok",
        "not-run",
    ]
    states = [(job.status, job.reason) for job in statuses if job.noun == "route table"]
    assert dict(zip(runs, states, strict=True)) == {
        "ok": ("ok", ""),
        "unsupported": ("unsupported", "it is unsupported"),
        "failed": ("failed", "it is failed"),
        "timeout": ("timeout", "it is timeout"),
        "missing": ("not-run", ""),
        "unreadable": ("failed", "its outcome cannot be read"),
        "of other code": ("ok", ""),
    }
    assert {job.study for job in statuses} == {"study"}


def test_lists_of_their_batches_name_the_manifest_to_replace(outcomes):
    plan, _ = outcomes

    def replaced():
        plan.write_lists()
        return {
            batch.kind: replaced_manifest_time(plan.spec(batch)) for batch in plan.batches.values()
        }

    times = {batch.kind: plan.manifest(batch).stat().st_mtime_ns for batch in plan.batches.values()}
    assert replaced() == {**times, "topologies": 0}
    # the same manifest is there: the list says the same
    assert replaced() == {**times, "topologies": 0}
    routes = plan.batches["routes", "study-1"]
    os.utime(plan.manifest(routes), ns=(7, 7))
    assert replaced() == {**times, "topologies": 0, "routes": 7}
    # a batch that was stopped has no manifest
    plan.manifest(routes).unlink()
    assert replaced() == {**times, "topologies": 0, "routes": 7}
    plan.write_lists(["topologies"])
    network = plan.batches["topologies", "study-1"]
    assert replaced_manifest_time(plan.spec(network)) == times["topologies"]
    # all is done, and the manifest names no other
    assert replaced()["topologies"] == 0


def test_a_part_has_jobs_of_few_plugins_and_waits_for_its_networks(write):
    text = study(
        "[{torus: {dims: {sweep: ['4', 4x2, 4x4]}}}, mesh~dims=3]",
        "[{angara-sssp: {tie_seed: {range: 40}}}, dor, {use: dor~order=reversed, as: yx}]",
    )
    plan = expand_studies([write("many", text)])
    parts = {id_: batch for (kind, id_), batch in plan.batches.items() if kind == "routes"}
    assert {id_: {job.base_name for job in batch.jobs} for id_, batch in parts.items()} == {
        "many-1": {"angara-sssp"},
        "many-2": {"angara-sssp", "dor"},
    }
    folders = [job.folder for batch in plan.batches.values() for job in batch.jobs]
    assert len(set(folders)) == len(folders) == 4 + 4 * 42 + 4 * 42
    assert set(folders) == set(plan.jobs)
    assert {batch.after for batch in parts.values()} == {(("topologies", "many-1"),)}


def test_a_network_starts_before_its_dependents(write):
    text = study("[torus~dims=4, mesh~dims=4]", "[dor]") + (
        "traffic: [uniform]\nsimulation: {loads: [0.1]}\n"
    )
    batches = expand_studies([write("waiting", text)]).batches
    assert any(batch.after for batch in batches.values())
    for batch in batches.values():
        for before in batch.after:
            assert batches[before].priority > batch.priority


def test_planning_needs_no_heavy_imports():
    code = (
        "import sys\n"
        "from routelab.workflow.snakefile import begin_run\n"
        "from routelab.workflow.plan.expansion import expand_studies\n"
        "assert len(expand_studies(['config/studies/angara-table2.yaml']).of('routes')) > 200\n"
        "print([m for m in ('pandas', 'networkx', 'seaborn', 'matplotlib', 'highspy', 'snakemake')"
        " if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"


def test_files_that_metrics_read_are_inputs_of_the_metrics_alone(write):
    matrix = Path("config/traffic.csv")
    matrix.write_text("0,1\n1,0\n")
    path = write("m", study(more='metrics: ["traffic-load~matrix=../traffic.csv"]\n'))
    before = expand_studies([path])
    job = before.of("metrics")["torus~dims=4", "dor"]
    assert job.inputs == ("config/traffic.csv",)
    assert list(job.metrics) == ["traffic-load~matrix=config/traffic.csv"]
    batches = {kind: batch for (kind, _), batch in before.batches.items()}
    assert batches["metrics"].inputs == ("config/traffic.csv",)
    assert batches["routes"].inputs == ()
    matrix.write_text("0,12\n1,0\n")
    after = expand_studies([path])
    assert after.of("metrics")["torus~dims=4", "dor"].fingerprint != job.fingerprint
    assert after.of("routes") == before.of("routes")
    matrix.unlink()
    assert "no file config/traffic.csv" in mistakes(path)[0]


@pytest.mark.parametrize(("key", "count"), [("", 16), ("parts: 64", 32), ("parts: 10", 8)])
def test_a_large_study_may_have_more_parts(tmp_path, key, count):
    path = tmp_path / "large.yaml"
    path.write_text(
        "title: t\ntopologies: [torus~dims=4]\nmetrics: [channel-load]\n"
        f"routings: [{{angara-sssp: {{tie_seed: {{range: 3300}}}}}}]\n{key}\n"
    )
    batches = [batch for batch in expand_studies([path]).batches.values() if batch.kind == "routes"]
    assert len(batches) == count
    sizes = [len(batch.jobs) for batch in batches]
    assert sum(sizes) == 3300
    assert max(sizes) - min(sizes) <= 1
