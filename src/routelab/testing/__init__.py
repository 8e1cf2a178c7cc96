"""The conformance kit: whether a plugin keeps its contract and its claims hold.

It ships with routelab, for the tests of plugins that routelab does not know::

    from routelab.testing import conformance

    test_conformance = conformance("selection", "my-key")
"""

from routelab.testing.kit import BUDGET_SECONDS, conformance, run_checks
from routelab.testing.results import CheckResult

__all__ = ["BUDGET_SECONDS", "CheckResult", "conformance", "run_checks"]
