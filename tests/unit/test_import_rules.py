"""What import-linter cannot say: kernels import nothing but numpy, numba and other kernels."""

import ast
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
