"""Traffic between groups, at distances above one, and from files."""

import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from topology_laws import graph_of

from routelab.api import InputError, Topology, UnsupportedError
from routelab.registry.instances import load
from routelab.toolkit import build_grid, terminal_groups
from routelab.toolkit.families.groups import switch_groups
from routelab_plugins.traffic.group_shift import GroupShift
from routelab_plugins.traffic.hotspot import Hotspot
from routelab_plugins.traffic.permutation import PermutationTraffic, read_permutation
from routelab_plugins.traffic.switch_permutation import SwitchPermutation

GROUPED = {
    # terminals and the number in front of the dot of a switch's name
    "dragonfly~h=2,groups=5": 5,
    "megafly": 5,
    "hamming~dims=3x4,terminals=2": 3,
    "polarfly~q=3": 4,
}


def built(name):
    return load("topology", name).build()


def groups_by_name(topology):
    """Group of each terminal from the names of switches: g3.s2, r3.2 or 3.2."""
    names = [topology.switch_names[s] for s in topology.terminal_switch]
    return np.array([int(name.split(".")[0].strip("gr")) for name in names])


@pytest.mark.parametrize("name", GROUPED)
@pytest.mark.parametrize("shift", [1, 2, -1])
def test_a_group_sends_to_one_group_alike(name, shift):
    topology, count = built(name), GROUPED[name]
    group = groups_by_name(topology)
    pattern = GroupShift(shift=shift)
    assert pattern.supports(topology) is None
    matrix = pattern.demand(topology, 0).between_terminals()
    size = np.bincount(group)
    assert len(size) == count
    target = (group + shift) % count
    assert np.allclose(matrix, (group == target[:, None]) / size[target][:, None])


def test_racks_of_a_slim_fly_are_its_groups():
    topology = built("slim-fly~q=3")
    # switch h.x.y is in rack x
    racks = [int(topology.switch_names[s].split(".")[1]) for s in topology.terminal_switch]
    assert terminal_groups(topology).tolist() == racks


@pytest.mark.parametrize(
    ("name", "shift", "reason"),
    [
        ("torus~dims=4x4", 1, "needs a network with groups of switches .*, torus has none"),
        ("hamming~dims=6", 1, "hamming has none"),
        (
            "dragonfly",
            9,
            "shift=9 leads back to the same group, because the network has 9; use 1 to 8",
        ),
        ("dragonfly", 0, "shift=0 leads back"),
    ],
)
def test_networks_without_another_group_are_unsupported(name, shift, reason):
    assert re.search(reason, GroupShift(shift=shift).supports(built(name)))


def test_a_single_group_has_no_other():
    single = Topology.create(
        num_switches=2,
        channel_source=[0, 1],
        channel_target=[1, 0],
        coordinates=[[0], [0]],
        attributes={"group_coordinates": [0]},
    )
    reason = GroupShift().supports(single)
    assert reason == "needs two groups with terminals or more; this network has 1"


def test_groups_of_a_fat_tree_are_its_pods():
    # terminals are in the order of the subtrees: four pods of four leaves with four terminals
    whole = built("fat-tree")
    assert terminal_groups(whole).tolist() == [t // 16 for t in range(64)]
    matrix = GroupShift().demand(whole, 0).between_terminals()
    assert np.allclose(matrix, np.kron(np.roll(np.eye(4), 1, axis=1), np.full((16, 16), 1 / 16)))
    damaged = built("fat-tree~k=2,failed_switches=0+1+4")
    assert terminal_groups(damaged).tolist() == [0, 0, 0, 0]
    assert switch_groups(damaged).tolist() == [1, 1, 0, 1, 1, 2, 2, 2, 2]


def test_groups_that_failed_are_left_out():
    damaged = built("dragonfly~h=1,failed_switches=2+3")
    assert terminal_groups(damaged).tolist() == [0, 0, 1, 1]
    with pytest.raises(UnsupportedError, match="random-regular has none"):
        terminal_groups(built("random-regular~n=8,degree=3"))


@given(share=st.floats(0.01, 1), groups=st.sets(st.integers(0, 8), min_size=1, max_size=3))
def test_hot_groups_get_their_share(share, groups):
    topology = built("dragonfly~h=2")
    group = groups_by_name(topology)
    pattern = Hotspot(share=share, groups=tuple(groups))
    assert pattern.supports(topology) is None
    hot = np.isin(group, list(groups)).astype(float)
    count = len(group)
    others = 1 - np.eye(count)
    cold = (1 - share) * others / (count - 1)
    to_hot = others * hot
    expected = cold + share * to_hot / to_hot.sum(axis=1, keepdims=True)
    assert np.allclose(pattern.demand(topology, 0).between_terminals(), expected)


def test_hot_groups_exist_and_replace_spots():
    topology = built("dragonfly~h=1")
    with pytest.raises(InputError, match=r"groups=1\+3: group 3 does not exist; groups are 0\.\.2"):
        Hotspot(groups="1+3").demand(topology, 0)
    with pytest.raises(InputError, match="group -1 does not exist"):
        Hotspot(groups=(-1,)).demand(topology, 0)
    with pytest.raises(InputError, match=r"either spots \(terminals\) or groups, not both"):
        Hotspot(groups=(1,), spots=(2,)).demand(topology, 0)
    assert "torus has none" in Hotspot(groups=(0,)).supports(built("torus~dims=4"))


@pytest.mark.parametrize("name", ["slim-fly", "torus~dims=4x4x2", "fat-tree", "megafly~h=3"])
@pytest.mark.parametrize("distance", [1, 2, 3])
def test_targets_are_at_the_distance(name, distance):
    topology = built(name)
    pattern = SwitchPermutation(distance=distance)
    hops = dict(nx.all_pairs_shortest_path_length(nx.Graph(graph_of(topology))))
    ends = topology.endpoints.tolist()
    possible = any(hops[a][b] == distance for a in ends for b in ends)
    reason = pattern.supports(topology)
    if not possible:
        assert "no permutation sends every switch to" in reason
        return
    assert reason is None
    demand = pattern.demand(topology, 4)
    assert distance == 1 or f"a switch {distance} hops away" in demand.convention
    assert sorted(demand.members.tolist()) == list(range(topology.num_terminals))
    switch = topology.terminal_switch
    assert {hops[a][b] for a, b in zip(switch, switch[demand.members], strict=True)} == {distance}


def test_nobody_is_at_a_distance_without_terminals():
    silent = Topology.create(
        num_switches=2, channel_source=[0, 1], channel_target=[1, 0], terminal_switch=[]
    )
    reason = SwitchPermutation().supports(silent)
    assert reason == "needs two terminals or more; this network has 0"
    assert GroupShift().supports(silent) is not None


def test_neighbours_are_drawn_as_before():
    # the permutation of stored results
    torus = build_grid("torus", (4, 4), wrap=True)
    drawn = SwitchPermutation().demand(torus, 0).members.tolist()
    assert drawn == [12, 13, 14, 2, 7, 1, 5, 3, 4, 8, 6, 10, 0, 9, 15, 11]


def written(folder, text):
    file = folder / "pairs.txt"
    file.write_text(text)
    return file


@given(order=st.permutations(range(7)), keep=st.integers(1, 7))
def test_a_file_lists_a_permutation(order, keep, tmp_path_factory):
    lines = [f"{source}{' ,'[source % 2]} {order[source]}" for source in range(keep)]
    file = written(tmp_path_factory.getbasetemp(), "# ranks\n\n" + "  # note\n".join(lines))
    pattern = PermutationTraffic(file=file)
    topology = Topology.create(num_switches=7, channel_source=[], channel_target=[])
    expected = np.zeros((7, 7))
    for source in range(keep):
        if order[source] != source:
            expected[source, order[source]] = 1
    if not expected.any():
        assert "no terminal sends to another" in pattern.supports(topology)
        return
    assert pattern.supports(topology) is None
    assert np.array_equal(pattern.demand(topology, 0).between_terminals(), expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 x\n", "line 2: '1 x' does not name two terminals; write source and target as 0 7"),
        ("0 1 5\n", "line 1: '0 1 5' does not name two"),
        ("0\n", "line 1: '0' does not name two"),
        ("0 -1\n", "line 1: '0 -1' does not name two"),
        ("0 1234567890\n", "does not name two"),
        ("0 " + "1" * 5000, "does not name two"),
        ("0 1\n\n0 2\n", "line 3: terminal 0 already sends in line 1"),
        ("0 1\n2 1\n", "line 2: terminal 1 already receives in line 1"),
        ("a\n" * 7, r"line 5: .*\n    and 2 more"),
    ],
)
def test_files_that_are_no_permutation_are_refused(text, message, tmp_path):
    file = written(tmp_path, text)
    with pytest.raises(InputError, match=message) as error:
        read_permutation(file)
    assert str(error.value).startswith(f"{file}:")


def test_a_permutation_has_to_fit_the_network(tmp_path):
    pattern = PermutationTraffic(file=written(tmp_path, "0 4\n"))
    four = Topology.create(num_switches=4, channel_source=[], channel_target=[])
    assert "is for 5 terminals or more, and the network has 4" in pattern.supports(four)
    assert pattern.input_files() == [tmp_path / "pairs.txt"]
    empty = PermutationTraffic(file=written(tmp_path, "# nothing\n"))
    assert "no terminal sends to another" in empty.supports(four)
    with pytest.raises(InputError, match="cannot be read"):
        PermutationTraffic(file=tmp_path / "absent.txt").supports(four)
