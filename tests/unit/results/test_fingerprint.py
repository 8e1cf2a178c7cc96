"""Exactly what depends on a file has another fingerprint when the file is edited."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from routelab._runtime import sources
from routelab.api import InputError, Plugin
from routelab.results import distributions, fingerprint
from routelab.results.fingerprint import job_fingerprint, page_fingerprint

FILES = {
    "routelab/__init__.py": "",
    "routelab/kernels/shared.py": "",
    "routelab/routing/route.py": "",
    "routelab/report/page.html.j2": "",
    "routelab/cluster/bench/texts.py": "",
    "routelab/commands/route.py": "",
    "routelab_plugins/shared.py": "",
    "routelab_plugins/works.py": "",
    "routelab_plugins/quotes.py": "",
    "routelab_plugins/rules/b/works.py": "",
    "routelab_plugins/rules/b/__init__.py": "",
    "routelab_plugins/rules/b/table.csv": "",
    "routelab_plugins/rules/c/__init__.py": "",
    "plugs/a.py": "",
    "plugs/quotes.py": "",
    "plugs/data/table.csv": "",
    "second/__init__.py": "",
    "helper/__init__.py": "",
}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def forget() -> None:
    sources.forget()
    for remembered in (
        *(distributions.distribution_version, distributions.distribution_of),
        *(fingerprint._plugin_facts, fingerprint._page_digest),
    ):
        remembered.cache_clear()


def install(site: Path, name: str, points: str, files: list[str], number: str = "1") -> None:
    folder = f"{name}-{number}.dist-info"
    write(
        site,
        {
            f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {number}\n",
            f"{folder}/entry_points.txt": f"[routelab.rules]\n{points}\n" if points else "",
            f"{folder}/RECORD": "".join(f"{file},,\n" for file in files),
        },
    )


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with routelab, its plugins and those of someone else, which is all there is."""
    folder = tmp_path / "site"
    write(folder, FILES)
    built_in = "b = routelab_plugins.rules.b:B\nc = routelab_plugins.rules.c:C"
    install(folder, "routelab", built_in, [name for name in FILES if "routelab" in name])
    plugs = [name for name in FILES if name.startswith(("plugs", "second"))]
    install(folder, "plugs", "a = plugs.a:A", plugs)
    install(folder, "helper", "", [])
    origin = '{"url": "file:///helper", "dir_info": {"editable": true}}'
    write(
        folder,
        {
            "helper-1.dist-info/direct_url.json": origin,
            "helper-1.dist-info/top_level.txt": "helper",
        },
    )
    files = {name: str(folder / name) for name in FILES if name.startswith("routelab/")}
    monkeypatch.setattr("sys.path", [str(folder)])
    monkeypatch.setattr(sources, "_own_files", lambda: files)
    monkeypatch.setattr(sources, "_module_paths", lambda name: (str(folder / name),))
    monkeypatch.setattr(sources, "forget", lambda: _forget_but(monkeypatch))
    yield folder
    monkeypatch.undo()
    forget()


def _forget_but(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget all but what the fixture has put in the place of the installed package."""
    for remembered in (
        *(sources._recorded_files, sources._owners, sources.editable_distributions),
        *(sources.is_editable, sources._top_names, sources.core_digest),
    ):
        remembered.cache_clear()


def plugin(module: str, **attributes: object) -> type[Plugin]:
    return type("Example", (Plugin,), {"__module__": module, **attributes})


A, B, C = map(plugin, ("plugs.a", "routelab_plugins.rules.b", "routelab_plugins.rules.c"))


def state() -> dict[str, str]:
    """Fingerprints of jobs with each plugin and without one, and of a page."""
    forget()
    jobs = {name: job_fingerprint("x", [entry]) for name, entry in {"A": A, "B": B, "C": C}.items()}
    return {**jobs, "-": job_fingerprint("x"), "page": page_fingerprint([A, B], [])}


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("plugs/a.py", "A page"),
        ("plugs/data/table.csv", "A page"),
        ("second/__init__.py", "A page"),
        ("helper/__init__.py", "A page"),
        ("routelab_plugins/rules/b/__init__.py", "B page"),
        ("routelab_plugins/rules/b/table.csv", "B page"),
        ("routelab_plugins/rules/c/__init__.py", "C"),
        ("routelab_plugins/rules/b/works.py", "B page"),
        ("routelab_plugins/shared.py", "B C page"),
        ("routelab_plugins/works.py", "page"),
        ("routelab_plugins/quotes.py", "page"),
        ("plugs/quotes.py", "A page"),
        ("routelab/kernels/shared.py", "A B C - page"),
        ("routelab/routing/route.py", "A B C - page"),
        ("routelab/report/page.html.j2", "page"),
        ("routelab/cluster/bench/texts.py", "page"),
        ("routelab/commands/route.py", ""),
    ],
)
def test_exactly_the_dependents_of_a_file_become_stale(site: Path, edited: str, stale: str) -> None:
    before = state()
    write(site, {edited: "edited"})
    after = state()
    assert [name for name in before if before[name] != after[name]] == stale.split()


def test_an_upgrade_makes_dependents_of_the_distribution_stale(site: Path) -> None:
    before = state()
    (site / "plugs-1.dist-info/METADATA").unlink()
    install(site, "plugs", "a = plugs.a:A", [], "2")
    (site / "plugs-1.dist-info/entry_points.txt").unlink()
    after = state()
    assert [name for name in before if before[name] != after[name]] == ["A", "page"]


def test_jobs_differ_by_instance_and_plugins_in_any_order() -> None:
    sources.forget()
    prints = {
        job_fingerprint(instance, plugins)
        for instance in ("x", "x~seed=1")
        for plugins in ([], [A], [B], [A, B], [B, A])
    }
    assert len(prints) == 8
    assert {len(fingerprint) for fingerprint in prints} == {64}


def test_declared_files_count_by_content_and_relative_to_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"src/plugin_with_data.py": "", "data/table.csv": "1", "results/x.csv": "1"})
    monkeypatch.syspath_prepend(tmp_path / "src")
    importlib.import_module("plugin_with_data")
    sources.forget()
    declaring = plugin("plugin_with_data", reads_files=["../data/table.csv"])
    plain = plugin("plugin_with_data")
    inheriting = type("Inheriting", (declaring,), {"__module__": "json"})
    assert inheriting.data_files() == declaring.data_files()

    def state() -> tuple[str, str, str]:
        return (
            job_fingerprint("x", [declaring]),
            page_fingerprint([declaring], []),
            job_fingerprint("x", [plain]),
        )

    before = state()
    write(tmp_path, {"results/x.csv": "22"})
    assert state() == before
    write(tmp_path, {"data/table.csv": "22"})
    after = state()
    assert [new != old for new, old in zip(after, before, strict=True)] == [True, True, False]
    write(tmp_path, {"data/table.csv": "1"})
    assert state() == before
    (tmp_path / "data/table.csv").unlink()
    with pytest.raises(InputError, match=r"table\.csv"):
        state()


def test_declared_variables_count_by_value(monkeypatch: pytest.MonkeyPatch) -> None:
    sources.forget()
    declaring = plugin("plugs.a", reads_variables=["SPEED_MODE", "OTHER_MODE"])
    monkeypatch.delenv("OTHER_MODE", raising=False)

    def of(value: str | None, *plugins: type[Plugin]) -> str:
        if value is None:
            monkeypatch.delenv("SPEED_MODE", raising=False)
        else:
            monkeypatch.setenv("SPEED_MODE", value)
        return job_fingerprint("x", plugins)

    assert len({of(value, declaring) for value in (None, "", "fast", "slow")}) == 4
    assert of("fast", declaring) == of("fast", declaring)
    assert of("fast", A) == of("slow", A)
    fast = of("fast", declaring)
    monkeypatch.setenv("OTHER_MODE", "fast")
    assert of(None, declaring) != fast  # the value belongs to its name


def test_input_files_count_by_content(tmp_path: Path) -> None:
    file, other = tmp_path / "one.txt", tmp_path / "folder" / "other.txt"
    write(tmp_path, {"one.txt": "0 1\n", "folder/other.txt": "0 1\n"})

    def of(*files: Path) -> str:
        return job_fingerprint("x", (), files)

    first = of(file)
    assert of(other) == first != of()
    file.write_text("0 12\n")
    assert of(file) != first
    assert of(file, other) != of(other, file)
    with pytest.raises(InputError, match=r"missing\.txt"):
        of(tmp_path / "missing.txt")
