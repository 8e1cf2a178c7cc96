"""QoS policies of OpenSM: the service level of each pair of ports, as few rules.

OpenSM answers a request for a path with the level of the first rule that matches source and
destination (manual page opensm(8), option ``-Y``). Ports are listed in groups by GUID.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from routelab.api.topology import BoolArray, Int8Array
from routelab.toolkit.infiniband.text_lines import TextFile, guid_text, shorten

GUIDS_PER_LINE = 4

_KEY = re.compile(r"\s*([a-z-]+)\s*:\s*(.*?)\s*")
_GUID = re.compile(r"0x[0-9a-fA-F]{1,16}")
_LEVEL = re.compile(r"0*(?:[0-9]|1[0-5])")


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
    default, rules = _rules_of_rows(levels, care)
    default_of_columns, of_columns = _rules_of_rows(levels.T, care.T)
    if len(of_columns) < len(rules):
        turned = [Rule(rule.destinations, rule.sources, rule.level) for rule in of_columns]
        return default_of_columns, turned
    return default, rules


def _rules_of_rows(levels: NDArray[np.int8], care: BoolArray) -> tuple[int, list[Rule]]:
    common = [
        int(np.bincount(row[mask]).argmax()) if mask.any() else 0
        for row, mask in zip(levels, care, strict=True)
    ]
    special: dict[tuple[int, frozenset[int]], list[int]] = {}
    for number, (row, mask) in enumerate(zip(levels, care, strict=True)):
        for level in np.unique(row[mask]).tolist():
            if level != common[number]:
                where = frozenset(np.flatnonzero(mask & (row == level)).tolist())
                special.setdefault((level, where), []).append(number)
    rules = [Rule(frozenset(rows), where, level) for (level, where), rows in special.items()]
    default = Counter(common).most_common(1)[0][0] if common else 0
    for level in sorted(set(common) - {default}):
        rows = frozenset(number for number, one in enumerate(common) if one == level)
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
    yield "qos-levels"
    levels = {f"sl{rule.level}": rule.level for rule in rules}
    for name, level in [("DEFAULT", default), *sorted(levels.items())]:
        yield from ("    qos-level", f"        name: {name}", f"        sl: {level}")
        yield "    end-qos-level"
    yield "end-qos-levels"
    if not rules:
        return
    yield "qos-match-rules"
    for rule, (source, destination) in zip(rules, ends, strict=True):
        yield "    qos-match-rule"
        if source is not None:
            yield f"        source: {source}"
        if destination is not None:
            yield f"        destination: {destination}"
        yield from (f"        qos-level-name: sl{rule.level}", "    end-qos-match-rule")
    yield "end-qos-match-rules"


@dataclass(frozen=True)
class Policy:
    """A policy as read from a file.

    Attributes
    ----------
    groups : mapping of str to tuple of str
        GUIDs of the ports of each group.
    default : int
        SL of the level DEFAULT.
    rules : tuple of (str, str, int)
        Group of sources and of destinations ("" for all), and SL.
    """

    groups: Mapping[str, tuple[str, ...]]
    default: int
    rules: tuple[tuple[str, str, int], ...]

    def levels(self, sources: Sequence[str], destinations: Sequence[str]) -> Int8Array:
        """Return the SL of each pair of ports, by GUID; int8, shape (sources, destinations)."""
        found = np.full((len(sources), len(destinations)), self.default, dtype=np.int8)
        row = {guid: number for number, guid in enumerate(sources)}
        column = {guid: number for number, guid in enumerate(destinations)}

        def members(group: str, index: Mapping[str, int]) -> list[int]:
            if not group:
                return list(index.values())
            return [index[guid] for guid in self.groups[group] if guid in index]

        for source, destination, level in reversed(self.rules):
            found[np.ix_(members(source, row), members(destination, column))] = level
        return found


def parse_policy(text: TextFile) -> Policy:
    """Read a policy with port groups by GUID, levels with an SL, and rules between groups.

    Raises
    ------
    InputError
        If a line is not understood or names a group or level that does not exist.
    """
    groups: dict[str, list[str]] = {}
    levels: dict[str, int] = {}
    rules: list[tuple[str, str, int]] = []
    block: dict[str, str] = {}
    ports: list[str] = []
    for number, line in enumerate(text.lines, 1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if found := _KEY.fullmatch(line):
            if found[1] == "port-guid":
                given = [guid.strip() for guid in found[2].split(",")]
                if not all(map(_GUID.fullmatch, given)):
                    raise text.error(number, f"{shorten(found[2])} is not a list of GUIDs")
                ports += [guid_text(int(guid, 16)) for guid in given]
            else:
                block[found[1]] = found[2]
        elif word in ("port-group", "qos-level", "qos-match-rule"):
            block, ports = {}, []
        elif word == "end-port-group" and "name" in block:
            groups[block["name"]] = ports
        elif word == "end-qos-level" and "name" in block:
            level = block.get("sl", "")
            if not _LEVEL.fullmatch(level):
                raise text.error(
                    number, f"QoS level {block['name']!r} has SL {level!r}; SLs are 0 to 15"
                )
            levels[block["name"]] = int(level)
        elif word == "end-qos-match-rule":
            source, destination = block.get("source", ""), block.get("destination", "")
            for group in (source, destination):
                if group and group not in groups:
                    raise text.error(number, f"port group {group!r} does not exist")
            level = block.get("qos-level-name", "")
            if level not in levels:
                raise text.error(number, f"QoS level {level!r} does not exist")
            rules.append((source, destination, levels[level]))
        elif not re.fullmatch(r"(?:end-)?(?:port-groups|qos-levels|qos-match-rules)", word):
            raise text.error(number, f"{shorten(word)} is not a line of a QoS policy")
    if "DEFAULT" not in levels:
        raise text.error(len(text.lines), "the policy has no level DEFAULT; it may be truncated")
    named = {name: tuple(members) for name, members in groups.items()}
    return Policy(named, levels["DEFAULT"], tuple(rules))
