from __future__ import annotations

from pathlib import Path

import pytest

from routelab._sources import Sources
from routelab.api import InputError
from routelab.artifacts import distributions
from routelab.artifacts.fingerprint import job_fingerprint

FILES = {
    "routelab/__init__.py": "",
    "routelab/kernels/__init__.py": "",
    "routelab/kernels/shared.py": "",
    "routelab/kernels/only_a.py": "",
    "routelab/api/__init__.py": "from routelab.kernels import shared",
    "routelab/registry/__init__.py": "import importlib",
    "routelab/stages/__init__.py": "",
    "routelab/stages/route.py": "from routelab import registry, api",
    "routelab/stages/plan/expansion.py": "from routelab.stages import route",
    "routelab/cli.py": "from routelab.stages import route, plan",
    "plugs/__init__.py": "",
    "plugs/a/__init__.py": "from routelab.api import x\nfrom plugs.a.kernels import grow",
    "plugs/a/kernels.py": "from routelab.kernels.only_a import y",
    "plugs/b/__init__.py": "from routelab.api import x",
}
A, B = ("plugs.a", "plugs-dist"), ("plugs.b", "plugs-dist")


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def job(folder: Path, *plugins: type | tuple[str, str], files: tuple[Path, ...] = ()) -> str:
    sources = Sources([str(folder)])
    return job_fingerprint("routelab.stages.route", "torus~dims=4/x", plugins, files, sources)


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("plugs/a/__init__.py", "A"),
        ("plugs/a/kernels.py", "A"),
        ("routelab/kernels/only_a.py", "A"),
        ("plugs/b/__init__.py", "B"),
        ("routelab/kernels/shared.py", "AB"),
        ("routelab/api/__init__.py", "AB"),
        ("routelab/registry/__init__.py", "AB"),
        ("routelab/stages/route.py", "AB"),
        ("routelab/stages/plan/expansion.py", ""),
        ("routelab/cli.py", ""),
    ],
)
def test_exactly_the_jobs_that_run_a_file_become_stale(
    tmp_path: Path, edited: str, stale: str
) -> None:
    write(tmp_path, FILES)
    before = {"A": job(tmp_path, A), "B": job(tmp_path, B)}
    write(tmp_path, {edited: FILES[edited] + "\n# edited"})
    after = {"A": job(tmp_path, A), "B": job(tmp_path, B)}
    assert {name for name in "AB" if before[name] != after[name]} == set(stale)


def test_place_and_order_of_plugins_do_not_matter(tmp_path: Path) -> None:
    write(tmp_path / "x", FILES)
    write(tmp_path / "y" / "z", FILES)
    assert job(tmp_path / "x", A, B) == job(tmp_path / "y" / "z", B, A)


def test_jobs_differ_by_instance_stage_and_plugins(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    sources = Sources([str(tmp_path)])
    prints = {
        job_fingerprint(stage, instance, plugins, sources=sources)
        for stage in ("routelab.stages.route", "routelab.stages.plan.expansion")
        for instance in ("x", "x~seed=1")
        for plugins in ([], [A], [B], [A, B])
    }
    assert len(prints) == 16


def test_input_files_count_by_content(tmp_path: Path) -> None:
    write(tmp_path, FILES)
    one, other = tmp_path / "one.txt", tmp_path / "folder" / "other.txt"
    write(tmp_path, {"one.txt": "0 1\n", "folder/other.txt": "0 1\n"})
    first = job(tmp_path, A, files=(one,))
    assert first == job(tmp_path, A, files=(other,))
    assert first != job(tmp_path, A)
    one.write_text("0 2\n")
    assert job(tmp_path, A, files=(one,)) != first
    assert job(tmp_path, A, files=(one, other)) != job(tmp_path, A, files=(other, one))
    with pytest.raises(InputError, match=r"missing\.txt"):
        job(tmp_path, A, files=(tmp_path / "missing.txt",))


def install(folder: Path, number: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        folder,
        {
            f"plugs_dist-{number}.dist-info/METADATA": (
                f"Metadata-Version: 2.1\nName: plugs-dist\nVersion: {number}\n"
            ),
            f"plugs_dist-{number}.dist-info/entry_points.txt": (
                "[routelab.rules]\na = plugs.a:A\nb = plugs.b:B\n"
            ),
        },
    )
    monkeypatch.syspath_prepend(folder)
    distributions.distribution_version.cache_clear()
    distributions._plugin_distributions.cache_clear()


@pytest.fixture
def forget(monkeypatch: pytest.MonkeyPatch):
    """What was looked up in a changed path is not kept for other tests."""
    yield
    monkeypatch.undo()
    distributions.distribution_version.cache_clear()
    distributions._plugin_distributions.cache_clear()


@pytest.mark.usefixtures("forget")
def test_upgrade_of_the_distribution_makes_its_jobs_stale(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "code", FILES)
    install(tmp_path / "old", "1.0", monkeypatch)
    before = job(tmp_path / "code", A), job(tmp_path / "code")
    install(tmp_path / "new", "1.1", monkeypatch)
    after = job(tmp_path / "code", A), job(tmp_path / "code")
    assert before[0] != after[0]
    assert before[1] == after[1]


@pytest.mark.usefixtures("forget")
def test_class_and_names_are_the_same_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, FILES)
    install(tmp_path, "1.0", monkeypatch)
    plugin = type("A", (), {"__module__": "plugs.a"})
    beside = type("Part", (), {"__module__": "plugs.a.kernels"})
    assert job(tmp_path, plugin) == job(tmp_path, A)
    assert job(tmp_path, beside) == job(tmp_path, ("plugs.a.kernels", "plugs-dist"))


def test_installed_plugin_is_found_without_being_told_where() -> None:
    one = job_fingerprint("routelab.artifacts.outcome", "x")
    two = job_fingerprint("routelab.artifacts.outcome", "x", [("routelab.api.plugin", "routelab")])
    assert one == job_fingerprint("routelab.artifacts.outcome", "x")
    assert one != two
    assert len(one) == 64
    with pytest.raises(ModuleNotFoundError, match="no_such"):
        job_fingerprint("routelab.stages.no_such", "x")
