"""The torus plugin: its parameters reach the grid, and its rings are closed."""

import pytest
from pydantic import ValidationError

from routelab.toolkit import Grid, full_grid
from routelab_plugins.topology.torus import Torus


@pytest.mark.parametrize(
    ("dims", "channels"), [("2", 2), ("4", 8), ("4x2", 24), ("4x2x2", 64), ("4x2x2x2", 160)]
)
def test_the_systems_of_table_2(dims, channels):
    # a ring gives two channels a switch, a dimension of size 2 gives one
    topology = Torus(dims=dims).build()
    assert topology.family == "torus"
    assert topology.num_channels == channels
    sizes = tuple(map(int, dims.split("x")))
    assert full_grid(topology) == Grid(sizes, tuple(size > 2 for size in sizes))


def test_parameters_reach_the_grid():
    topology = Torus(
        dims="4x2",
        terminals=2,
        failed_switches="3",
        failed_links="0-1+4-6",
        fail_links=1,
        seed=5,
        nodes="0+1+2+3+4+5+6",
    ).build()
    assert topology.switch_names == ("0.0", "0.1", "1.0", "2.0", "2.1", "3.0")
    assert topology.num_terminals == 12
    assert topology.failed_switches == ("1.1",)
    assert {"0.0-0.1", "2.0-3.0"} < set(topology.failed_links)
    assert len(topology.failed_links) == 3


def test_names_write_lists_with_plus_signs():
    torus = Torus(dims="4x2", failed_links="0-1+4-6", nodes="0+1")
    assert torus.parameters.non_defaults() == {
        "dims": "4x2",
        "failed_links": "0-1+4-6",
        "nodes": "0+1",
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dims": "4x1"}, "at least 2"),
        ({}, "Field required"),
        ({"dims": "4", "terminals": 0}, "greater than or equal to 1"),
        ({"dims": "4", "fail_links": -1}, "greater than or equal to 0"),
        ({"dims": "4", "failed_switches": "a"}, "valid integer"),
    ],
)
def test_wrong_parameters_are_refused(values, message):
    with pytest.raises(ValidationError, match=message):
        Torus(**values)
