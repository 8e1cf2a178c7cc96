"""Which files results, pages and kernels depend on."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from routelab._runtime import sources
from routelab._runtime.sources import (
    CITATION_MODULES,
    COMMAND_PARTS,
    PAGE_PARTS,
    core_files,
    digest,
    editable_distributions,
    kernel_files,
    offered_files,
    owner,
    plugin_files,
)

PACKAGE = Path(sources.PACKAGE)


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def metadata(name: str, *plugins: str, record: list[str] | None = None, **texts: str) -> dict:
    """Files of an installed distribution; without `record` it does not list its files."""
    folder = f"{name.replace('-', '_')}-1.dist-info"
    files = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n", **texts}
    points = "".join(f"p{i} = {plugin}\n" for i, plugin in enumerate(plugins))
    files["entry_points.txt"] = f"[routelab.rules]\n{points}" if points else ""
    if record is not None:
        files["RECORD"] = "".join(f"{file},,\n" for file in record)
    return {f"{folder}/{file}": text for file, text in files.items()}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path in which distributions are installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    sources.forget()
    yield folder
    monkeypatch.undo()
    sources.forget()


def editable(site: Path, project: Path, name: str, *plugins: str, **texts: str) -> None:
    origin = {"url": project.as_uri(), "dir_info": {"editable": True}}
    record = [f"__editable__{name}.pth"] if "pth" in texts else []
    if "pth" in texts:
        write(site, {record[0]: texts.pop("pth")})
    direct = {"direct_url.json": json.dumps(origin)}
    write(site, metadata(name, *plugins, record=record, **direct, **texts))


# --- routelab's own -------------------------------------------------------------------------------


def imports_of(file: Path) -> Iterator[tuple[str, str]]:
    """Modules of routelab that a module names in its import statements, each with its attribute."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)


def test_computing_modules_use_only_counted_sources():
    """Else an edit would change a result and not its fingerprint."""
    left_out = tuple(f"routelab.{part.replace('/', '.')}" for part in COMMAND_PARTS + PAGE_PARTS)
    users = {
        name
        for name, file in core_files().items()
        if file.endswith(".py")
        for module, attribute in imports_of(Path(file))
        if f"{module}.{attribute}.".startswith(tuple(f"{part}." for part in left_out))
    }
    # the start of the program; measurements; and what is not in a process of jobs
    assert users == {
        "routelab/__main__.py",
        "routelab/workflow/stages/comparisons.py",
        "routelab/workflow/plan/allocations.py",
        "routelab/workflow/run_messages.py",
        "routelab/workflow/snakefile.py",
    }


def test_pages_depend_on_templates_and_results_do_not():
    for name in ("report/templates/page.html.j2", "report/table.py", "cluster/bench/results.py"):
        assert f"routelab/{name}" in core_files(COMMAND_PARTS)
        assert f"routelab/{name}" not in core_files()
    assert not [
        name for name in core_files(COMMAND_PARTS) if "/commands/" in name or "/testing/" in name
    ]
    for name in ("routing/route.py", "study/cluster/keys.py", "deadlock/kernels/state_search.py"):
        assert f"routelab/{name}" in core_files()


COMPILES = re.compile(
    r"^\s*(?:from|import)\b[^\n]*\bnumba\b|^\s*@(?:\w+\.)*(?:n?jit|(?:hop|inject)_kernel)\b", re.M
)


def test_kernels_are_where_they_are_looked_for_and_use_nothing_else():
    kernels = kernel_files()
    sources = {name: Path(file) for name, file in core_files(()).items() if name.endswith(".py")}
    compiled = {name for name, file in sources.items() if COMPILES.search(file.read_text())}
    # these two import numba and compile nothing
    reads_only = {"routelab/_runtime/numba_cache.py", "routelab/deadlock/program_code.py"}
    assert compiled - set(kernels) == reads_only
    assert len(compiled) > 30
    used = {module for name in kernels for module, _ in imports_of(sources[name])}
    ours = {module for module in used if module.startswith("routelab")}
    assert [module for module in ours if "kernels" not in module.split(".")] == []


def test_modules_for_plugins_are_offered():
    offered = offered_files()
    assert set(kernel_files()) < set(offered)
    for name in ("api/plugin.py", "toolkit/__init__.py", "metrics/__init__.py"):
        assert f"routelab/{name}" in offered
    assert "routelab/routing/route.py" not in offered


# --- plugins --------------------------------------------------------------------------------------


def test_a_built_in_plugin_is_its_folder_and_the_modules_beside_the_kinds():
    files = plugin_files("routelab_plugins.selection.sgr.kernels")
    folders = {name.rpartition("/")[0] for name in files}
    assert folders == {"routelab_plugins/selection/sgr", "routelab_plugins"}
    assert "routelab_plugins/osu_table.py" in files
    assert plugin_files("routelab_plugins.selection.sgr") == files


def test_built_in_plugins_use_only_their_counted_sources():
    root = Path(plugin_files("routelab_plugins.metric")["routelab_plugins/osu_table.py"]).parent
    others = [
        (str(file.relative_to(root)), module)
        for file in root.rglob("*.py")
        for module, _ in imports_of(file)
        if module.startswith("routelab_plugins.")
        and module.count(".") > 1
        and tuple(module.split(".")[1:3]) != file.relative_to(root).parts[:2]
    ]
    assert others == []


def test_modules_that_only_describe_do_not_count():
    module = "routelab_plugins.selection.sgr"
    counted, everything = plugin_files(module), plugin_files(module, ())
    named = {f"routelab_plugins/{name}.py" for name in CITATION_MODULES}
    assert (
        set(everything) - set(counted)
        == named
        == {
            "routelab_plugins/works.py",
            "routelab_plugins/quotes.py",
        }
    )
    beside_the_kinds = Path(everything["routelab_plugins/works.py"]).parent.glob("*.py")
    assert named | set(counted) >= {f"routelab_plugins/{file.name}" for file in beside_the_kinds}


def test_quotations_are_only_in_messages_about_measured_output():
    """No fingerprint of a measurement depends on code, so an edit of them makes no result old."""
    root = Path(plugin_files("routelab_plugins.metric")["routelab_plugins/osu_table.py"]).parent
    users = {
        file.relative_to(root).parts[0]
        for file in root.rglob("*.py")
        for module, _ in imports_of(file)
        if module == "routelab_plugins.quotes"
    }
    assert users == {"benchmark", "benchmark_output.py", "osu_benchmark.py", "osu_output.py"} | {
        "osu_table.py"
    }


PLUGIN = {
    "plug/__init__.py": "",
    "plug/table.csv": "1,2\n",
    "plug/__pycache__/x.cpython-311.pyc": "",
    "second/part.py": "",
    "loose.py": "",
}


def test_all_recorded_files_of_a_plugin_s_distribution_count(site: Path):
    write(site, PLUGIN | metadata("plug-dist", "plug.a:A", record=list(PLUGIN)))
    write(site, {"plug/not_recorded.py": ""} | metadata("other", record=["other.py"]))
    expected = {name for name in PLUGIN if not name.endswith(".pyc")}
    assert set(plugin_files("plug.a")) == set(plugin_files("second")) == expected
    assert owner("second.part").name == "plug-dist"
    assert owner("other") is None


def test_without_a_list_the_top_level_packages_count(site: Path):
    write(site, PLUGIN | metadata("plug-dist", "plug.a:A"))
    assert set(plugin_files("plug.a")) == {"plug/__init__.py", "plug/table.csv"}


@pytest.mark.parametrize("way", ["pth", "top_level", "entry points alone"])
def test_an_editable_distribution_is_read_where_it_is_edited(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
):
    project = tmp_path / "project"
    write(project, {f"src/{name}": text for name, text in PLUGIN.items()})
    write(project, {"src/second/__init__.py": "", "results/table.csv": "", "src/notes.txt": ""})
    monkeypatch.syspath_prepend(project / "src")
    texts = {
        "pth": {"pth": f"import _virtualenv\n{project / 'src'}\n"},
        "top_level": {"top_level.txt": "plug\nsecond\nloose\n"},
        "entry points alone": {},
    }[way]
    editable(site, project, "plug-dist", "plug.a:A", **texts)
    files = set(plugin_files("plug.a"))
    expected = {"plug/__init__.py", "plug/table.csv"}
    if way != "entry points alone":
        expected |= {"second/__init__.py", "second/part.py", "loose.py"}
    assert files == expected


def test_other_editable_distributions_count_for_plugins_of_others_and_not_for_built_in_ones(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    project = tmp_path / "project"
    write(project, {"helper/__init__.py": "", "helper/data.json": "{}"})
    monkeypatch.syspath_prepend(project)
    editable(site, project, "helper", pth=f"{project}\n")
    write(site, PLUGIN | metadata("plug-dist", "plug.a:A", record=list(PLUGIN)))
    assert "helper" in [distribution.name for distribution in editable_distributions()]
    assert set(plugin_files("plug.a")) >= {"helper/__init__.py", "helper/data.json", "loose.py"}
    assert "helper/data.json" not in plugin_files("routelab_plugins.selection.sgr")


def test_damaged_metadata_costs_no_other_distribution(site: Path):
    write(site, PLUGIN | metadata("plug-dist", "plug.a:A", record=list(PLUGIN)))
    write(site, metadata("odd", **{"direct_url.json": "{"}) | {"b-1.dist-info/METADATA": ""})
    (site / "odd-1.dist-info/entry_points.txt").write_bytes(b"[routelab.rules]\nbad = my-plug:T\n")
    assert owner("plug").name == "plug-dist"
    assert not sources.is_editable(owner("plug"))


def test_a_module_that_is_not_installed_counts_with_its_package(site: Path):
    write(site, PLUGIN)
    assert set(plugin_files("plug.a.b")) == {"plug/__init__.py", "plug/table.csv"}
    assert list(plugin_files("loose")) == ["loose.py"]
    assert plugin_files("nowhere.at.all") == {}


def test_looking_up_imports_no_plugin(site: Path):
    write(site, PLUGIN | {"plug/__init__.py": "raise SystemExit(3)"} | metadata("d", "plug:A"))
    code = (
        "import sys\n"
        "from routelab._runtime.sources import owner, plugin_files, distribution_files\n"
        "print(*plugin_files('plug'), *distribution_files(owner('plug')))\n"
        "assert not {'plug', 'numpy', 'numba', 'routelab_plugins'} & set(sys.modules)"
    )
    environ = {"PYTHONPATH": f"{site}:{PACKAGE.parent}"}
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == 2 * ["plug/__init__.py"] + 2 * ["plug/table.csv"]


# --- content --------------------------------------------------------------------------------------


def test_a_digest_knows_names_and_contents_and_not_places(tmp_path: Path):
    for folder in ("x", "y/z"):
        write(tmp_path / folder, {"a.py": "1", "b.py": "2"})

    def digest_of(folder: str, **renamed: str) -> str:
        names = {"a.py": "a.py", "b.py": "b.py"} | renamed
        return digest({name: str(tmp_path / folder / file) for name, file in names.items()})

    before = digest_of("x")
    assert before == digest_of("y/z")
    assert before != digest({"b.py": str(tmp_path / "x/b.py")})
    assert before != digest_of("x", c="a.py")
    write(tmp_path, {"x/b.py": "20"})
    assert before != digest_of("x")
    write(tmp_path, {"x/b.py": "2"})
    assert before == digest_of("x")
    (tmp_path / "x/b.py").unlink()
    assert before != digest_of("x")
