"""What NPB counts as arithmetic, against outputs that were measured."""

from __future__ import annotations

import pytest

from routelab.api import Job
from routelab.registry.instances import load
from routelab_plugins.npb_operations import operations


def test_a_measured_output_is_within_its_rounding():
    """NPB 3.4.1, LU class W on 4 processes: 19.24 s at 938.56 Mop/s."""
    assert operations("lu", "W") / 1e6 / 938.56 == pytest.approx(19.24, abs=0.005)


@pytest.mark.parametrize("kernel", ["lu", "mg", "cg", "ft", "is"])
@pytest.mark.parametrize("class_", "SW")
def test_models_count_the_same(kernel, class_):
    program = load("workload", f"npb-{kernel}~class={class_}").program(Job(4))
    assert program.operations == pytest.approx(operations(kernel, class_), rel=1e-12)
