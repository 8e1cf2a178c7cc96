"""The conformance kit from outside: all checks of one plugin, as a list or as pytest's cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

from routelab.registry import catalogue as catalogues
from routelab.testing.child_process import run_suite
from routelab.testing.inputs.examples import split
from routelab.testing.results import CheckResult
from routelab.testing.suite import Suite

BUDGET_SECONDS = 30.0
"""Wall time of one check on one input; the first run of a kernel compiles it."""


def run_checks(
    kind: str,
    text: str = "",
    *,
    budget_seconds: float = BUDGET_SECONDS,
    topologies: Sequence[str] = (),
    only: Collection[str] = (),
) -> list[CheckResult]:
    """Check an installed plugin.

    The plugin runs in a child process; one that hangs, crashes or cannot be imported is a failed
    check.

    Parameters
    ----------
    kind, text : str
        A kind and an instance name (``"selection", "my-key~param=3"``; a routing may be made of
        parts), or both in the first one (``"selection/my-key~param=3"``).
    budget_seconds : float
        Wall time of one check on one input.
    topologies : sequence of str
        Instances of installed topologies to check it on, besides the kit's own networks.
    only : collection of str
        Names of checks; all by default.

    Returns
    -------
    list of CheckResult
        One for each check and input, never empty.

    Raises
    ------
    InputError
        If there is no such kind, plugin or check.
    """
    return run_suite(_suite(kind, text, topologies, only), budget_seconds)


def conformance(
    kind: str,
    text: str = "",
    *,
    budget_seconds: float = BUDGET_SECONDS,
    topologies: Sequence[str] = (),
    only: Collection[str] = (),
) -> Callable[..., None]:
    """A test function for pytest, with one case for each check and input.

    In a test module ``test_conformance = conformance("selection", "my-key")`` is all that it
    takes. All checks run when the first case is asked for.

    Parameters
    ----------
    kind, text, budget_seconds, topologies, only
        As `run_checks`.

    Raises
    ------
    InputError
        If there is no such kind, plugin or check: then nothing would be checked.
    """
    import pytest

    suite = _suite(kind, text, topologies, only)

    @cache
    def results() -> dict[tuple[str, str], CheckResult]:
        found = run_suite(suite, budget_seconds)
        return {(result.check, result.input): result for result in found}

    @pytest.mark.parametrize(
        ("check", "tried"), suite.cases, ids=[f"{check}-{tried}" for check, tried in suite.cases]
    )
    def test_conformance(check: str, tried: str) -> None:
        result = results()[check, tried]
        if result.status == "failed":
            pytest.fail(f"{check} on {tried}: {result.message}", pytrace=False)
        if result.status == "skipped":
            pytest.skip(result.message)

    return test_conformance


def _suite(kind: str, text: str, topologies: Sequence[str], only: Collection[str]) -> Suite:
    catalogue = catalogues.installed_catalogue()
    return Suite(*split(kind, text), catalogue, tuple(topologies), tuple(only))
