"""What `plugins new` writes is a sound package, and it writes all of it or nothing."""

from __future__ import annotations

import ast
import importlib
import re
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from routelab import api
from routelab.api import KINDS, InputError
from routelab.commands.plugins.package import (
    EXAMPLES,
    HOP_BY_HOP,
    SUMMARIES,
    NewPlugin,
    make_new_plugin,
    write_package,
)
from routelab.registry.catalogue import installed_catalogue
from routelab.registry.contract import check_contract
from routelab.study import load_study
from routelab.testing import run_checks

FILES = {
    "README.md",
    "ci.sh",
    "pyproject.toml",
    ".gitignore",
    "my-key.yaml",
    "routelab_my_key/__init__.py",
    "tests/test_plugin.py",
}


KERNELS = "routelab_my_key/kernels.py"
TEMPLATES = [*SUMMARIES]


def new_of(template: str, key: str, author: str = "") -> NewPlugin:
    hop_by_hop = template == HOP_BY_HOP
    return make_new_plugin(
        "routing" if hop_by_hop else template, key, author, hop_by_hop=hop_by_hop
    )


def written(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in files}


def loaded(new: NewPlugin, texts: dict[str, str], folder: Path) -> type:
    """The class that the package registers, imported from a folder."""
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    ((key, value),) = project["entry-points"][f"routelab.{new.kind}"].items()
    package, class_name = value.split(":")
    assert (key, package) == (new.key, new.package)
    for place in (text for text in texts if text.startswith(package)):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_text(texts[place], encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        return getattr(importlib.import_module(package), class_name)
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


@pytest.mark.parametrize("kind", sorted({*KINDS} - {*SUMMARIES}))
def test_a_kind_without_a_template_names_plugins_to_copy(kind):
    with pytest.raises(InputError) as raised:
        make_new_plugin(kind, "my-key")
    folder = re.search(r"copy a built-in plugin of (\S+), ", str(raised.value))[1]
    assert any((Path(__file__).parents[4] / folder).glob("*/__init__.py"))


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("key", ["my-key", "2-opt.b_c", "None", "Parameters", "Literal"])
def test_the_package_registers_a_plugin_that_keeps_the_contract(template, key, tmp_path):
    new = new_of(template, key, 'Ada "O\'Ex" Ä <ada@example.org>')
    texts = new.texts()
    plugin = check_contract(loaded(new, texts, tmp_path), new.kind, key, "the new plugin")
    assert [citation.cited_for for citation in plugin.citations] == ["Algorithm 1"]
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    assert project["authors"] == [{"name": 'Ada "O\'Ex" Ä', "email": "ada@example.org"}]
    assert (project["name"], project["dependencies"]) == (new.distribution, ["routelab"])
    assert new.package.isidentifier()
    assert f'conformance("{new.kind}", "{key}")' in texts["tests/test_plugin.py"]
    ast.parse(texts["tests/test_plugin.py"])
    assert all(len(line) <= 100 for line in texts[f"{new.package}/__init__.py"].splitlines())


@pytest.mark.parametrize("template", TEMPLATES)
def test_all_files_are_there_and_fit_together(template, tmp_path):
    folder = write_package(new_of(template, "my-key"), tmp_path / "new")
    texts = written(folder)
    kernels = {KERNELS} if template == HOP_BY_HOP else set()
    assert set(texts) == FILES | kernels
    assert not any("{{" in text or "{%" in text for text in texts.values())
    assert "authors" not in tomllib.loads(texts["pyproject.toml"])["project"]
    assert (folder / "ci.sh").stat().st_mode & stat.S_IXUSR
    subprocess.run(["sh", "-n", "ci.sh"], cwd=folder, check=True)
    named = load_study(folder / "my-key.yaml")
    assert "my-key" in str((named.topologies, named.routings, named.traffic, named.metrics))
    instructions = texts["README.md"] + texts["ci.sh"]
    assert set(re.findall(r"[\w/-]+\.yaml", instructions.replace("PATH/routelab-my-key/", ""))) == {
        place for place in texts if place.endswith(".yaml")
    }
    assert f".venv/bin/routelab {EXAMPLES[template].format('my-key')}\n" in texts["README.md"]
    # it names the files in which the algorithm is, and no others
    named = set(re.findall(r"`(routelab_my_key/\w+\.\w+)`", texts["README.md"]))
    assert named == {place for place in texts if place.startswith("routelab_my_key/")}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ruels", "x"), "unknown kind of plugin: 'ruels'; did you mean 'rules'?"),
        (("rules", "a/b"), "'a/b' cannot be used in a name"),
        (("rules", "~"), "starts with a letter or digit"),
        (("rules", "x", "A <b>"), "'Name <address>'"),
        (("rules", "x", 'A\n"'), "'Name <address>'"),
    ],
)
def test_invalid_names_and_kinds_are_rejected(arguments, said):
    with pytest.raises(InputError) as raised:
        make_new_plugin(*arguments)
    assert said in str(raised.value)


def test_a_package_that_is_installed_is_not_overwritten():
    with pytest.raises(InputError, match="a package routelab_plugins is already installed"):
        make_new_plugin("rules", "plugins")


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty; choose another"):
        write_package(make_new_plugin("rules", "x"), tmp_path)
    assert written(tmp_path) == {"mine.txt": "mine"}
    with pytest.raises(InputError, match="cannot write"):
        write_package(make_new_plugin("rules", "x"), tmp_path / "mine.txt")
    assert written(tmp_path) == {"mine.txt": "mine"}


def test_an_empty_folder_is_taken_but_not_the_one_that_one_stands_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="is the folder you are in"):
        write_package(make_new_plugin("rules", "my-key"), Path())
    (tmp_path / "empty").mkdir()
    assert set(written(write_package(make_new_plugin("rules", "my-key"), Path("empty")))) == FILES


def test_nothing_is_left_half_written(tmp_path, monkeypatch):
    monkeypatch.setattr(Path, "chmod", lambda *_: (_ for _ in ()).throw(RuntimeError("cut off")))
    with pytest.raises(RuntimeError, match="cut off"):
        write_package(make_new_plugin("rules", "x"), tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


GUIDE = Path(__file__).parents[4] / "docs/plugins.md"
MAKES = re.compile(
    r"^    \.venv/bin/routelab plugins new (\w+) ([\w-]+)( --hop-by-hop)?$", re.MULTILINE
)


def shown(new: NewPlugin) -> str:
    """What the guide shows of a plugin: all of it but its introduction and citation."""
    text = new.texts()[f"{new.package}/__init__.py"].split('"""\n\n', 1)[1]
    text = text.replace("    Citation,\n", "")
    return re.sub(r"^    citations = \(\n(        .*\n)*    \)\n", "", text, flags=re.MULTILINE)


def test_the_guide_shows_the_written_files():
    guide = GUIDE.read_text(encoding="utf-8")
    commands = [(HOP_BY_HOP if option else kind, key) for kind, key, option in MAKES.findall(guide)]
    assert [template for template, _ in commands] == list(SUMMARIES)
    for template, key in commands:
        if template != HOP_BY_HOP:  # docs/concepts/hop-by-hop.md explains a similar one
            assert f"```python\n{shown(new_of(template, key))}```\n" in guide, (template, key)


README = GUIDE.parents[1] / "README.md"
COMPLETE, *EXAMPLES_IN_GUIDE = (
    source
    for page in (README, GUIDE)
    for source in re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S)
)


def failed_and_passed(source, site, checks):
    """The failures of a copied example, and the names of the checks that it passes."""
    pattern = r"^class (\w+)\((\w*Plugin|Composition)\)"
    ((class_name, base),) = re.findall(pattern, source, re.M)
    (key,) = re.findall(r'^    name = "(.*)"$', source, re.M)
    kind = getattr(api, base).kind
    site.install("copied", {kind: {key: f"copied:{class_name}"}}, {"copied.py": source})
    installed_catalogue.cache_clear()
    results = run_checks(kind, key, only=checks)
    failed = [result for result in results if result.status == "failed"]
    return failed, {result.check for result in results if result.status == "passed"}


@pytest.mark.parametrize("source", EXAMPLES_IN_GUIDE, ids=range(len(EXAMPLES_IN_GUIDE)))
def test_every_example_can_be_copied(source, site):
    """It has its imports, keeps the contract, and works on a torus or a mesh."""
    failed, passed = failed_and_passed(source, site, ["contract", "result"])
    assert failed == []
    assert passed - {"contract"}


def test_the_plugin_of_the_readme_passes_all_checks(site):
    failed, passed = failed_and_passed(COMPLETE, site, [])
    assert failed == []
    assert passed >= {"contract", "result", "applies"}
