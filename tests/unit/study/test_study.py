import shutil
from pathlib import Path

import pytest

from routelab.api import InputError
from routelab.study import load_study

ROOT = Path(__file__).parents[3]

GOOD = """\
title: A study
cites: mukosey2020
topologies:
  - torus: {dims: {sweep: ["2", 4x2]}}
routings: [dor, {use: dfsssp, as: layered}]
limits: {seconds: 5}
tables:
  table2:
    rows: [routing, nodes]
    values: [max_load]
    over: {seed: median, tie_seed: range}
    beside: {reference: table2.csv, on: [routing, nodes]}
figures:
  loads: {kind: ecdf, x: load, hue: routing, where: {nodes: [16, 32]}}
"""


@pytest.fixture
def write(tmp_path):
    shutil.copytree(ROOT / "config/references", tmp_path / "references")
    (tmp_path / "studies").mkdir()

    def write(text, name="good.yaml"):
        path = tmp_path / "studies" / name
        path.write_text(text)
        return path

    return write


def mistakes(path):
    with pytest.raises(InputError) as raised:
        load_study(path)
    return [line.removeprefix(str(path)) for line in str(raised.value).splitlines()]


def test_a_study_has_the_values_of_its_file(write):
    study = load_study(write(GOOD))
    assert study.name == "good"
    assert (study.limits.seconds, study.limits.memory_gb) == (5, 4)
    assert study.metrics is None
    assert study.tables["table2"].over == {"seed": "median", "tie_seed": "range"}
    assert study.tables["table2"].beside.prefix == "paper_"
    assert study.figures["loads"].where == {"nodes": [16, 32]}
    assert study.reference.rows("table2.csv")[4]["max_load"] == "48"
    assert study.place("routings", 1).endswith("good.yaml:5: routings[1]: ")


def test_all_mistakes_are_reported_together_with_line_path_and_fix(write):
    path = write(
        """\
titel: x
topologies:
  - torus: {dims: {sweeep: [2]}}
  - {use: x, ass: ab}
routings: []
limits: {seconds: -1, memory: 8}
tables:
  t:
    rows: [routing, nodes]
    values: max_load
    over: {tie_seed: mode}
figures:
  f: {kind: ecdf, y: load}
  n: {kind: netwrk, colour: load}
""",
        "bad.yaml",
    )
    lines = mistakes(path)
    places = [
        *(":1: 'title' is missing", ":1: titel: unknown key; did you mean 'title'?"),
        *(":3: topologies[0].torus.dims: ", ":4: topologies[1].ass: ", ":5: routings: "),
        *(":6: limits.seconds: ", ":6: limits.memory: ", ":10: tables.t.values: "),
        *(":11: tables.t.over.tie_seed: ", ":13: figures.f: ", ":14: figures.n.kind: "),
    ]
    assert len(lines) == len(places)
    for line, place in zip(lines, places, strict=True):
        assert line.startswith(place)


def test_a_setting_that_is_gone_says_so_in_one_line(write):
    path = write("title: t\ntopologies: [ring]\nroutings: [dor]\nlimits: {idle_seconds: 9}\n")
    (line,) = mistakes(path)
    assert line.startswith(":4: limits.idle_seconds: is no longer a setting: ")
    assert line.endswith("; remove this line")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("mukosey2020", "mukosey2021", ":2: cites: no folder mukosey2021 in "),
        ("cites: mukosey2020\n", "", ":11: tables.table2.beside: the study cites no reference"),
        ("table2.csv", "tabel2.csv", ":12: tables.table2.beside: no table tabel2.csv in "),
        (
            "[routing, nodes]}",
            "[nodes, routing, x]}",
            ":8: tables.table2: beside.on names x, which is not in rows",
        ),
        ("rows: [routing, nodes]", "rows: [nodes, n]", ":8: tables.table2: beside.on names rout"),
        ("x: load, hue", "x: load, y: load, hue", ":14: figures.loads: a figure of kind ecdf does"),
        ("x: load, hue", "x: load, mark: 0, hue", ":14: figures.loads: a figure of kind ecdf does"),
        ("table2:", "table/2:", ":8: tables.table/2: 'table/2' should be a word"),
        ("over:", "count: true\n    over:", ":8: tables.table2: count cannot be combined with"),
        (
            "x: load, hue",
            "x: load, over: {seed: mean}, hue",
            ":14: figures.loads: a figure of kind",
        ),
        (
            "over:",
            "where: {max_load: {min: 5, max: 2}}\n    over:",
            ":11: tables.table2.where.max_load: no value is between 5 and 2",
        ),
        ("{seconds: 5}", "{seconds: fast}", ":6: limits.seconds: 'fast' should be a valid number"),
    ],
)
def test_a_mistake_is_found_where_it_is(write, old, new, expected):
    assert old in GOOD
    (line,) = mistakes(write(GOOD.replace(old, new, 1)))
    assert line.startswith(expected)


@pytest.mark.parametrize("folder", ["studies", "studies/mine", "."])
def test_references_are_found_from_the_folders_above(write, tmp_path, monkeypatch, folder):
    home = write(GOOD)
    path = tmp_path / folder / "x.yaml"
    path.parent.mkdir(exist_ok=True)
    home.rename(path)
    assert load_study(path).reference.folder.resolve() == tmp_path / "references/mukosey2020"
    monkeypatch.chdir(path.parent)
    assert load_study("x.yaml").reference.source.key == "mukosey2020"


@pytest.mark.parametrize("text", ["", "- a\n- b\n", "just words"])
def test_a_study_is_a_mapping(write, text):
    (line,) = mistakes(write(text))
    assert "a study must be a mapping" in line


@pytest.mark.parametrize("name", ["my study,2", "x;y", "$(id)", ".hidden", "-x", "a.b", "ü", "`x`"])
def test_the_name_of_the_file_names_directories(write, name):
    (line,) = mistakes(write(GOOD, f"{name}.yaml"))
    assert "a study's file name is letters" in line


def test_a_slip_of_the_pen_is_no_flood_of_runs(write):
    text = GOOD.replace('{sweep: ["2", 4x2]}', "{range: 1000000000000}")
    (line,) = mistakes(write(text))
    assert line == ":4: topologies[0]: stands for 1000000000000 instances; the limit is 10000"
    text = GOOD.replace("[dor,", "[dor, {a: {x: {range: 9999}}},").replace(
        '{sweep: ["2", 4x2]}', "{range: 100}"
    )
    (line,) = mistakes(write(text))
    assert line == ":1: stands for 1000100 runs; the limit is 100000"


@pytest.mark.parametrize(
    ("headline", "key", "said"),
    [
        ("{table: laods}", "table", "did you mean 'loads'?"),
        ("{figure: f}", "figure", "has no figure 'f'"),
        ("{value: max_lood, baseline: a}", "value", "did you mean 'max_load'?"),
        ("{value: max_load, baseline: a, where: {row: 1}}", "where", "known: nodes, routing"),
        (
            "{table: sizes, value: max_load, baseline: a, compare: [a, b]}",
            *("table", "have no routing"),
        ),
        ("{compare: a}", "compare", "needs the key 'value'"),
        ("{value: max_load}", "value", "add 'baseline: ROUTING'"),
        ("{table: gains, value: max_load_gain, baseline: b}", "baseline", "known: a"),
        ("{table: gains, value: max_load, baseline: a}", "value", "compare 'max_load_ratio'"),
        ("{table: both, value: max_load_gain_mean, baseline: a}", "value", "add 'relative_to'"),
    ],
)
def test_a_headline_must_name_parts_of_the_study(tmp_path, headline, key, said):
    path = tmp_path / "demo.yaml"
    path.write_text(
        f"title: A study\ntopologies: [torus]\nroutings: [a]\nheadline: {headline}\n"
        "tables:\n  loads: {rows: [routing, nodes], values: [max_load]}\n"
        "  sizes: {rows: [nodes], values: [max_load]}\n"
        "  gains: {rows: [routing], values: [max_load, max_load_gain], "
        "relative: {to: a, column: max_load}}\n"
        "  both: {rows: [routing], statistics: {max_load_gain: [mean]}, "
        "relative: {to: [a, b], column: max_load}}\n"
    )
    with pytest.raises(InputError) as caught:
        load_study(path)
    assert str(caught.value).startswith(f"{path}:4: headline.{key}: ")
    assert said in str(caught.value)


def test_a_column_that_the_reference_lacks(write):
    text = GOOD.replace("[routing, nodes]", "[routing, node]")
    (line,) = mistakes(write(text))
    assert line.startswith(":12: tables.table2.beside: table2.csv has no column 'node'")
    assert line.endswith("did you mean 'nodes'?")
