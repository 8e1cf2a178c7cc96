"""What all tests share: naive twins on the path, hypothesis profiles, a run without built-ins."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
BUILTINS = "routelab_plugins"

sys.path.insert(0, str(TESTS / "reference"))

# the first call of a kernel compiles it, which no deadline should punish
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("dev"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hide-builtins",
        action="store_true",
        help="run the core's unit tests as if no built-in plugin were installed",
    )
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="take the pictures of the report that the documentation shows anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "builtins: needs the built-in plugins")
    if config.getoption("hide_builtins"):
        hide_builtins()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without built-ins only the core's own unit tests are collected."""
    if not config.getoption("hide_builtins") or collection_path in TESTS.parents:
        return None
    unit = TESTS / "unit"
    core = collection_path == TESTS or collection_path.is_relative_to(unit)
    return None if core and not collection_path.is_relative_to(unit / "plugins") else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("hide_builtins"):
        needy = [item for item in items if item.get_closest_marker("builtins")]
        items[:] = [item for item in items if item not in needy]
        config.hook.pytest_deselected(items=needy)


class BuiltinsHidden:
    """A finder that no built-in plugin gets past."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> None:
        if fullname.partition(".")[0] == BUILTINS:
            raise ModuleNotFoundError(f"{fullname} is hidden in this run", name=fullname)


def hide_builtins() -> None:
    """Make the built-in plugins impossible to import, and their entry points vanish."""
    sys.meta_path.insert(0, BuiltinsHidden)
    declared = importlib.metadata.Distribution.entry_points.fget

    def entry_points(distribution: importlib.metadata.Distribution) -> Any:
        points = declared(distribution)
        return importlib.metadata.EntryPoints(
            point for point in points if point.value.partition(".")[0] != BUILTINS
        )

    importlib.metadata.Distribution.entry_points = property(entry_points)
