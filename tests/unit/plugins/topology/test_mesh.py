"""The mesh plugin: a torus without the links that close its rings."""

from routelab.toolkit import Grid, full_grid
from routelab_plugins.topology.mesh import Mesh


def test_a_mesh_has_lines_only():
    topology = Mesh(dims="4x3").build()
    assert topology.family == "mesh"
    # lines of 4 switches have 3 links, of 3 have 2; a link is two channels
    assert topology.num_channels == 2 * (3 * 3 + 4 * 2)
    assert full_grid(topology) == Grid((4, 3), (False, False))
    assert set(topology.channel_ring.tolist()) == {-1}


def test_the_corner_of_a_damaged_mesh_keeps_its_name():
    topology = Mesh(dims="2x2", failed_switches="0", terminals=3).build()
    assert topology.switch_names == ("0.1", "1.0", "1.1")
    assert topology.num_channels == 4
    assert topology.num_terminals == 9
