"""Hypercubes: closed forms, and routings of meshes on them."""

import networkx as nx
import pytest
from topology_laws import bisection_links, check_links, distances, graph_of, mean_distance

from routelab.toolkit import Grid, full_grid
from routelab_plugins.topology.hypercube import Hypercube
from routelab_plugins.topology.mesh import Mesh


@pytest.mark.parametrize("n", [1, 2, 3, 4, 6])
def test_it_is_the_hypercube_graph(n):
    topology = Hypercube(dims=n).build()
    places = list(map(tuple, topology.coordinates.tolist()))
    edges = {frozenset((places[a], places[b])) for a, b in graph_of(topology).edges()}
    expected = nx.hypercube_graph(n)
    # networkx has nodes 0 and 1 instead of tuples in one dimension
    ends = [(e if isinstance(e, tuple) else (e,) for e in edge) for edge in expected.edges()]
    assert edges == {frozenset(edge) for edge in ends}
    assert topology.num_channels == n * 2**n
    check_links(topology)
    hops = distances(topology)
    assert topology.attributes["diameter"] == hops.max() == n
    assert topology.attributes["mean_distance"] == pytest.approx(mean_distance(hops))
    assert topology.attributes["cables"] == {f"dimension {d}": 2 ** (n - 1) for d in range(n)}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_face_has_the_fewest_links(n):
    topology = Hypercube(dims=n).build()
    assert topology.attributes["bisection_links"] == bisection_links(topology)


def test_it_is_a_grid_like_the_mesh_of_its_size():
    cube, mesh = Hypercube(dims=4).build(), Mesh(dims="2x2x2x2").build()
    assert full_grid(cube) == full_grid(mesh) == Grid((2, 2, 2, 2), (False,) * 4)
    assert cube.switch_names == mesh.switch_names
    assert cube.directions == mesh.directions

    def hops(topology):
        rows = (topology.channel_source, topology.channel_target, topology.channel_direction)
        return set(zip(*(row.tolist() for row in rows), strict=True))

    assert hops(cube) == hops(mesh)
