"""study check finds routings of a headline that the study lacks."""

from __future__ import annotations

import pytest

from routelab.api import InputError
from routelab.workflow.plan.preview import check_studies

STUDY = """\
title: t
topologies: [torus~dims=4x2, {{use: torus~dims=4x4, as: big}}]
routings: [dor, valiant, {{use: rdr, as: random}}, angara-bfs: {{tie_seed: {{sweep: [1, 2]}}}}]
traffic: [uniform, tornado]
simulation: {{loads: [0.1, 0.8, 1.0]}}
headline: {{value: {}}}
tables:
  t:
    of: loads
    rows: [traffic, load, dims, nodes, routing]
    values: [accepted_load]
    where: {{routing: [dor, random, angara-bfs]}}
    over: {{tie_seed: median}}
  few:
    of: loads
    rows: [traffic, routing]
    values: [accepted_load_ratio]
    relative: {{to: dor, column: accepted_load}}
    where: {{load: 0.8, topology: big, traffic: tornado}}
  both:
    of: loads
    rows: [traffic, load, dims, nodes, routing, relative_to]
    values: [accepted_load_ratio]
    relative: {{to: [dor, valiant], column: accepted_load}}
"""


@pytest.fixture
def mistakes_of(tmp_path):
    """The mistakes of a study with this headline, without the path."""

    def mistakes_of(headline):
        path = tmp_path / "study.yaml"
        path.write_text(STUDY.format(headline))
        try:
            check_studies([path])
        except InputError as error:
            return str(error).replace(f"{path}:", "").splitlines()
        return []

    return mistakes_of


@pytest.mark.parametrize(
    ("headline", "messages"),
    [
        (
            "accepted_load, baseline: dorr, compare: [dor, rdr]",
            [
                "6: headline.compare: the study has no routing 'rdr'",
                "6: headline.baseline: the study has no routing 'dorr'; did you mean 'dor'?",
            ],
        ),
        (
            "accepted_load, baseline: dor, compare: angara-bfs~tie_seed=1",
            ["6: headline.compare: the study has no routing 'angara-bfs~tie_seed=1'"],
        ),
        (
            "accepted_load, baseline: dor, compare: [dor]",
            ["6: headline.compare: 'dor' is the routing to compare with"],
        ),
        ("accepted_load, baseline: dor, compare: angara-bfs, where: {load: 1, nodes: 7}", []),
        ("accepted_load_ratio, table: both, baseline: valiant, compare: dor", []),
        (
            "accepted_load_ratio, table: both, baseline: valiant, compare: valiant",
            ["6: headline.compare: 'valiant' is the routing to compare with"],
        ),
        (
            "accepted_load_ratio, table: few, compare: dor",
            ["6: headline.compare: 'dor' is the routing to compare with"],
        ),
    ],
)
def test_wrong_names_of_a_headline_are_found(mistakes_of, headline, messages):
    mistakes = mistakes_of(headline)
    assert len(mistakes) == len(messages)
    assert all(
        mistake.startswith(message) for mistake, message in zip(mistakes, messages, strict=True)
    )
