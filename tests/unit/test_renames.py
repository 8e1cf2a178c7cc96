"""Replaced names: a warning with the replacement and the version, later an error."""

import re

import pytest

import routelab
from routelab import _renames, api, metrics, toolkit
from routelab._renames import RENAMES, Rename
from routelab.api import InputError
from routelab.cli import main
from routelab.config import load_study
from routelab.registry import compositions
from routelab.registry.instances import from_mapping, load_routing

STUDY = """\
title: Old
topologies: ["torus~dims=4"]
routings: [dor]
restrictions: {seconds: 50}
tables: {all: {rows: [routing], columns: [max_load]}}
"""


@pytest.fixture
def renames(monkeypatch):
    """A function that replaces the table."""

    def replace(*renames):
        monkeypatch.setattr(_renames, "RENAMES", renames)
        compositions._replacement.cache_clear()

    yield replace
    compositions._replacement.cache_clear()


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "old.yaml"
    path.write_text(STUDY)
    return path


KEYS = ("restrictions", "limits"), ("tables.*.columns", "values")


def test_old_keys_of_studies_work_with_one_line_each(renames, study, caplog):
    renames(*(Rename("study", old, new, "9.0") for old, new in KEYS))
    found = load_study(study)
    assert found.limits.seconds == 50
    assert found.tables["all"].values == ["max_load"]
    first, second = (record.getMessage() for record in caplog.records)
    assert first == (
        f"{study}:4: restrictions: restrictions is deprecated and will be removed in version 9.0; "
        "use limits"
    )
    assert second.startswith(f"{study}:5: tables.all.columns: tables.*.columns is deprecated")


def test_keys_that_are_gone_are_errors_with_the_new_key(renames, study, capsys):
    renames(*(Rename("study", old, new, "0.1") for old, new in KEYS))
    assert main(["study", "check", str(study)]) == 2
    error = capsys.readouterr().err
    assert f"{study}:4: restrictions: restrictions was removed in version 0.1; use limits" in error
    assert f"{study}:5: tables.all.columns: tables.*.columns was removed" in error


def test_the_old_and_the_new_key_together_are_a_mistake(renames, study):
    renames(Rename("study", "restrictions", "limits", "9.0"))
    study.write_text(STUDY + "limits: {seconds: 60}\n")
    with pytest.raises(InputError, match=r":4: restrictions: remove it, because limits is present"):
        load_study(study)


def test_old_keys_of_clusters_work(renames, tmp_path, caplog):
    from routelab.config.cluster.file import load_cluster

    renames(Rename("cluster", "starter", "launcher", "9.0"))
    (tmp_path / "here.yaml").write_text("starter: openmpi\n")
    assert load_cluster(tmp_path / "here.yaml").cluster.launcher == "openmpi"
    assert "here.yaml:1: starter: starter is deprecated" in caplog.text


def test_old_names_of_plugins_and_parameters_work_with_one_warning(renames, caplog):
    renames(
        Rename("plugin", "routing/xy", "dor", "9.0"),
        Rename("plugin", "rules/angara-rules", "angara", "9.0"),
        Rename("parameter", "rules/angara.moves", "turns", "9.0"),
        Rename("parameter", "rules/angara.automaton", "form", "9.0"),
    )
    for _ in range(2):
        assert load_routing("xy").name == "dor"
        assert load_routing("sssp@angara-rules~moves=exact").name == "sssp@angara~turns=exact"
    for old in ("automaton", "rules.automaton"):
        name = from_mapping("routing", "angara-sssp", {old: "literal"})
        assert name == "angara-sssp~form=literal"
    assert load_routing("angara-sssp~automaton=literal").name == "angara-sssp~form=literal"
    assert from_mapping("rules", "angara", {"moves": "exact"}) == "angara~turns=exact"
    assert len(caplog.records) == 4
    assert "routing/xy is deprecated and will be removed in version 9.0; use dor" in caplog.text
    with pytest.raises(InputError, match="remove 'moves', because 'turns' is present"):
        load_routing("sssp@angara~moves=exact,turns=exact")


def test_names_of_plugins_and_parameters_that_are_gone_are_errors(renames, capsys):
    renames(
        Rename("plugin", "routing/xy", "dor", "0.1"),
        Rename("parameter", "rules/angara.moves", "turns", "0.1"),
    )
    for name, message in (
        ("xy", "routing/xy was removed in version 0.1; use dor"),
        ("sssp@angara~moves=exact", "rules/angara.moves was removed in version 0.1; use turns"),
    ):
        assert main(["evaluate", "torus~dims=4", name]) == 2
        assert message in capsys.readouterr().err


def test_old_options_work_with_a_line_on_standard_error(renames, capsys):
    renames(Rename("option", "routelab cluster list --form", "--format", "9.0"))
    assert main(["cluster", "list", "--form=json"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("[")
    assert printed.err == (
        "routelab cluster list: warning: routelab cluster list --form is deprecated and will be "
        "removed in version 9.0; use --format\n"
    )


def test_an_option_that_is_gone_is_an_error(capsys):
    assert main(["bench", "--predict", "--cluster", "local"]) == 2
    assert capsys.readouterr().err == (
        "routelab bench: error: routelab bench --predict was removed in version 0.1; leave it out; "
        "it had no effect\n"
    )


def test_old_names_of_the_api_work_with_a_warning():
    with pytest.warns(
        DeprecationWarning, match=r"0\.2; use routelab.metrics.connected_pairs"
    ) as found:
        assert metrics.joined_pairs is metrics.connected_pairs
    assert found[0].filename == __file__
    with pytest.warns(DeprecationWarning, match=r"use routelab\.toolkit\.Grid"):
        from routelab.api import Grid
    assert Grid is toolkit.Grid


def test_names_of_the_api_that_are_gone_are_errors_with_the_new_name(monkeypatch):
    with pytest.raises(AttributeError, match="use the attribute destination_based"):
        _ = metrics.destination_based
    monkeypatch.setattr(routelab, "__version__", "0.2.0")
    with pytest.raises(AttributeError, match=r"0\.2; use routelab\.metrics\.connected_pairs"):
        _ = metrics.joined_pairs
    with pytest.raises(ImportError):
        from routelab.api import Grid  # noqa: F401
    with pytest.raises(AttributeError, match=r"'routelab\.api' has no attribute 'nothing'"):
        _ = api.nothing


@pytest.mark.parametrize("rename", RENAMES, ids=lambda rename: rename.old)
def test_every_entry_is_complete(rename):
    assert re.fullmatch(r"\d+\.\d+", rename.gone)
    assert bool(rename.new) != bool(rename.why)
    if rename.sort == "api" and rename.new:
        module, _, name = rename.new.rpartition(".")
        assert hasattr({"routelab.metrics": metrics}[module], name)
