"""``routelab study check``: mistakes are told at once."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routelab.cli import main
from routelab.study import ConfigError
from routelab.workflow.plan.preview import check_studies

BAD = """\
titel: Bad
cites: nobody2020
topologies: [{torus: {dims: 4}, mesh: {dims: 4}}]
routings: [dor]
limits: {seconds: soon}
"""
WRONG = """\
title: Wrong
topologies: [torus~dims=0, tours~dims=4]
routings: [{angara-sssp: {tie_sed: 1}}]
"""


def test_all_mistakes_of_several_files_are_reported_together(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("good.yaml").write_text("title: Good\ntopologies: [torus~dims=4]\nroutings: [dor]\n")
    Path("bad.yaml").write_text(BAD)
    Path("wrong.yaml").write_text(WRONG)
    assert main(["study", "check", "good.yaml", "bad.yaml", "wrong.yaml", "none.yaml"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [line for line in printed.err.splitlines() if not line.startswith(" ")]
    starts = [
        *("bad.yaml:1: 'title' is missing", "bad.yaml:1: titel: ", "bad.yaml:3: topologies[0]: "),
        *("bad.yaml:5: limits.seconds: ", "bad.yaml:2: cites: ", "wrong.yaml:2: topologies[0]: "),
        *("wrong.yaml:2: topologies[1]: ", "wrong.yaml:3: routings[0]: "),
        *("none.yaml: cannot be read", "mistakes: 9"),
    ]
    assert len(lines) == len(starts), lines
    assert all(line.startswith(start) for line, start in zip(lines, starts, strict=True)), lines


WORDS = {
    "torus": "torrus",
    "angara-sssp": "angara-ssp",
    "channel-load": "chanel-load",
    "topology": "topolgy",
    "max_load": "max_lod",
    "min_load": "min_lod",
    "bar": "baar",
}
"""Words of a good study by a key of their own, each with the way in which it is misspelled."""

GOOD = """\
title: Good
topologies: [{{{torus}: {{dims: 4x2}}}}]
routings: [dor, {angara-sssp}]
metrics: [{channel-load}]
headline: {{table: t, value: max_load, compare: [angara-sssp], baseline: dor}}
tables:
  t: {{rows: [topology, routing], values: [max_load]}}
  u: {{rows: [{topology}, routing], values: [{max_load}, {min_load}]}}
figures:
  f: {{kind: {bar}, x: routing, y: max_load}}
"""


@settings(max_examples=30, deadline=None)
@given(st.sets(st.sampled_from(sorted(WORDS)), min_size=1))
def test_all_misspelled_words_are_reported_at_once_and_nothing_that_follows_from_them(words):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "good.yaml")
        written = {word: WORDS[word] if word in words else word for word in WORDS}
        path.write_text(GOOD.format(**written))
        with pytest.raises(ConfigError) as caught:
            check_studies([path])
        mistakes = caught.value.mistakes
        reported = [word for word in WORDS for line in mistakes if f"'{WORDS[word]}'" in line]
        assert sorted(reported) == sorted(words), mistakes
        assert len(mistakes) == len(words), mistakes
        for word in words - {"bar"}:  # of a kind of figure all are listed
            assert any(f"did you mean '{word}'?" in line for line in mistakes), (word, mistakes)


def test_a_suggestion_says_what_the_suggested_word_needs(tmp_path):
    path = tmp_path / "study.yaml"
    text = "title: t\ntopologies: [torus~dims=4]\nroutings: [dor]\n{}tables:\n  t: {{rows: {}}}\n"
    path.write_text(text.format("", "[routing], values: [gapp, latency_mean]"))
    with pytest.raises(ConfigError, match=r"'gap'.*bound: true"):
        check_studies([path])
    with pytest.raises(ConfigError, match=r"latency_mean.*of: loads.*add 'traffic'"):
        check_studies([path])
    path.write_text(text.format("bound: true\n", "[routing], values: [gap]"))
    check_studies([path])


def test_a_study_with_an_unknown_key_is_checked_as_without_it(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("title: t\ncolour: red\ntopologies: [tours~dims=4]\nroutings: [dor, door]\n")
    with pytest.raises(ConfigError) as caught:
        check_studies([path])
    places = [line.removeprefix(f"{path}:").split(": ")[1] for line in caught.value.mistakes]
    assert places == ["colour", "topologies[0]", "routings[1]"]


def places_of(mistakes, path):
    return [line.removeprefix(f"{path}:").split(": ")[1] for line in mistakes]


def test_a_mistake_of_one_part_hides_none_of_another(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        """\
title: t
limits: {secnds: 4}
topologies: [{torus: {dims: {sweeep: [4x4]}}}, torrus~dims=4, torus~dims=4x2]
routings: [dor, {use: angara-sssp, ass: m}]
traffic: [uniform]
simulation: {vc: 4, loads: [0.1]}
headline: {table: acepted}
tables:
  t: {of: loads, rows: [routing, topology, load], values: [accepted_laod, latency_avg]}
  u: {of: loads, rows: [routng], statistics: {accepted_load: [mena]}}
figures:
  f: {kind: curv, x: load, y: accepted_load}
"""
    )
    with pytest.raises(ConfigError) as caught:
        check_studies([path])
    mistakes = caught.value.mistakes
    assert sorted(set(places_of(mistakes, path))) == sorted(
        [
            *("limits.secnds", "topologies[0].torus.dims", "topologies[1]", "routings[1].ass"),
            *("simulation.vc", "headline.table", "tables.t.values"),
            "tables.u.statistics.accepted_load[0]",
            *("tables.u.rows", "figures.f.kind"),
        ]
    ), mistakes
    for name in ("accepted_load", "latency_mean", "mean", "curve", "vcs", "seconds", "routing"):
        assert any(f"did you mean '{name}'?" in line for line in mistakes), name


@pytest.mark.parametrize("wrong", ["5", "[]", "[{a: b}]", "[[1]]", "{t: 5, u: [1]}", "~"])
@pytest.mark.parametrize("key", ["tables", "figures", "headline", "limits", "bound"])
def test_parts_of_any_wrong_form_are_mistakes(key, wrong, tmp_path):
    path = tmp_path / "study.yaml"
    parts = {"topologies": "[tours~dims=4]", "routings": "[dor]", key: wrong}
    path.write_text("title: t\n" + "".join(f"{name}: {part}\n" for name, part in parts.items()))
    with pytest.raises(ConfigError, match="did you mean 'torus'"):
        check_studies([path])


def test_a_filter_by_a_name_that_the_study_lacks_is_found(tmp_path):
    path = tmp_path / "study.yaml"
    text = (
        "title: t\ntopologies: [torus~dims=4]\n"
        "routings: [dor, {angara-sssp: {tie_seed: {range: 2}}}]\n"
        "tables:\n  t: {rows: [topology], values: [max_load], where: {routing: NAME}, "
        "over: {tie_seed: median}}\n"
    )
    for name in ("dor", "angara-sssp"):
        path.write_text(text.replace("NAME", name))
        check_studies([path])
    path.write_text(text.replace("NAME", "doorr"))
    with pytest.raises(ConfigError, match="has no routing 'doorr'; did you mean 'dor'"):
        check_studies([path])
