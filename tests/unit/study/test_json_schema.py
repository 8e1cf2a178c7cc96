"""The schema that editors use: in step with the models, and of one mind with them."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from routelab.api import InputError
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.engines import engine_class
from routelab.study import load_study
from routelab.study.bench_settings import BenchSettings
from routelab.study.document import load_document
from routelab.study.entries import Box, Range, Sweep, Systems, Use
from routelab.study.headline import Headline
from routelab.study.json_schema import study_schema
from routelab.study.reference import Source
from routelab.study.study import Bound, Limits, Study, Survey
from routelab.study.views import Beside, Between, Figure, Pivot, Relative, Table
from routelab.workflow.plan.preview import study_schema_text

ROOT = Path(__file__).parents[3]
STUDIES = sorted((ROOT / "config/studies").rglob("*.yaml"))
WRITE = "run `make schema`"

GOOD = """\
title: A study
topologies:
  - torus~dims=4
  - torus: {dims: {sweep: ["2", 4x2]}, seed: {range: 2}, nodes: [0, 1]}
  - stranger: {size: 1.5, wrap: true}
routings: [dor, {dfsssp: null}, {use: dfsssp, as: layered}]
metrics: [channel-load]
limits: {seconds: 5}
tables:
  loads: {rows: [routing], values: [max_load], over: {seed: median}, where: {nodes: [2, 4]}}
figures:
  loads: {kind: ecdf, x: load, hue: routing, where: {nodes: 4}}
notes: [one]
"""


MODELS = (
    *(Study, Sweep, Range, Box, Use, Systems, Limits, Bound, Survey, BenchSettings, Headline),
    *(Table, Pivot, Beside, Figure, Relative, Between, Source),
    *(engine_class(name).Parameters for name in ("packet", "flow")),
)


@pytest.fixture(scope="module")
def schema():
    return study_schema(installed_catalogue(), "routelab")


def test_the_schema_in_the_repository_is_that_of_the_models():
    written = (ROOT / "config/schema/study.schema.json").read_text(encoding="utf-8")
    assert written == study_schema_text(built_in=True), WRITE


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_studies_that_we_ship_keep_the_schema_and_name_it(path, schema):
    jsonschema.validate(load_document(path).data, schema, cls=jsonschema.Draft7Validator)
    first = path.read_text().splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == ROOT / "config/schema/study.schema.json"


def test_the_schema_is_one(schema):
    jsonschema.Draft7Validator.check_schema(schema)


def accepted_by_the_model(path, text):
    path.write_text(text)
    try:
        load_study(path)
    except InputError:
        return False
    return True


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("title: A study\n", ""),
        ("title:", "titel:"),
        ("notes: [one]", "notes: one"),
        ("  - torus~dims=4\n", "  - 4\n"),
        ("  - torus~dims=4\n", "  - {torus: {dims: 4}, mesh: {dims: 4}}\n"),
        ("  - torus~dims=4\n", "  - {}\n"),
        ("{dims: {sweep:", "{dims: {sweeep:"),
        ('{sweep: ["2", 4x2]}', "{sweep: []}"),
        ("{range: 2}", "{range: 0}"),
        ("{range: 2}", "{range: 2, sweep: [1]}"),
        ("size: 1.5", "size: null"),
        ("{dfsssp: null}", "{dfsssp: 3}"),
        ("as: layered", "as: a/b"),
        ("as: layered", "az: layered"),
        ("[channel-load]", "[]"),
        ("{seconds: 5}", "{seconds: 0}"),
        ("{seconds: 5}", "{minutes: 5}"),
        ("  loads: {rows", "  a/b: {rows"),
        ("values: [max_load]", "values: max_load"),
        ("values: [max_load], ", ""),
        ("seed: median", "seed: mode"),
        ("where: {nodes: 4}", "where: {nodes: {a: 4}}"),
        ("kind: ecdf", "kind: pie"),
    ],
)
def test_schema_and_model_are_of_one_mind(tmp_path, schema, old, new):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    accepted = accepted_by_the_model(tmp_path / "study.yaml", text)
    assert accepted == (not old)
    assert jsonschema.Draft7Validator(schema).is_valid(yaml.safe_load(text)) == accepted


def test_editors_offer_plugins_and_their_parameters(zoo):
    offered = study_schema(zoo)
    definitions = offered["$defs"]
    name, mapping, _ = definitions["topology"]["oneOf"]
    assert name["examples"] == ["bare", "grid"]
    grid = mapping["properties"]["grid"]
    assert grid["description"] == "A grid"
    assert list(grid["properties"])[:3] == ["dims", "failed_switches", "failed_links"]
    assert "class" in grid["properties"]
    dims = grid["properties"]["dims"]["description"]
    assert dims == "sizes of its dimensions (dimensions, as in 4x2x2; required)"
    assert definitions["routing"]["oneOf"][0]["examples"] == ["published", "settled", "whole"]
    published = definitions["routing"]["oneOf"][1]["properties"]["published"]["properties"]
    assert {"tie_seed", "selection.seed", "rules.seed"} <= set(published)
    assert study_schema(zoo, "routelab")["$defs"]["topology"]["oneOf"][0]["examples"] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_reference_page_lists_every_key(model):
    page = (ROOT / "docs/reference/study.md").read_text(encoding="utf-8")
    keys = [field.alias or name for name, field in model.model_fields.items()]
    assert [key for key in keys if f"| `{key}` | " not in page] == []
