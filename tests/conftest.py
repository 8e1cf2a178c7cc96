"""What all tests share: naive twins on the path, hypothesis profiles, a run without built-ins."""

from __future__ import annotations

import importlib.metadata
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
BUILTINS = "routelab_plugins"
QUICK = ("unit", "conformance")
"""Folders of tests that are not slow, unless they are marked."""

sys.path.insert(0, str(TESTS / "reference"))

# the first call of a kernel compiles it, which no deadline should punish
COMPILES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", **COMPILES, derandomize=True, print_blob=True)
# for `make fuzz`; what fails is kept in .hypothesis and tried first the next time
settings.register_profile("fuzz", **COMPILES, print_blob=True)
settings.load_profile("repeatable")


@pytest.fixture
def default_signals() -> Iterator[None]:
    """Let SIGINT and SIGHUP act as in a terminal: under `nohup make test &` they are ignored."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGHUP: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    }
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--hide-builtins",
        action="store_true",
        help="run the core's unit tests as if no built-in plugin were installed",
    )
    parser.addoption(
        "--slow",
        action="store_true",
        help="run slow tests too; otherwise they run only if files or markers (-m) are named",
    )
    parser.addoption(
        "--all",
        action="store_true",
        help="run all tests, also those marked as thorough, which CI leaves out",
    )
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="take the pictures of the report that the documentation shows anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "builtins: needs the built-in plugins")
    config.addinivalue_line(
        "markers", "slow: more than about ten seconds, or not a unit test; see CONTRIBUTING.md"
    )
    config.addinivalue_line("markers", "thorough: runs with --all, or if it is named; not in CI")
    if hasattr(config, "workerinput"):  # a worker of xdist gets other arguments
        config.option.slow, config.option.all = (
            config.workerinput["slow"],
            config.workerinput["all"],
        )
    else:
        everything = config.args_source == pytest.Config.ArgsSource.TESTPATHS
        config.option.all |= bool(config.option.markexpr) or not everything
        config.option.slow |= config.option.all
    import examples

    examples.quick = not config.getoption("slow")
    if config.getoption("hide_builtins"):
        hide_builtins()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist the choice of tests."""
    node.workerinput["slow"] = node.config.option.slow
    node.workerinput["all"] = node.config.option.all


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without built-ins only the core's own unit tests are collected."""
    if not config.getoption("hide_builtins") or collection_path in TESTS.parents:
        return None
    unit = TESTS / "unit"
    core = collection_path == TESTS or collection_path.is_relative_to(unit)
    return None if core and not collection_path.is_relative_to(unit / "plugins") else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests of processes before the unit tests, and leave out what would find nothing.

    Slow tests at the end would keep one core busy and leave the others idle. A run of everything
    leaves them out unless `--slow` asks for them, and thorough ones unless `--all` does. Without
    built-ins only those tests run that need none and can notice that there are none.
    """
    items.sort(key=lambda item: item.path.is_relative_to(TESTS / "unit"))
    for item in items:
        if not any(item.path.is_relative_to(TESTS / folder) for folder in QUICK):
            item.add_marker("slow")
    if not config.getoption("slow"):
        leave_out(config, items, [item for item in items if item.get_closest_marker("slow")])
    if not config.getoption("all"):
        leave_out(config, items, [item for item in items if item.get_closest_marker("thorough")])
    if config.getoption("hide_builtins"):
        from plugin_sight import PluginSight  # loads routelab, after its plugins are hidden

        sight = PluginSight()
        left_out = [
            item for item in items if item.get_closest_marker("builtins") or not sight.of_test(item)
        ]
        leave_out(config, items, left_out)


def leave_out(config: pytest.Config, items: list[pytest.Item], some: list[pytest.Item]) -> None:
    """Deselect some tests."""
    config.hook.pytest_deselected(items=some)
    # a list of 3,000 would be searched for each
    out = set(some)
    items[:] = [item for item in items if item not in out]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say that slow tests were left out, and how to run them."""
    if not config.getoption("slow"):
        terminalreporter.write_line(
            "Slow tests were left out: whole workflows, clusters, browsers, other programs, large "
            "published cases, documents that are run. To run all tests: make test-all"
        )


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
