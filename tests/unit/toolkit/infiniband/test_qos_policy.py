"""QoS policies: rules give each pair its level, and few of them are needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from routelab.api import InputError
from routelab.toolkit.infiniband import TextFile, make_rules, parse_policy, write_policy

SOURCES = [[f"0x{row:016x}", f"0x{row + 16:016x}"] for row in range(1, 8)]
DESTINATIONS = [[f"0x{column:016x}"] for column in range(100, 109)]


def policy_of(levels, care):
    default, rules = make_rules(levels, care)
    lines = list(
        write_policy(default, rules, SOURCES[: len(levels)], DESTINATIONS[: levels.shape[1]])
    )
    return rules, lines


@given(st.data())
def test_every_pair_gets_its_level_by_the_first_rule_that_matches(data):
    shape = data.draw(st.tuples(st.integers(1, 7), st.integers(1, 9)))
    levels = data.draw(arrays(np.int8, shape, elements=st.integers(0, 3)))
    care = data.draw(arrays(np.bool_, shape))
    _, lines = policy_of(levels, care)
    policy = parse_policy(TextFile.of("policy", "\n".join(lines)))
    for row, guids in enumerate(SOURCES[: shape[0]]):
        for source in guids:
            for column in range(shape[1]):
                target = DESTINATIONS[column][0]
                level = policy.default
                for sources, destinations, of_rule in policy.rules:
                    if all(source in group.guids for group in sources) and all(
                        target in group.guids for group in destinations
                    ):
                        level = of_rule
                        break
                assert level == levels[row, column] or not care[row, column]
                assert policy.levels([source], [target])[0, 0] == level


def test_one_level_needs_no_rule_and_no_empty_sections():
    rules, lines = policy_of(np.full((3, 4), 2, dtype=np.int8), np.ones((3, 4), dtype=np.bool_))
    assert rules == []
    assert [line.strip() for line in lines] == [
        "qos-levels",
        "qos-level",
        "name: DEFAULT",
        "sl: 2",
        "end-qos-level",
        "end-qos-levels",
    ]


def test_levels_by_destination_need_rules_by_destination():
    levels = np.tile(np.array([0, 0, 0, 1, 2, 3, 3], dtype=np.int8), (7, 1))
    rules, _ = policy_of(levels, np.ones(levels.shape, dtype=np.bool_))
    # one for each level but the default
    assert sorted((rule.level, sorted(rule.destinations)) for rule in rules) == [
        (1, [3]),
        (2, [4]),
        (3, [5, 6]),
    ]


PORTS = {
    "0x0000000000000013": frozenset({"SWITCH", "s3/P1", "s3/P2"}),
    "0x0000000000000101": frozenset({"CA", "h0 HCA-1/P1"}),
    "0x0000000000000201": frozenset({"CA", "h3 HCA-1/P1"}),
}
"""Labels of a switch and two hosts."""
POLICY = """\
port-groups  # no "blank" counts
    port-group
        name: My Group
        use: a "use" is a comment
        port-guid: 0x13
    end-port-group
    port-group
        name: mygroup
        port-guid: 0x101
    end-port-group
    port-group
        name: members of a partition
        partition: Part1
        node-type: SELF
    end-port-group
end-port-groups
qos-setup
    vlarb-tables
        ignored: too
    end-vlarb-tables
end-qos-setup
qos-match-rules
    qos-match-rule
        source: MYGROUP
        qos-level-name: One
    end-qos-match-rule
end-qos-match-rules
qos-levels
    qos-level
        name: default
        sl: 0
    end-qos-level
    qos-level
        name: one
        sl: 0x1 # level one
        mtu-limit: 4
        path-bits: 1-2
        pkey: 0x7fff
    end-qos-level
end-qos-levels
"""


@pytest.mark.parametrize(
    ("members", "places"),
    [
        ("port-guid: 0x13", [0]),
        ("port-guid: 19, 0x1ff - 0x202", [0, 2]),
        ("port-guid: 0x202-0x13", [0, 1, 2]),
        ("port-guid: 0x999", []),
        ('port-name: "h3 HCA-1/P1", s3/p2', [0, 2]),
        ('port-name: "absent/P1"', []),
        ("node-type: CA", [1, 2]),
        ("node-type: switch, Router", [0]),
        ("node-type: ALL", [0, 1, 2]),
        ("port-guid: 0x13\nport-guid: 0x101", [0, 1]),
    ],
)
def test_groups_have_the_members_that_opensm_gives_them(members, places):
    """As OpenSM 3.3.23 answers path queries with these policies; blanks and case do not count."""
    policy = parse_policy(TextFile.of("policy", POLICY.replace("port-guid: 0x13", members, 1)))
    levels = policy.levels(list(PORTS), list(PORTS), PORTS)
    assert np.flatnonzero(levels.any(axis=1)).tolist() == places
    assert np.unique(levels[places]).tolist() == ([1] if places else [])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("source: MY", "service-id: 22\nsource: MY", "policy:24: not enough input: .* service-id"),
        (
            "source: MYGROUP",
            "source: membersofapartition",
            "policy:14: not enough input: .* node-type",
        ),
        ("port-guid: 0x13", "node-type: CA, SELF", "policy:5: not enough input: .* node-type"),
        ("qos-setup", "qos-ulps", "policy:17: not enough input: .* qos-ulps"),
        ("port-guid: 0x13", "port-name: s3/P0", "policy:5: OpenSM refuses policies with port 0"),
        ("port-guid: 0x13", "port-name: h3 HCA-1/P1", 'policy:5: .* write "h3 HCA-1/P1"'),
        ("port-guid: 0x13", "port-name: s3", "policy:5: .* is not a port name"),
        ("port-guid: 0x13", "port-name: s3/P3", "policy: node 's3' has no such port"),
        ("port-guid: 0x13", "node-type: HCA", "policy:5: node type 'HCA' does not exist"),
        ("port-guid: 0x13", "port-guid: 013", "policy:5: '013' is not a list of GUIDs"),
        ("port-guid: 0x13", "port-gid: 0x13", "policy:5: 'port-gid' is not a key of a port-group"),
        ("port-guid: 0x13", "name: again", "policy:5: the port-group has a second 'name'"),
        ("source: MYGROUP", "source: g0", "policy:24: port group 'g0' does not exist"),
        ("level-name: One", "level-name: Two", "policy:26: QoS level 'two' does not exist"),
        ("name: default", "name: other", "policy:[0-9]+: the policy has no level DEFAULT"),
        ("qos-levels", "qos levels", "policy:[0-9]+: 'qos levels' is not a line"),
        ("sl: 0x1", "sl: 16", "policy:35: QoS level 'one' has SL '16'; SLs are 0 to 15"),
        ("name: one", "name: a,b", "policy:34: 'a,b' is not a name"),
        ("end-qos-levels", "", "policy:[0-9]+: the file ends in qos-levels"),
    ],
)
def test_every_other_key_is_refused(old, new, message):
    content = POLICY.replace(old, new, 1)
    assert content != POLICY
    with pytest.raises(InputError, match=message):
        parse_policy(TextFile.of("policy", content)).levels(list(PORTS), list(PORTS), PORTS)


def test_a_name_of_two_nodes_is_refused():
    policy = parse_policy(
        TextFile.of("policy", POLICY.replace("port-guid: 0x13", "port-name: s3/P1", 1))
    )
    twins = {**PORTS, "0x0000000000000014": PORTS["0x0000000000000013"]}
    with pytest.raises(InputError, match="several nodes have the description 's3'"):
        policy.levels(list(twins), list(twins), twins)
    with pytest.raises(InputError, match="is not known by its GUID"):
        policy.levels(list(twins), list(twins))
