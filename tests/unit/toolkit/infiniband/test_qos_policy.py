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
                    if (not sources or source in policy.groups[sources]) and (
                        not destinations or target in policy.groups[destinations]
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("name: g0", "name: h0", "policy:[0-9]+: port group 'g0' does not exist"),
        ("name: sl1", "name: slx", "policy:[0-9]+: QoS level 'sl1' does not exist"),
        ("name: DEFAULT", "name: other", "policy:[0-9]+: the policy has no level DEFAULT"),
        ("port-guid: 0x", "port-guid: ox", "policy:4: .* is not a list of GUIDs"),
        ("qos-levels", "qos levels", "policy:[0-9]+: 'qos levels' is not a line"),
        ("sl: 1", "sl: 16", "policy:[0-9]+: QoS level 'sl1' has SL '16'; SLs are 0 to 15"),
        ("sl: 1", "sl: x", "policy:[0-9]+: QoS level 'sl1' has SL 'x'; SLs are 0 to 15"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, message):
    levels = np.array([[0, 1], [1, 0]], dtype=np.int8)
    _, lines = policy_of(levels, np.ones((2, 2), dtype=np.bool_))
    with pytest.raises(InputError, match=message):
        parse_policy(TextFile.of("policy", "\n".join(lines).replace(old, new, 1)))
