"""The schema of cluster files: in step with the models, and of one mind with them."""

from pathlib import Path

import jsonschema
import pytest

from routelab.api import InputError
from routelab.cluster.files import cluster_schema_text
from routelab.study.cluster.json_schema import cluster_schema
from routelab.study.cluster.keys import COLLECTION_KEYS, load_cluster
from routelab.study.document import load_document

ROOT = Path(__file__).parents[4]
CLUSTERS = sorted((ROOT / "config/clusters").glob("*.yaml"))
WRITE = "run `make schema`"

GOOD = """\
name: A cluster
topology: torus~dims=2
nodes: 2
ranks_per_node: 2
launcher: srun
mpi: pmi2
options: [--foo]
partition: some
environment: {OMP_NUM_THREADS: 1, A: b}
hosts: {n1: [0], n2: [1]}
node_sets: {torus~dims=2: "n[1-2]"}
benchmarks: {npb: /opt/npb}
fabric: {use: command, apply: [x, y], restore: [z]}
machine:
  latency: 1.0e-6
  overhead: {value: 0.0, source: measured}
  hop_latency: {value: 1.0e-7, assumed: why, range: [0.0, 1.0e-6]}
  handshake: false
"""


@pytest.fixture(scope="module")
def validator():
    schema = cluster_schema()
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def test_the_schema_in_the_repository_is_that_of_the_models():
    written = (ROOT / "config/schema/cluster.schema.json").read_text(encoding="utf-8")
    assert written == cluster_schema_text(), WRITE


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.stem)
def test_clusters_that_we_ship_keep_the_schema_and_name_it(path, validator):
    validator.validate(load_document(path).data)
    named = path.read_text().splitlines()[0].removeprefix("# yaml-language-server: $schema=")
    assert (path.parent / named).resolve() == ROOT / "config/schema/cluster.schema.json"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("name:", "nama:"),
        ("options: [--foo]", "options: {a: b}"),
        ("nodes: 2", "nodes: 0"),
        ("ranks_per_node: 2", "ranks_per_node: 5000"),
        ("launcher: srun", "launcher: slurm"),
        ("mpi: pmi2", "mpi: -x"),
        ("options: [--foo]", "options: --foo"),
        ("partition: some", "partition: a b"),
        ("{OMP_NUM_THREADS: 1", "{1A: 1"),
        ("{OMP_NUM_THREADS: 1", "{OMP_NUM_THREADS: 1.5"),
        ("{OMP_NUM_THREADS: 1", "{OMP_NUM_THREADS: true"),
        ("{n1: [0]", "{-n1: [0]"),
        ("{n1: [0]", "{n1: [-1]"),
        ("{n1: [0]", "{n1: []"),
        ("{n1: [0], n2: [1]}", "{n1: 0, n2: 1}"),
        ('"n[1-2]"', "{n1: [0], n2: [1]}"),
        ("{npb: /", "{a/b: /"),
        ("restore: [z]}", "rest: [z]}"),
        ("latency: 1.0e-6", "latency: true"),
        ("latency: 1.0e-6", "latency: -1.0"),
        ("latency: 1.0e-6", "latence: 1.0"),
        ("{value: 0.0, source", "{value: true, source"),
        ("{value: 0.0, source: measured}", "{value: 0.0}"),
        ("assumed: why, ", ""),
        ("[0.0, 1.0e-6]", "[0.0]"),
        ("handshake: false", "handshake: 0"),
    ],
)
def test_schema_and_model_are_of_one_mind(tmp_path, validator, old, new):
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    path = tmp_path / "some.yaml"
    path.write_text(text)
    try:
        load_cluster(path)
        accepted = True
    except InputError:
        accepted = False
    assert accepted == (not old)
    assert validator.is_valid(load_document(path).data) == accepted


def test_editors_accept_keys_with_nothing_behind_them(validator):
    validator.validate(dict.fromkeys(COLLECTION_KEYS))
