"""Packages whose names are loaded from their modules when they are first used."""

import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

PACKAGES = ("routelab", "routelab.api", "routelab.toolkit")
HEAVY = ("numba", "numpy", "pandas", "pydantic")


def in_new_process(code):
    """Return what a new Python prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("code", "module"),
    [
        ("import routelab.api.errors", "api.errors"),
        ("from routelab.api import InputError", "api.errors"),
        ("import routelab.toolkit.input_files", "toolkit.input_files"),
        ("from routelab.toolkit import escape_cell", "toolkit.csv_cells"),
    ],
)
def test_errors_and_helpers_for_files_import_nothing_heavy(code, module):
    printed = in_new_process(
        f"import sys; {code}; print(*(one for one in sys.modules if one.startswith('routelab'))); "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    ours, heavy = printed.splitlines()
    ours = {name for name in ours.split() if not name.startswith("routelab._runtime")}
    packages = {"routelab", "routelab.api", "routelab.toolkit"}
    assert ours - packages == {"routelab.api.errors", f"routelab.{module}"}
    assert heavy == "[]"


def test_a_comparison_of_reports_needs_no_compiler(tmp_path):
    code = (
        "import sys; from routelab.cli import main; code = main(['compare', '.', '.']); "
        "print(code, [name for name in ('pandas', 'numba') if name in sys.modules])"
    )
    assert in_new_process(f"import os; os.chdir({str(tmp_path)!r}); {code}") == "2 ['pandas']"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_is_that_of_its_module(package):
    offered = import_module(package)
    imports = {}
    stub = Path(offered.__file__).with_suffix(".pyi").read_text()
    for module, lines, line in re.findall(r"from (\S+) import (?:\(([^)]+)\)|(.+))", stub):
        imports |= dict.fromkeys(re.findall(r"\w+", lines or line), module)
    assert set(offered.__all__) - {"__version__"} == set(imports)
    for name, module in imports.items():
        assert getattr(offered, name) is getattr(import_module(module), name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_name_is_that_of_a_module_in_its_package(package):
    """After its import a module would be found in the place of the name."""
    offered = import_module(package)
    assert not {module.name for module in pkgutil.iter_modules(offered.__path__)} & set(
        offered.__all__
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_all_names_are_listed_before_they_are_loaded_and_imported_by_a_star(package):
    code = (
        f"import {package} as p; listed = set(dir(p)); from {package} import *; "
        "print(set(p.__all__) - listed, set(p.__all__) - set(globals()))"
    )
    assert in_new_process(code) == "set() set()"


@pytest.mark.parametrize("package", PACKAGES)
def test_a_name_that_is_not_offered_is_named(package):
    offered = import_module(package)
    with pytest.raises(AttributeError) as caught:
        _ = offered.Topolgy
    assert str(caught.value) == f"module {package!r} has no attribute 'Topolgy'"
    with pytest.raises(ImportError, match=f"cannot import name 'Topolgy' from '{package}'"):
        exec(f"from {package} import Topolgy")


def test_a_module_of_the_package_can_be_imported_from_it():
    code = "from routelab.api import parameters; print(parameters.__name__)"
    assert in_new_process(code) == "routelab.api.parameters"
