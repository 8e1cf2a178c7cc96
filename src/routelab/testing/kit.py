"""Entry points of the conformance kit: the checks of a plugin as a list or as pytest cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

from routelab.registry import catalogue as catalogues
from routelab.testing.child_process import run_suite
from routelab.testing.inputs.examples import split_name
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

    The plugin runs in a child process; if it hangs, crashes or cannot be imported, a check fails.

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
        If the kind, plugin or check does not exist.
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
    """Return a test function for pytest, with one case for each check and input.

    A test module only needs ``test_conformance = conformance("selection", "my-key")``. All checks
    run when the first case starts.

    Parameters
    ----------
    kind, text : str
        A kind and an instance name, or both in the first one (``"selection/my-key~param=3"``).
    budget_seconds : float
        Wall time of one check on one input.
    topologies : sequence of str
        Instances of installed topologies to check it on, besides the kit's own networks.
    only : collection of str
        Names of checks; all by default.

    Raises
    ------
    InputError
        If the kind, plugin or check does not exist.
    """
    import pytest  # here, because plugins are also checked where pytest is not installed

    suite = _suite(kind, text, topologies, only)

    @cache
    def results() -> dict[tuple[str, str], CheckResult]:
        return {(result.check, result.input): result for result in run_suite(suite, budget_seconds)}

    @pytest.mark.parametrize(
        ("check", "input_name"), suite.cases, ids=[f"{check}-{name}" for check, name in suite.cases]
    )
    def test_conformance(check: str, input_name: str) -> None:
        result = results()[check, input_name]
        if result.status == "failed":
            pytest.fail(f"{check} on {input_name}: {result.message}", pytrace=False)
        if result.status == "skipped":
            pytest.skip(result.message)

    return test_conformance


def _suite(kind: str, text: str, topologies: Sequence[str], only: Collection[str]) -> Suite:
    catalogue = catalogues.installed_catalogue()
    return Suite(*split_name(kind, text), catalogue, tuple(topologies), tuple(only))
