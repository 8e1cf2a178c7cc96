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
_KEY = re.compile(r"([a-z-]+)\s*:\s*(.*)")
_RANGE = re.compile(rf"({_NUMBER})(?:\s*-\s*({_NUMBER}))?")
_LEVEL = re.compile(r"[0-9]|1[0-5]|0[xX]0*[0-9a-fA-F]")
_PORT_NAME = re.compile(r"(.+)/[pP](0|[1-9][0-9]{0,2})")

_BLOCKS = {
    "port-groups": "port-group",
    "qos-levels": "qos-level",
    "qos-match-rules": "qos-match-rule",
}
_UNRESOLVED_KEYS = ("pkey", "partition")
"""Keys of groups whose members files of a fabric do not tell, because they depend on partitions."""
_QUERY_KEYS = ("service-id", "qos-class", "pkey")
"""Keys of rules that match only some queries."""
_KEYS_WITHOUT_EFFECT = ("use", "mtu-limit", "rate-limit", "packet-life", "path-bits")
"""Comments, and limits of a path that leave its SL as it is; path bits need several LIDs."""
_KEYS = {
    "port-group": ("name", "use", "port-guid", "port-name", "node-type", *_UNRESOLVED_KEYS),
    # pairs that share no pkey of their level get no path
    "qos-level": ("name", "sl", *_KEYS_WITHOUT_EFFECT, "pkey"),
    "qos-match-rule": ("use", "source", "destination", "qos-level-name", *_QUERY_KEYS),
}
_SINGLE_KEYS = ("name", "use", "sl", "mtu-limit", "rate-limit", "packet-life", "qos-level-name")


@dataclass(frozen=True)
class Rule:
    """A rule: sets of sources and destinations, by index (None: all), and their SL."""

    sources: frozenset[int] | None
    destinations: frozenset[int] | None
    level: int


def make_rules(levels: Int8Array, care: BoolArray) -> tuple[int, list[Rule]]:
    """Return a default SL and rules that give each pair its SL; the first match counts.

    Rows get rules for all but their most frequent level, then a rule for that one; or columns do,
    if that needs fewer rules. Rows with equal sets share rules.

    Parameters
    ----------
    levels : int8 array, shape (N, M)
        SL from each source to each destination.
    care : bool array, shape (N, M)
        Pairs whose SL matters.
    """
    default, rules = _rules_by_row(levels, care)
    default_by_column, column_rules = _rules_by_row(levels.T, care.T)
    if len(column_rules) < len(rules):
        transposed = [Rule(rule.destinations, rule.sources, rule.level) for rule in column_rules]
        return default_by_column, transposed
    return default, rules


def _rules_by_row(levels: NDArray[np.int8], care: BoolArray) -> tuple[int, list[Rule]]:
    """Return a default level and rules that give each row of `levels` its values where `care`."""
    # 1. Rules for all but the most frequent level of each row. The first rule that matches counts,
    #    so those of step 2 need not exclude these pairs.
    usual_level = [
        int(np.bincount(row[mask]).argmax()) if mask.any() else 0
        for row, mask in zip(levels, care, strict=True)
    ]
    rows_of_rule: dict[tuple[int, frozenset[int]], list[int]] = {}
    for number, (row, mask) in enumerate(zip(levels, care, strict=True)):
        for level in np.unique(row[mask]).tolist():
            if level != usual_level[number]:
                columns = frozenset(np.flatnonzero(mask & (row == level)).tolist())
                rows_of_rule.setdefault((level, columns), []).append(number)
    rules = [
        Rule(frozenset(rows), columns, level) for (level, columns), rows in rows_of_rule.items()
    ]
    # 2. Rules for the most frequent level of each row, unless it is the default.
    default = Counter(usual_level).most_common(1)[0][0] if usual_level else 0
    for level in sorted(set(usual_level) - {default}):
        rows = frozenset(number for number, usual in enumerate(usual_level) if usual == level)
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
    # 1. Groups of ports. Rules with equal sets share a group.
    names: dict[tuple[str, ...], str] = {}

    def group(members: frozenset[int] | None, guids: Sequence[Sequence[str]]) -> str | None:
        if members is None:
            return None
        ports = tuple(guid for member in sorted(members) for guid in guids[member])
        return names.setdefault(ports, f"g{len(names)}")

    ends = [
        (group(rule.sources, sources), group(rule.destinations, destinations)) for rule in rules
    ]
    if names:
        yield "port-groups"
        for ports, name in names.items():
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
        Line and key of an entry whose ports files of a fabric do not tell, if the group has one.
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
        level_of_pair = np.full((len(sources), len(destinations)), self.default, dtype=np.int8)
        nothing: frozenset[str] = frozenset()
        rows, columns = (
            {
                group: {
                    index
                    for index, guid in enumerate(guids)
                    if group.has(guid, (labels or {}).get(guid, nothing))
                }
                for group in groups
            }
            for guids in (sources, destinations)
        )
        # Backwards, so that the first rule that matches a pair writes last.
        for rule in reversed(self.rules):
            matched_rows = (
                set().union(*(rows[group] for group in rule.sources))
                if rule.sources
                else range(len(sources))
            )
            matched_columns = (
                set().union(*(columns[group] for group in rule.destinations))
                if rule.destinations
                else range(len(destinations))
            )
            level_of_pair[np.ix_(sorted(matched_rows), sorted(matched_columns))] = rule.level
        return level_of_pair

    def _check_labels(
        self, groups: Iterable[PortGroup], labels: Mapping[str, frozenset[str]] | None
    ) -> None:
        """Refuse labels if none are known, several nodes share one, or a node lacks the port."""
        count = Counter(label for of_port in (labels or {}).values() for label in of_port)
        nodes = {label.rpartition("/")[0] for label in count}
        for label in sorted(label for group in groups for label in group.labels):
            node = label.rpartition("/")[0]
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
    groups: dict[str, PortGroup] = {}
    levels: dict[str, int] = {}
    rules: list[tuple[int, _Entries]] = []
    for number, block, values in _blocks(text):
        if block == "qos-match-rule":
            rules.append((number, values))
            continue
        name = _name(text, values, "name", number)
        if block == "port-group":
            # of several groups with one name, OpenSM takes the first
            groups.setdefault(name, _group(text, values))
        else:
            levels.setdefault(name, _service_level(text, values, number))
    if "default" not in levels:
        raise text.error(len(text.lines), "the policy has no level DEFAULT; it may be truncated")
    match_rules = []
    for number, values in rules:
        for key in _QUERY_KEYS:
            if key in values:
                raise text.missing_input(
                    values[key][0][0],
                    f"the rule matches only queries with this {key}, and the "
                    "files of a fabric do not say which packets have it",
                )
        level = _name(text, values, "qos-level-name", number)
        if level not in levels:
            raise text.error(number, f"QoS level {level!r} does not exist")
        rule_sources, rule_destinations = (
            tuple(_named_groups(text, values.get(key, []), groups))
            for key in ("source", "destination")
        )
        match_rules.append(MatchRule(rule_sources, rule_destinations, levels[level]))
    return Policy(text.name, levels["default"], tuple(match_rules))


def _content(line: str) -> str:
    """Return a line without its comment and outer blanks."""
    return re.sub(r'("[^"]*")|#.*', r"\1", line).strip()


def _blocks(text: TextFile) -> Iterator[tuple[int, str, _Entries]]:
    """Iterate over groups, levels and rules: last line, kind, and lines and texts of each key."""
    section = block = ""
    values: _Entries = {}
    for number, line in enumerate(text.lines, 1):
        word = _content(line)
        if not word:
            continue
        if section == "qos-setup":
            # OpenSM ignores this section
            section = "" if word == "end-qos-setup" else section
        elif word == "qos-ulps":
            raise text.missing_input(
                number,
                "rules of the section qos-ulps match the queries of protocols, "
                "and the files of a fabric do not say which packets those are; use qos-match-rules",
            )
        elif block and (entry := _KEY.fullmatch(word)):
            if entry[1] not in _KEYS[block]:
                raise text.error(number, f"{entry[1]!r} is not a key of a {block}")
            if not entry[2]:
                raise text.error(number, f"{entry[1]!r} has no value")
            if entry[1] in _SINGLE_KEYS and entry[1] in values:
                raise text.error(number, f"the {block} has a second {entry[1]!r}")
            values.setdefault(entry[1], []).append((number, entry[2]))
        elif block and word == f"end-{block}":
            yield number, block, values
            block = ""
        elif section and not block and word == _BLOCKS[section]:
            block, values = word, {}
        elif section and not block and word == f"end-{section}":
            section = ""
        elif not section and word in (*_BLOCKS, "qos-setup"):
            section = word
        else:
            raise text.error(number, f"{shorten(word)} is not a line of a QoS policy")
    if section:
        raise text.error(len(text.lines), f"the file ends in {section}; it may be truncated")


def _strings(text: TextFile, number: int, value: str) -> list[str]:
    """Split a list of strings as OpenSM does: blanks count only between quotation marks."""
    if value.count('"') % 2:
        raise text.error(number, f"{shorten(value)} has a quotation mark without its pair")
    names = [""]
    for quoted, comma, plain in re.findall(r'"([^"]*)"|(,)|([^",]+)', value):
        if comma:
            names.append("")
        else:
            names[-1] += quoted or re.sub(r"\s", "", plain)
    names = [name.strip() for name in names]
    if not all(names):
        raise text.error(number, f"{shorten(value)} is not a list of names")
    return names


def _name(text: TextFile, values: _Entries, key: str, end: int) -> str:
    """Return a name of a group or level; OpenSM ignores its case."""
    if key not in values:
        raise text.error(end, f"{key!r} is missing")
    number, value = values[key][0]
    names = _strings(text, number, value)
    if len(names) > 1:
        raise text.error(number, f"{shorten(value)} is not a name; it has a comma")
    return names[0].casefold()


def _service_level(text: TextFile, values: _Entries, end: int) -> int:
    number, level = values.get("sl", [(end, "")])[0]
    if not _LEVEL.fullmatch(level):
        name = values["name"][0][1]
        raise text.error(number, f"QoS level {name!r} has SL {level!r}; SLs are 0 to 15")
    return int(level, 0)


def _group(text: TextFile, values: _Entries) -> PortGroup:
    """Return the port group of one block of the policy file."""
    guids: set[str] = set()
    ranges = []
    for number, value in values.get("port-guid", []):
        for part in value.split(","):
            if not (guid_range := _RANGE.fullmatch(part.strip())):
                raise text.error(number, f"{shorten(value)} is not a list of GUIDs")
            first, last = int(guid_range[1], 0), int(guid_range[2] or guid_range[1], 0)
            if first == last:
                guids.add(guid_text(first))
            else:
                ranges.append((min(first, last), max(first, last)))
    labels: set[str] = set()
    unresolved = next(((values[key][0][0], key) for key in _UNRESOLVED_KEYS if key in values), None)
    for number, value in values.get("port-name", []):
        labels.update(_port_names(text, number, value))
    for number, value in values.get("node-type", []):
        for kind in (part.strip().upper() for part in value.split(",")):
            if kind == "SELF":  # the node of OpenSM
                unresolved = number, "node-type"
            elif kind not in (*KIND_LABELS.values(), "ALL"):
                raise text.error(number, f"node type {kind!r} does not exist")
            labels.update(KIND_LABELS.values() if kind == "ALL" else {kind})
    return PortGroup(frozenset(guids), tuple(ranges), frozenset(labels), unresolved)


def _port_names(text: TextFile, number: int, value: str) -> Iterator[str]:
    """Yield the labels of ports; OpenSM 3.3.23 refuses port 0, and drops blanks without quotes."""
    for name, plain in zip(
        _strings(text, number, value), re.sub(r'"[^"]*"', '""', value).split(","), strict=True
    ):
        port_name = _PORT_NAME.fullmatch(name)
        if not port_name:
            raise text.error(number, f"{shorten(name)} is not a port name such as node/P1")
        if not int(port_name[2]):
            raise text.error(
                number,
                f"OpenSM refuses policies with port 0 ({name}); for a switch, name port 1 or its "
                "GUID",
            )
        if re.search(r"\s", plain.strip()):
            raise text.error(
                number,
                f"OpenSM drops blanks from port names outside quotation marks, so {plain.strip()} "
                f'names no port; write "{plain.strip()}"',
            )
        yield f"{port_name[1]}/P{int(port_name[2])}"


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
    for number, value in entries:
        for name in _strings(text, number, value):
            group = groups.get(name.casefold())
            if group is None:
                raise text.error(number, f"port group {name!r} does not exist")
            if group.unresolved is not None:
                line, key = group.unresolved
                raise text.missing_input(
                    line,
                    f"the files of a fabric do not say which ports this {key} has; use port-guid",
                )
            yield group
