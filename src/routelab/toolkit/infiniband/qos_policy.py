"""QoS policies of OpenSM: the service level of each pair of ports, as few rules.

OpenSM answers a request for a path with the level of the first rule that matches source and
destination (manual page opensm(8), option ``-Y``). Policies of others may have all keys of OpenSM
(``doc/QoS_management_in_OpenSM.txt`` of its sources): each is read, or known to leave the SL as it
is, or refused.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from routelab.api.errors import InputError
from routelab.api.topology import BoolArray, Int8Array
from routelab.toolkit.infiniband.fabric import NodeKind
from routelab.toolkit.infiniband.text_lines import TextFile, guid_text, shorten

GUIDS_PER_LINE = 4

KIND_LABELS: dict[NodeKind, str] = {"ca": "CA", "switch": "SWITCH", "router": "ROUTER"}
"""Labels of ports by the kind of their node."""

_Entries = dict[str, list[tuple[int, str]]]
"""Line numbers and values of each key of a group, level or rule, which may occur several times."""

_NUMBER = r"0[xX][0-9a-fA-F]{1,16}|0|[1-9][0-9]{0,18}"
_KEY = re.compile(r"(?P<key>[a-z-]+)\s*:\s*(?P<value>.*)")
_RANGE = re.compile(rf"(?P<first>{_NUMBER})(?:\s*-\s*(?P<last>{_NUMBER}))?")
_LEVEL = re.compile(r"[0-9]|1[0-5]|0[xX]0*[0-9a-fA-F]")
_PORT_NAME = re.compile(r"(?P<node>.+)/[pP](?P<port>0|[1-9][0-9]{0,2})")

_BLOCKS = {
    "port-groups": "port-group",
    "qos-levels": "qos-level",
    "qos-match-rules": "qos-match-rule",
}
"""Sections of a policy, and the blocks in each."""
_UNRESOLVED_KEYS = ("pkey", "partition")
"""Keys of groups whose members depend on partitions, which the fabric's files do not contain."""
_QUERY_KEYS = ("service-id", "qos-class", "pkey")
"""Keys of rules that match only some queries."""
_KEYS_WITHOUT_EFFECT = ("use", "mtu-limit", "rate-limit", "packet-life", "path-bits")
"""Comments, and limits of a path that leave its SL as it is; path bits need several LIDs."""
_KEYS: dict[str, tuple[str, ...]] = {
    "port-group": ("name", "use", "port-guid", "port-name", "node-type", *_UNRESOLVED_KEYS),
    # pairs that share no pkey of their level get no path
    "qos-level": ("name", "sl", *_KEYS_WITHOUT_EFFECT, "pkey"),
    "qos-match-rule": ("use", "source", "destination", "qos-level-name", *_QUERY_KEYS),
}
_SINGLE_KEYS = ("name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "qos-level-name")
"""Keys that a block may have only once."""


@dataclass(frozen=True)
class Rule:
    """A rule: sets of sources and destinations, by index (None: all), and their SL."""

    sources: frozenset[int] | None
    destinations: frozenset[int] | None
    level: int


def make_rules(levels: Int8Array, is_relevant: BoolArray) -> tuple[int, list[Rule]]:
    """Return a default SL and rules that give each pair its SL; the first match counts.

    Rules are made row by row: for all levels of a source but its most frequent one, then a rule to
    all destinations for that one. Rows that need the same level in the same columns share a rule.
    The same is done column by column, and the result with fewer rules is returned.

    Parameters
    ----------
    levels : int8 array, shape (N, M)
        SL from each source to each destination.
    is_relevant : bool array, shape (N, M)
        Pairs whose SL matters; others may get any.
    """
    default, rules = _rules_by_row(levels, is_relevant)
    default_by_column, column_rules = _rules_by_row(levels.T, is_relevant.T)
    if len(column_rules) < len(rules):
        transposed = [Rule(rule.destinations, rule.sources, rule.level) for rule in column_rules]
        return default_by_column, transposed
    return default, rules


def _rules_by_row(levels: NDArray[np.int8], is_relevant: BoolArray) -> tuple[int, list[Rule]]:
    """Return a default level and rules that give each row of `levels` its relevant values.

    A row 0 0 2 with default 0 needs one rule, {row} to {column 2}: 2. A row 1 1 2 needs another
    one behind it, {row} to all: 1.
    """
    # 1. Rules for all but the most frequent level of each row. The first rule that matches counts,
    #    so those of step 2 need not exclude these pairs.
    usual_level = [
        int(np.bincount(row[relevant]).argmax()) if relevant.any() else 0
        for row, relevant in zip(levels, is_relevant, strict=True)
    ]
    rows_of_rule: dict[tuple[int, frozenset[int]], list[int]] = {}
    for row_index, (row, relevant) in enumerate(zip(levels, is_relevant, strict=True)):
        for level in np.unique(row[relevant]).tolist():
            if level != usual_level[row_index]:
                columns = frozenset(np.flatnonzero(relevant & (row == level)).tolist())
                rows_of_rule.setdefault((level, columns), []).append(row_index)
    rules = [
        Rule(frozenset(rows), columns, level) for (level, columns), rows in rows_of_rule.items()
    ]
    # 2. Rules for the most frequent level of each row, unless it is the default.
    default = Counter(usual_level).most_common(1)[0][0] if usual_level else 0
    for level in sorted(set(usual_level) - {default}):
        rows = frozenset(row_index for row_index, usual in enumerate(usual_level) if usual == level)
        rules.append(Rule(rows, None, level))
    return default, rules


def write_policy(
    default: int,
    rules: Sequence[Rule],
    sources: Sequence[Sequence[str]],
    destinations: Sequence[Sequence[str]],
) -> Iterator[str]:
    """Yield the lines of a policy; OpenSM accepts no sections without content.

    Parameters
    ----------
    default : int
        SL of pairs that no rule matches.
    rules : sequence of Rule
    sources, destinations : sequence of sequence of str
        GUIDs of the ports of each source and destination.
    """
    # 1. Groups of ports, by GUIDs. Rules with equal sets share a group; a set None needs no group.
    name_of_group: dict[tuple[str, ...], str] = {}

    def group_name(members: frozenset[int] | None, guids: Sequence[Sequence[str]]) -> str | None:
        if members is None:
            return None
        ports = tuple(guid for member in sorted(members) for guid in guids[member])
        return name_of_group.setdefault(ports, f"g{len(name_of_group)}")

    ends = [
        (group_name(rule.sources, sources), group_name(rule.destinations, destinations))
        for rule in rules
    ]
    if name_of_group:
        yield "port-groups"
        for ports, name in name_of_group.items():
            yield from ("    port-group", f"        name: {name}")
            for first in range(0, len(ports), GUIDS_PER_LINE):
                yield f"        port-guid: {', '.join(ports[first : first + GUIDS_PER_LINE])}"
            yield "    end-port-group"
        yield "end-port-groups"
    # 2. Levels. OpenSM requires the one called DEFAULT.
    yield "qos-levels"
    levels = {f"sl{rule.level}": rule.level for rule in rules}
    for name, level in [("DEFAULT", default), *sorted(levels.items())]:
        yield from ("    qos-level", f"        name: {name}", f"        sl: {level}")
        yield "    end-qos-level"
    yield "end-qos-levels"
    if not rules:
        return
    # 3. Rules, of which OpenSM takes the first that matches. One without a source matches all.
    yield "qos-match-rules"
    for rule, (source, destination) in zip(rules, ends, strict=True):
        yield "    qos-match-rule"
        if source is not None:
            yield f"        source: {source}"
        if destination is not None:
            yield f"        destination: {destination}"
        yield from (f"        qos-level-name: sl{rule.level}", "    end-qos-match-rule")
    yield "end-qos-match-rules"


@dataclass(frozen=True, eq=False)
class PortGroup:
    """Ports of a group.

    Attributes
    ----------
    guids : frozenset of str
    ranges : tuple of (int, int)
        First and last GUID of each range.
    labels : frozenset of str
        Names ``node/P1``, and kinds of nodes: ``CA``, ``SWITCH``, ``ROUTER``.
    unresolved : tuple of (int, str), optional
        Line and key of an entry whose members cannot be found out from the fabric's files, such as
        ``partition``; None if the group has no such entry.
    """

    guids: frozenset[str]
    ranges: tuple[tuple[int, int], ...] = ()
    labels: frozenset[str] = frozenset()
    unresolved: tuple[int, str] | None = None

    def has(self, guid: str, labels: frozenset[str]) -> bool:
        """Return whether a port is a member."""
        return (
            guid in self.guids
            or not self.labels.isdisjoint(labels)
            or any(first <= int(guid, 16) <= last for first, last in self.ranges)
        )


class MatchRule(NamedTuple):
    """A rule of a policy; without sources, or without destinations, it matches all of them."""

    sources: tuple[PortGroup, ...]
    destinations: tuple[PortGroup, ...]
    level: int


@dataclass(frozen=True)
class Policy:
    """A policy as read from a file.

    Attributes
    ----------
    file : str
    default : int
        SL of the level DEFAULT.
    rules : tuple of MatchRule
        The first that matches counts.
    """

    file: str
    default: int
    rules: tuple[MatchRule, ...]

    def levels(
        self,
        sources: Sequence[str],
        destinations: Sequence[str],
        labels: Mapping[str, frozenset[str]] | None = None,
    ) -> Int8Array:
        """Return the SL of each pair of ports, by GUID; int8, shape (sources, destinations).

        Parameters
        ----------
        sources, destinations : sequence of str
        labels : mapping of str to frozenset of str, optional
            Labels of each port of the fabric; see `PortGroup`.

        Raises
        ------
        InputError
            If a group names a port that is unknown or that several nodes may be.
        """
        groups = {group for rule in self.rules for group in rule.sources + rule.destinations}
        self._check_labels(groups, labels)
        labels_of_port = labels or {}

        def find_members(guids: Sequence[str]) -> dict[PortGroup, list[int]]:
            """Return the positions in `guids` of the ports of each group."""
            port_labels = [labels_of_port.get(guid, frozenset()) for guid in guids]
            return {
                group: [i for i, guid in enumerate(guids) if group.has(guid, port_labels[i])]
                for group in groups
            }

        rows, columns = find_members(sources), find_members(destinations)
        level_of_pair = np.full((len(sources), len(destinations)), self.default, dtype=np.int8)
        # Backwards, so that the first rule that matches a pair writes last. A rule without sources
        # matches all of them, and so for destinations.
        for rule in reversed(self.rules):
            matched_rows = (
                set(chain.from_iterable(rows[group] for group in rule.sources))
                if rule.sources
                else range(len(sources))
            )
            matched_columns = (
                set(chain.from_iterable(columns[group] for group in rule.destinations))
                if rule.destinations
                else range(len(destinations))
            )
            level_of_pair[np.ix_(sorted(matched_rows), sorted(matched_columns))] = rule.level
        return level_of_pair

    def _check_labels(
        self, groups: Iterable[PortGroup], labels: Mapping[str, frozenset[str]] | None
    ) -> None:
        """Refuse labels if none are known, several nodes share one, or a node lacks the port.

        A label ``node/P1`` is no error if the fabric has no such node: it names no port.
        """
        count = Counter(chain.from_iterable((labels or {}).values()))
        nodes = {label.rpartition("/")[0] for label in count}
        for label in sorted(label for group in groups for label in group.labels):
            node = label.rpartition("/")[0]  # "" for a kind such as CA
            if labels is None:
                raise InputError(f"{self.file}: the port {label!r} is not known by its GUID")
            if node and count[label] > 1:
                raise InputError(
                    f"{self.file}: several nodes have the description {node!r}, of which OpenSM "
                    "takes one; use port-guid"
                )
            if node in nodes and node and not count[label]:
                raise InputError(f"{self.file}: node {node!r} has no such port: {label!r}")


def is_policy(text: TextFile) -> bool:
    """Return whether a file has a section of a QoS policy."""
    return any(_content(line) in (*_BLOCKS, "qos-setup", "qos-ulps") for line in text.lines)


def parse_policy(text: TextFile) -> Policy:
    """Read a policy whose rules match every query between two groups of ports.

    Raises
    ------
    InputError
        If a line is not understood, or a rule names a group or level that does not exist. Also if a
        rule matches only some queries, or a group's members are not known from files of the fabric.
    """
    # 1. Groups and levels by name. Rules may stand above the groups and levels that they name. Of
    #    several groups or levels with one name, OpenSM takes the first.
    groups: dict[str, PortGroup] = {}
    levels: dict[str, int] = {}
    rule_blocks: list[tuple[int, _Entries]] = []
    for last_line, block, values in _read_blocks(text):
        if block == "qos-match-rule":
            rule_blocks.append((last_line, values))
            continue
        name = _read_name(text, values, "name", last_line)
        if block == "port-group":
            groups.setdefault(name, _read_group(text, values))
        else:
            line_number, level = values.get("sl", [(last_line, "")])[0]
            if not _LEVEL.fullmatch(level):
                level_name = values["name"][0][1]
                raise text.error(
                    line_number, f"QoS level {level_name!r} has SL {level!r}; SLs are 0 to 15"
                )
            levels.setdefault(name, int(level, 0))
    if "default" not in levels:
        raise text.error(len(text.lines), "the policy has no level DEFAULT; it may be truncated")
    # 2. The rules, in their order.
    match_rules = []
    for last_line, values in rule_blocks:
        for key in _QUERY_KEYS:
            if key in values:
                line_number, _ = values[key][0]
                raise text.missing_input(
                    line_number,
                    f"the rule matches only queries with this {key}, and the "
                    "files of a fabric do not say which packets have it",
                )
        level_name = _read_name(text, values, "qos-level-name", last_line)
        if level_name not in levels:
            raise text.error(last_line, f"QoS level {level_name!r} does not exist")
        rule_sources, rule_destinations = (
            tuple(_named_groups(text, values.get(key, []), groups))
            for key in ("source", "destination")
        )
        match_rules.append(MatchRule(rule_sources, rule_destinations, levels[level_name]))
    return Policy(text.name, levels["default"], tuple(match_rules))


def _content(line: str) -> str:
    """Return a line without its comment and outer blanks."""
    # keep texts in quotation marks, which may contain a #
    return re.sub(r'("[^"]*")|#.*', r"\1", line).strip()


def _read_blocks(text: TextFile) -> Iterator[tuple[int, str, _Entries]]:
    """Yield the blocks (groups, levels and rules): number of the last line, kind, and entries.

    A block is inside its section: ``port-group`` to ``end-port-group`` inside ``port-groups`` to
    ``end-port-groups``, and so for the other two kinds in `_BLOCKS`.
    """
    section = block = ""  # those that the line is inside of; "" for none
    values: _Entries = {}
    for line_number, line in enumerate(text.lines, 1):
        word = _content(line)
        if not word:
            continue
        if section == "qos-setup":
            # OpenSM ignores this section
            section = "" if word == "end-qos-setup" else section
        elif word == "qos-ulps":
            raise text.missing_input(
                line_number,
                "rules of the section qos-ulps match the queries of protocols, "
                "and the files of a fabric do not say which packets those are; use qos-match-rules",
            )
        elif block and (entry := _KEY.fullmatch(word)):
            key, value = entry["key"], entry["value"]
            if key not in _KEYS[block]:
                raise text.error(line_number, f"{key!r} is not a key of a {block}")
            if not value:
                raise text.error(line_number, f"{key!r} has no value")
            if key in _SINGLE_KEYS and key in values:
                raise text.error(line_number, f"the {block} has a second {key!r}")
            values.setdefault(key, []).append((line_number, value))
        elif block and word == f"end-{block}":
            yield line_number, block, values
            block = ""
        elif section and not block and word == _BLOCKS[section]:
            block, values = word, {}
        elif section and not block and word == f"end-{section}":
            section = ""
        elif not section and word in (*_BLOCKS, "qos-setup"):
            section = word
        else:
            raise text.error(line_number, f"{shorten(word)} is not a line of a QoS policy")
    if section:
        raise text.error(len(text.lines), f"the file ends in {section}; it may be truncated")


def _split_names(text: TextFile, line_number: int, value: str) -> list[str]:
    """Split a list of names as OpenSM does: blanks count only between quotation marks.

    ``a b, "c d"`` is the list of ``ab`` and ``c d``; a comma between quotation marks is no end.
    """
    if value.count('"') % 2:
        raise text.error(line_number, f"{shorten(value)} has a quotation mark without its pair")
    names = [""]
    for quoted, comma, plain in re.findall(r'"([^"]*)"|(,)|([^",]+)', value):
        if comma:
            names.append("")
        else:
            names[-1] += quoted or re.sub(r"\s", "", plain)
    names = [name.strip() for name in names]
    if not all(names):
        raise text.error(line_number, f"{shorten(value)} is not a list of names")
    return names


def _read_name(text: TextFile, values: _Entries, key: str, last_line: int) -> str:
    """Return a name of a group or level; OpenSM ignores its case."""
    if key not in values:
        raise text.error(last_line, f"{key!r} is missing")
    line_number, value = values[key][0]
    names = _split_names(text, line_number, value)
    if len(names) > 1:
        raise text.error(line_number, f"{shorten(value)} is not a name; it has a comma")
    return names[0].casefold()


def _read_group(text: TextFile, values: _Entries) -> PortGroup:
    """Return the port group of one block of the policy file."""
    guids: set[str] = set()
    ranges = []
    for line_number, value in values.get("port-guid", []):
        for item in value.split(","):
            if not (guid_range := _RANGE.fullmatch(item.strip())):
                raise text.error(line_number, f"{shorten(value)} is not a list of GUIDs")
            first = int(guid_range["first"], 0)
            last = int(guid_range["last"] or guid_range["first"], 0)
            if first == last:
                guids.add(guid_text(first))
            else:
                ranges.append((min(first, last), max(first, last)))
    labels: set[str] = set()
    # Line and key of an entry whose members the files of a fabric do not tell.
    unresolved = next(((values[key][0][0], key) for key in _UNRESOLVED_KEYS if key in values), None)
    for line_number, value in values.get("port-name", []):
        labels.update(_read_port_labels(text, line_number, value))
    for line_number, value in values.get("node-type", []):
        for kind in (part.strip().upper() for part in value.split(",")):
            if kind == "SELF":  # The node where OpenSM runs, which the files do not tell, either.
                unresolved = line_number, "node-type"
            elif kind not in (*KIND_LABELS.values(), "ALL"):
                raise text.error(line_number, f"node type {kind!r} does not exist")
            labels.update(KIND_LABELS.values() if kind == "ALL" else {kind})
    return PortGroup(frozenset(guids), tuple(ranges), frozenset(labels), unresolved)


def _read_port_labels(text: TextFile, line_number: int, value: str) -> Iterator[str]:
    """Yield the labels, such as ``node/P1``, of the ports in a list of names.

    OpenSM 3.3.23 refuses policies with port 0, and drops blanks outside of quotation marks.
    """
    # Each name as OpenSM reads it; and as written, with quoted parts emptied, to find such blanks.
    unquoted = re.sub(r'"[^"]*"', '""', value).split(",")
    for name, plain in zip(_split_names(text, line_number, value), unquoted, strict=True):
        port_name = _PORT_NAME.fullmatch(name)
        if not port_name:
            raise text.error(line_number, f"{shorten(name)} is not a port name such as node/P1")
        if not int(port_name["port"]):
            raise text.error(
                line_number,
                f"OpenSM refuses policies with port 0 ({name}); for a switch, name port 1 or its "
                "GUID",
            )
        if re.search(r"\s", plain.strip()):
            raise text.error(
                line_number,
                f"OpenSM drops blanks from port names outside quotation marks, so {plain.strip()} "
                f'names no port; write "{plain.strip()}"',
            )
        yield f"{port_name['node']}/P{int(port_name['port'])}"


def _named_groups(
    text: TextFile, entries: Sequence[tuple[int, str]], groups: Mapping[str, PortGroup]
) -> Iterator[PortGroup]:
    """Yield the port groups that a match rule names; `entries` are line numbers and lists of names.

    Raises
    ------
    MissingInputError
        If the files of a fabric do not tell the ports of a group. Only rules need them, so a group
        without a rule is no error.
    InputError
        If a group does not exist.
    """
    for line_number, value in entries:
        for name in _split_names(text, line_number, value):
            group = groups.get(name.casefold())
            if group is None:
                raise text.error(line_number, f"port group {name!r} does not exist")
            if group.unresolved is not None:
                line, key = group.unresolved
                raise text.missing_input(
                    line,
                    f"the files of a fabric do not say which ports this {key} has; use port-guid",
                )
            yield group
