"""Import rules that import-linter cannot state."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = sorted(
    path
    for path in (ROOT / "src/routelab").rglob("*.py")
    if "kernels" in (path.stem, path.parent.name)
)
PLUGINS = sorted((ROOT / "plugins/routelab_plugins").rglob("kernels.py"))
ALLOWED = (
    "numpy",
    "numba",
    "llvmlite",  # what numba writes machine code with
    "routelab.kernels",
    "__future__",
    "collections.abc",
    "functools",
    "math",
    "typing",
)


def imported_modules(source: str) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append("." * node.level + (node.module or ""))
    return names


def strangers(source: str, own: str = "routelab.kernels") -> list[str]:
    return [
        name
        for name in imported_modules(source)
        if not any(name == module or name.startswith(module + ".") for module in (*ALLOWED, own))
    ]


def own_package(path: Path) -> str:
    """Return the package of kernels that a module of the core belongs to."""
    parts = path.relative_to(ROOT / "src").with_suffix("").parts
    return ".".join(parts[: parts.index("kernels") + 1]) if "kernels" in parts else "kernels"


@pytest.mark.parametrize("path", CORE + PLUGINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernels_import_only_numpy_numba_and_kernels(path):
    own = own_package(path) if path in CORE else "routelab.kernels"
    assert strangers(path.read_text(), own) == []


def test_kernels_of_every_package_are_examined():
    assert {own_package(path) for path in CORE} == {
        "routelab.metrics.bounds.kernels",
        "routelab.metrics.bounds.throughput.kernels",
        "routelab.deadlock.kernels",
        "routelab.kernels",
        "routelab.metrics.kernels",
        "routelab.simulation.flow.kernels",
        "routelab.simulation.packet.kernels",
        "routelab.toolkit.kernels",
    }


def test_the_contract_of_plugins_forbids_every_other_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {
        contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]
    }
    packages = {path.stem for path in (ROOT / "src/routelab").iterdir() if path.stem != "__init__"}
    packages = {name for name in packages if not name.startswith("__pycache")}
    packages -= {"templates", "py", "references"}  # no modules
    allowed = {"api", "kernels", "metrics", "toolkit"}
    forbidden = {
        name.removeprefix("routelab.") for name in contracts["plugins"]["forbidden_modules"]
    }
    # what plugins compute must not depend on bounds, which judge it
    assert forbidden == packages - allowed | {"metrics.bounds"}


def test_the_map_in_contributing_follows_the_tree():
    """A newcomer finds the places with it."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    packages, changes = text.partition("## Frequent changes")[::2]
    rows = packages.partition("| package of `routelab` |")[2].splitlines()
    named = {
        name for row in rows if "|" in row for name in re.findall(r"`([\w.]+)`", row.split("|")[1])
    }
    core = ROOT / "src/routelab"
    for init in core.glob("*/__init__.py"):
        name = init.parent.name
        inside = {f"{name}.{inner.parent.name}" for inner in init.parent.glob("*/__init__.py")}
        assert name in named or inside <= named, name
    for name in named:
        assert list(core.glob(name.replace(".", "/") + "*")), name
    table = changes.partition("\n## ")[0]
    for path in re.findall(r"`([a-z_]+/[a-z0-9_/]+(?:\.py)?)`", table):
        places = [ROOT / path, ROOT / "plugins/routelab_plugins" / path, core / path]
        assert any(place.exists() for place in places), path
