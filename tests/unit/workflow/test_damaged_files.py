"""A damaged, cut or missing file of a result is made again or refused, and never used."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.jobs.batches import replaced_manifest_time, run_batch
from routelab.results.survey_table import read_survey_table
from routelab.workflow.plan.expansion import expand_studies
from routelab.workflow.report import write_report

STUDIES = {
    "all": """\
title: A study of every stage that computes
topologies: [torus~dims=3x2]
routings: [dor, "sssp@up-down"]
metrics: [channel-load]
traffic: [uniform]
simulation: {loads: [0.2], warmup_cycles: 50, sample_cycles: 50, precision: 0.9}
workloads: [{use: "npb-cg~class=S", as: CG}]
bound: {any_routing: true, seconds: 1}
figures:
  loads: {of: channels, kind: ranked, y: load}
  terminals: {of: terminals, kind: box, x: routing, y: accepted}
""",
    "survey": """\
title: A survey
survey: true
topologies: [torus~dims=3x2]
routings: [dor]
bound: true
""",
}


def planned(names=tuple(STUDIES)):
    return expand_studies([Path(f"{name}.yaml") for name in names])


def run(plan):
    plan.write_lists()
    for batch in plan.batches.values():
        spec, manifest = plan.spec(batch), plan.manifest(batch)
        is_listed = replaced_manifest_time(spec) != replaced_manifest_time(
            manifest.with_suffix(".json")
        )
        if is_listed or not manifest.exists():
            run_batch(spec, manifest)


def lists():
    """Rows of the CSV files of the pages of both studies."""
    rows = {}
    for name in STUDIES:
        folder = Path("pages", name)
        shutil.rmtree(folder, ignore_errors=True)
        write_report(Path(f"{name}.yaml"), Path("results"), folder)
        for path in [*folder.glob("*.csv"), *folder.glob("figures/*.csv")]:
            with path.open(newline="") as file:
                rows[str(path)] = list(csv.DictReader(file))
    return rows


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, text in STUDIES.items():
            Path(f"{name}.yaml").write_text(text)
        run(planned())
        expected = lists()
    assert len(expected) == 6
    return folder, expected


def files_of_each_kind(folder):
    """One file of each name in each stage, without lists of work and marks of what is done."""
    kinds = {}
    for path in sorted((folder / "results").glob("*/*/**/*")):
        stage = path.relative_to(folder / "results").parts[1]
        if path.is_file() and stage != "batches" and not path.parts[-3].startswith(".plan"):
            kinds.setdefault((stage, re.sub(r"[0-9a-f]{20,}|\d+", "n", path.name)), path)
    return list(kinds.values())


def cut(content):
    return content[: len(content) // 2]


def change_a_digit(content):
    """Another digit in the middle: the file has the same size and is read as before."""
    at = [digit.start() for digit in re.finditer(rb"[1-8]", content)]
    middle = at[len(at) // 2]
    return content[:middle] + bytes([content[middle] + 1]) + content[middle + 1 :]


@pytest.mark.slow
def test_every_damage_is_mended_or_refused(sound, tmp_path, monkeypatch):
    folder, expected = sound
    paths = files_of_each_kind(folder)
    assert len(paths) > 15
    ends = {}
    for number, path in enumerate(paths):
        for damage in (cut, change_a_digit, None):
            copy = tmp_path / f"{number}"
            shutil.copytree(folder, copy)
            monkeypatch.chdir(copy)
            damaged = copy / path.relative_to(folder)
            if damage is None:
                damaged.unlink()
            else:
                damaged.write_bytes(damage(damaged.read_bytes()))
            what = f"{damage.__name__ if damage else 'remove'} {damaged.relative_to(copy)}"
            ends.setdefault(what_happens(expected), []).append(what)
            shutil.rmtree(copy)
    assert set(ends) == {"made again", "refused", "not read"}, ends
    assert len(ends["made again"]) > len(ends["not read"])


def what_happens(expected):
    """Run the studies again, as the workflow does, and look at their pages."""
    plan = planned()
    if plan.jobs_to_repeat() or any(not Path(name).exists() for name in plan.manifests()):
        if message := message_of(run, plan):
            return message
        return "left as it was" if planned().jobs_to_repeat() else "made again"
    rows = {}
    if message := message_of(lambda: rows.update(lists())):
        return message
    if rows == expected:
        return "not read"
    pages = "".join(Path("pages", name, "index.html").read_text() for name in STUDIES)
    return "refused" if "damaged" in pages else "used"


def message_of(work, *arguments):
    """Nothing, or "refused" if the message of an error says how to go on, or that message."""
    try:
        work(*arguments)
    except InputError as error:
        return "refused" if "run again" in str(error) else str(error)
    return ""


def test_a_changed_row_of_a_survey_is_refused(sound, tmp_path, monkeypatch):
    folder, _ = sound
    shutil.copytree(folder / "results", tmp_path / "results")
    (path,) = (tmp_path / "results/survey/surveys").glob("*.csv")
    path.write_bytes(change_a_digit(path.read_bytes()))
    with pytest.raises(InputError, match="remove it and run again"):
        read_survey_table(path)
