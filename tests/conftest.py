"""What all tests share: naive twins on the path, hypothesis profiles, the choice of slow tests."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
QUICK = ("unit", "guards", "conformance")
"""Folders of tests that are not slow, unless they are marked."""
SHARING = ("test_report_page.py", "test_screenshots.py")
"""Files that look at the report which `test_accessibility.py`, of the same folder, builds."""

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


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Give a worker of xdist the choice of tests."""
    node.workerinput["slow"] = node.config.option.slow
    node.workerinput["all"] = node.config.option.all


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files with slow tests before the other unit tests, and leave out slow tests.

    Slow tests at the end would keep one core busy and leave the others idle. A run of everything
    leaves them out unless `--slow` asks for them, and thorough ones unless `--all` does.
    """
    for item in items:
        if not any(item.path.is_relative_to(TESTS / folder) for folder in QUICK):
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}

    def position(item: pytest.Item) -> tuple[bool, bool]:
        is_quick = item.path not in slow and any(
            item.path.is_relative_to(TESTS / folder) for folder in ("unit", "guards")
        )
        # beside the file that builds the report, another worker would only wait for it
        return is_quick, item.path.parent == TESTS / "browser" and item.path.name in SHARING

    items.sort(key=position)
    if not config.getoption("slow"):
        leave_out(config, items, [item for item in items if item.get_closest_marker("slow")])
    if not config.getoption("all"):
        leave_out(config, items, [item for item in items if item.get_closest_marker("thorough")])


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
