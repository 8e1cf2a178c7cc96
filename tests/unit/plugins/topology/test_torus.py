"""The torus plugin: its parameters reach the grid, and its rings are closed."""

import pytest

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
