"""The conformance kit: checks that a plugin keeps its contract and that its claims hold.

It ships with routelab for the tests of third-party plugins::

    from routelab.testing import conformance

    test_conformance = conformance("selection", "my-key")
"""

from routelab.testing.kit import BUDGET_SECONDS, conformance, run_checks
from routelab.testing.results import CheckResult

__all__ = ["BUDGET_SECONDS", "CheckResult", "conformance", "run_checks"]
