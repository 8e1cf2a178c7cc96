"""Import rules that import-linter cannot state."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = sorted((ROOT / "src/routelab/kernels").glob("*.py"))
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


def strangers(source: str) -> list[str]:
    return [
        name
        for name in imported_modules(source)
        if not any(name == module or name.startswith(module + ".") for module in ALLOWED)
    ]


@pytest.mark.parametrize("path", CORE + PLUGINS, ids=lambda path: str(path.relative_to(ROOT)))
def test_kernels_import_only_numpy_numba_and_kernels(path):
    assert strangers(path.read_text()) == []


def test_a_stranger_in_a_kernel_is_noticed():
    source = "import numpy as np\nfrom routelab.kernels_of_others import x\nfrom . import plugin\n"
    assert strangers(source + "def f():\n    import pandas\n") == [
        "routelab.kernels_of_others",
        ".",
        "pandas",
    ]


def test_the_contract_of_plugins_forbids_every_other_package():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = {one["id"]: one for one in settings["tool"]["importlinter"]["contracts"]}
    packages = {path.stem for path in (ROOT / "src/routelab").iterdir() if path.stem != "__init__"}
    packages = {name for name in packages if not name.startswith("__pycache")}
    packages -= {"templates", "py", "references"}  # no modules
    allowed = {"api", "kernels", "metrics", "toolkit"}
    forbidden = {name.rpartition(".")[2] for name in contracts["plugins"]["forbidden_modules"]}
    assert forbidden == packages - allowed
