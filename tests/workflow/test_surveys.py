"""A survey with the real commands: killed, taken up again, grown, and reported."""

from __future__ import annotations

import csv
import os
import signal
from pathlib import Path

import pytest
from installed_in_place import write_distribution

pytestmark = pytest.mark.workflow

SURVEY = """\
title: Small survey
survey: {{runs: 30}}
bound: true
topologies:
  - torus: {{dims: {{boxes: {{dimensions: 2, sizes: [2, {most}]}}}}}}
routings:
  - angara-sssp
  - {{use: "held@dimension-order", on: {{sample: 5}}}}
tables:
  loads: {{rows: [routing, topology], values: [max_load, lower_bound_rules, gap]}}
"""


HELD = """\
import time
from pathlib import Path

from routelab_plugins.selection.first import First


class Held(First):
    name = "held"
    summary = "As first, as soon as a file is there"

    def select(self, graph):
        # not while kernels are loaded
        while graph.topology.num_switches > 6 and not Path("go").exists():
            time.sleep(0.05)
        return super().select(graph)
"""


def lines(folder) -> list[str]:
    """Fingerprints of all whole rows in the store, of origins not."""
    texts = [path.read_bytes() for path in (folder.results / "surveys/rows").glob("*.rows")]
    parts = [line.split(b"\t") for text in texts for line in text.split(b"\n")]
    return [part[2].decode() for part in parts if len(part) == 4 and part[1] != b"origin"]


@pytest.fixture
def survey(folder):
    folder.use_real_command()
    folder.write("config/studies/small.yaml", SURVEY.format(most=6))
    site = folder.path / "site"
    write_distribution(site, "held", {"routelab.selection": {"held": "held_plugin:Held"}})
    folder.write("site/held_plugin.py", HELD)
    folder.env["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    return folder


def report(folder) -> dict[tuple[str, str], dict[str, str]]:
    path: Path = folder.path / "results/report/small/tables/loads.csv"
    with path.open(newline="") as file:
        return {(row["routing"], row["topology"]): row for row in csv.DictReader(file)}


def test_a_killed_survey_goes_on_where_it_was(survey):
    # it waits before its end: otherwise all rows may be there half a second after the third
    run = survey.start()
    survey.wait_for(lambda: len(lines(survey)) >= 3, run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    before = lines(survey)
    (survey.path / "go").touch()
    # 25 networks: two bounds and a run of each; five more runs under rules of their own
    assert 3 <= len(before) < 85

    again = survey.run()
    assert again.returncode == 0, again.stdout + again.stderr
    after = lines(survey)
    # a row is made once, whoever was killed
    assert len(after) == len(set(after)) == 85
    assert set(before) <= set(after)

    rows = report(survey)
    assert len(rows) == 30
    for row in rows.values():
        assert int(row["gap"]) == int(row["max_load"]) - int(row["lower_bound_rules"]) >= 0
    # a 4x4 torus: 512 hops over 64 channels, and dimension order with balanced ties reaches it
    assert rows["angara-sssp", "torus~dims=4x4"]["lower_bound_rules"] == "8"
    assert {path.name for path in survey.results.iterdir()} == {"surveys"}

    nothing = survey.run()
    assert "Nothing to be done" in nothing.stdout + nothing.stderr

    # what was torn off and what is new is done, and nothing else
    store = survey.results / "surveys/rows"
    path = max(store.glob("*.rows"), key=lambda path: path.stat().st_size)
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    survey.write("config/studies/small.yaml", SURVEY.format(most=7))
    grown = survey.run()
    assert grown.returncode == 0, grown.stdout + grown.stderr
    final = lines(survey)
    assert len(final) == len(set(final))
    # the sample is drawn anew from the larger box, and rows of networks that left it stay
    assert len(report(survey)) == 36 + 5
    assert len(set(final) - set(after)) >= 11 * 3

    # rows of a survey are made anew, those of networks that left it are removed
    fresh = survey.run("report", "--config", "fresh=surveys")
    assert fresh.returncode == 0, fresh.stdout + fresh.stderr
    assert len(lines(survey)) == len(set(lines(survey))) < len(final)
    assert set(lines(survey)) < set(final)
    assert len(report(survey)) == 36 + 5
