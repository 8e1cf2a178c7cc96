"""Names, GUIDs and ports of terminals and switches: what is refused, and what survives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import networks

from routelab.api import InputError, Topology
from routelab.toolkit import with_random_failures

PAIR = {"num_switches": 2, "channel_source": [0, 1], "channel_target": [1, 0]}


@st.composite
def identified(draw):
    """Networks in which some parts have names, GUIDs and ports."""
    plain = draw(networks())
    terminals, switches = plain.num_terminals, plain.num_switches

    def some(prefix, count):
        known = draw(st.lists(st.booleans(), min_size=count, max_size=count))
        return [f"{prefix}{i}" if here else "" for i, here in enumerate(known)]

    parts = {
        "terminal_names": some("n", terminals),
        "terminal_guids": some("0x1:", terminals),
        "switch_guids": some("0x2:", switches),
    }
    ports = draw(st.permutations(range(terminals)))
    known = draw(st.lists(st.booleans(), min_size=terminals, max_size=terminals))
    return Topology.create(
        num_switches=switches,
        channel_source=plain.channel_source,
        channel_target=plain.channel_target,
        terminal_switch=plain.terminal_switch,
        terminal_port=[port if here else -1 for port, here in zip(ports, known, strict=True)],
        **parts,
    )


def cards(topology):
    """What is known of each terminal and of each switch, as text alone."""
    none = [""] * max(topology.num_terminals, topology.num_switches)
    names = topology.switch_names
    terminals = [
        (names[switch], *rest)
        for switch, *rest in zip(
            topology.terminal_switch.tolist(),
            topology.terminal_names or none[: topology.num_terminals],
            topology.terminal_guids or none[: topology.num_terminals],
            topology.terminal_port.tolist(),
            strict=True,
        )
    ]
    guids = topology.switch_guids or none[: topology.num_switches]
    return terminals, dict(zip(names, guids, strict=True))


@given(identified(), st.data())
def test_identities_survive_failures(topology, data):
    numbers = st.integers(0, topology.num_switches - 1)
    gone = data.draw(st.sets(numbers, max_size=topology.num_switches - 1))
    left = sorted(set(topology.endpoints.tolist()) - gone)
    if not left:
        gone.discard(int(topology.endpoints[0]))
    after = topology.without(switches=sorted(gone))
    lost = {topology.switch_names[switch] for switch in gone}
    terminals, switches = cards(topology)
    assert cards(after) == (
        [card for card in terminals if card[0] not in lost],
        {name: guid for name, guid in switches.items() if name not in lost},
    )


@given(identified(), st.integers(0, 9))
def test_random_failures_leave_identities_alone(topology, seed):
    links = min(1, len(topology.links))
    after = with_random_failures(topology, links=links, seed=seed)
    assert cards(after) == cards(topology)


@given(networks())
def test_nothing_known_is_an_empty_tuple(topology):
    blank = Topology.create(
        num_switches=topology.num_switches,
        channel_source=topology.channel_source,
        channel_target=topology.channel_target,
        terminal_switch=topology.terminal_switch,
        terminal_names=[""] * topology.num_terminals,
        terminal_guids=[""] * topology.num_terminals,
        switch_guids=[""] * topology.num_switches,
    )
    assert blank.terminal_names == blank.terminal_guids == blank.switch_guids == ()
    assert set(blank.terminal_port.tolist()) == {-1}
    assert blank.host_names == tuple(f"t{t}" for t in range(blank.num_terminals))
    ends = [int(blank.endpoints[place]) for place in blank.terminal_endpoint]
    assert ends == blank.terminal_switch.tolist()


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"terminal_names": ["a"]}, "1 terminal_names for 2 terminals"),
        ({"terminal_names": ["a", "a"]}, "two terminals have the name 'a'"),
        ({"terminal_guids": ["0x1", "0x1"]}, "two devices have the GUID '0x1'"),
        (
            {"terminal_guids": ["0x1", ""], "switch_guids": ["", "0x1"]},
            "two devices have the GUID '0x1'",
        ),
        ({"switch_guids": ["0x1"]}, "1 switch_guids for 2 switches"),
        ({"terminal_port": [1]}, r"terminal_port has shape \(1,\), expected \(2,\)"),
        (
            {"terminal_switch": [1, 1], "terminal_port": [3, 3]},
            "terminals 0 and 1 are both on port 3 of switch 1",
        ),
    ],
)
def test_duplicate_identities_are_rejected(parts, said):
    with pytest.raises(InputError, match=f"topology: {said}"):
        Topology.create(**PAIR, **parts)


def test_terminals_of_two_switches_may_have_one_port_number():
    topology = Topology.create(**PAIR, terminal_port=[7, 7], terminal_names=["a", ""])
    np.testing.assert_array_equal(topology.terminal_port, [7, 7])
    assert [topology.terminal_name(t) for t in (0, 1)] == ["a", "1"]
    assert topology.host_names == ("t0", "t1")
