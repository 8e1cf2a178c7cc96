"""Lists of hosts as Slurm writes them, ``n[01-04,07],a1``, and the comparison of host names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import prod

from routelab.api.errors import InputError

HOST = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""Pattern of host names: without special characters of a shell, and not like an option."""

MAX_HOSTS = 100_000
"""Largest number of hosts in a text."""

_ADDRESS = re.compile(r"[0-9.]+")
_NUMBERED = re.compile(r"(?P<prefix>.*?)(?P<number>[0-9]{1,9})")
_WORD_PART = re.compile(r"[^\[\],]+|\[[^\[\]]*\]")
"""Text without brackets, or a bracket: ``n``, ``[01-04]`` and ``-ib`` in ``n[01-04]-ib``."""
_RANGE = re.compile(r"(?P<first>[0-9]{1,18})(?:-(?P<last>[0-9]{1,18}))?")


def expand(text: str) -> tuple[str, ...]:
    """Return the hosts that a text lists, in its order.

    Parameters
    ----------
    text : str
        Names with commas between; ``[01-04,07]`` in a name stands for these numbers, with as many
        digits as the first of a range has. Of several brackets the last one varies fastest.

    Raises
    ------
    InputError
        If it is not a valid list of hosts, or has more than `MAX_HOSTS`.
    """
    hosts: list[str] = []
    for word in _split_at_commas(text):
        hosts += _expand_word(word, text)
        _limit_number(len(hosts), text)
    return tuple(hosts)


def compress(hosts: Sequence[str]) -> str:
    """Return a short text that `expand` turns into `hosts` again, in their order."""
    # Groups of neighbouring hosts, each a prefix and its ranges: n01, n02, n07, a become
    # ("n", [("01", "02"), ("07", "07")]) and ("a", []).
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for host in hosts:
        match = _NUMBERED.fullmatch(host)
        prefix, number = match.group("prefix", "number") if match else (host, "")
        group_prefix, ranges = groups[-1] if groups else ("", [])
        continues_group = bool(number and prefix and ranges) and group_prefix == prefix
        if not continues_group:
            groups.append((prefix, [(number, number)] if number else []))
            continue
        # `expand` fills the numbers of a range with zeros to the digits of its first one. So 10
        # continues a range from 09 or from 9; 010 does not.
        first, last = ranges[-1]
        if number == str(int(last) + 1).zfill(len(first)):
            ranges[-1] = (first, number)
        else:
            ranges.append((number, number))
    return ",".join(_group_text(prefix, ranges) for prefix, ranges in groups)


def short_name(host: str) -> str:
    """Return the name by which hosts are compared: without its domain; addresses stay as they are.

    One host is ``n01`` in Slurm, and ``n01.cl.example`` where a file or the host gives the domain.
    """
    return host if _ADDRESS.fullmatch(host) else host.partition(".")[0]


def same_short_name(hosts: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two different names with the same short name; None if there are none."""
    first_by_short_name: dict[str, str] = {}
    for host in hosts:
        first_host = first_by_short_name.setdefault(short_name(host), host)
        if first_host != host:
            return first_host, host
    return None


def find_hosts(hosts: Iterable[str], known_hosts: Iterable[str]) -> dict[str, str]:
    """Return the known name of each host, by its given name; unknown hosts are left out.

    ``n01`` and a known ``n01.cl.example`` are the same host, because their short names are equal.

    Raises
    ------
    InputError
        If a host may be any of several known ones.
    """
    names = dict.fromkeys(known_hosts)
    names_by_short_name: dict[str, list[str]] = {}
    for name in names:
        names_by_short_name.setdefault(short_name(name), []).append(name)
    name_of_host = {}
    for host in hosts:
        # an equal name is meant, even if others have the same short name
        candidates = [host] if host in names else names_by_short_name.get(short_name(host), [])
        if len(candidates) > 1:
            raise InputError(f"{host} may be {' or '.join(candidates)}; write one of these names")
        if candidates:
            name_of_host[host] = candidates[0]
    return name_of_host


def _group_text(prefix: str, ranges: Sequence[tuple[str, str]]) -> str:
    """Return ``n[01-04,07]``, ``n07`` or, without ranges, ``n``."""
    parts = [first if first == last else f"{first}-{last}" for first, last in ranges]
    if len(parts) == 1 and "-" not in parts[0]:
        return prefix + parts[0]
    return f"{prefix}[{','.join(parts)}]" if parts else prefix


def _split_at_commas(text: str) -> Iterator[str]:
    """Yield the words of a list: ``n[01,02],a1`` has ``n[01,02]`` and ``a1``."""
    num_open_brackets, word_start = 0, 0
    for position, char in enumerate(text):
        num_open_brackets += (char == "[") - (char == "]")
        if char == "," and num_open_brackets == 0:
            yield text[word_start:position].strip()
            word_start = position + 1
    yield text[word_start:].strip()


def _expand_word(word: str, text: str) -> Iterator[str]:
    """Yield the hosts of one word with ranges in brackets: n1-ib and n2-ib for ``n[1,2]-ib``.

    `text` is the whole list, for messages.
    """
    # findall() skips what matches no part, such as a single bracket
    parts = _WORD_PART.findall(word)
    if not word or "".join(parts) != word:
        raise InputError(_invalid_list_text(text))
    # the possible texts of each part: ["n"], ["1", "2"] and ["-ib"]
    choices = [_expand_bracket(part, text) if part.startswith("[") else (part,) for part in parts]
    _limit_number(prod(map(len, choices)), text)
    for chosen_texts in product(*choices):
        host = "".join(chosen_texts)
        check_host(host)
        yield host


def _expand_bracket(bracket: str, text: str) -> list[str]:
    """Return the numbers in a bracket, with as many digits as their range's first."""
    numbers: list[str] = []
    for part in bracket[1:-1].split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise InputError(_invalid_list_text(text))
        first = match["first"]
        last = match["last"] or first
        if int(last) < int(first):
            raise InputError(f"{_shortened(text)}: {part} ends before it begins")
        # before the numbers are made, as there may be 10^18 of them
        _limit_number(len(numbers) + int(last) - int(first) + 1, text)
        numbers += [str(n).zfill(len(first)) for n in range(int(first), int(last) + 1)]
    return numbers


def check_host(name: str) -> None:
    """Refuse a text that is not a valid host name.

    Raises
    ------
    InputError
    """
    if not re.fullmatch(HOST, name):
        raise InputError(
            f"{_shortened(name)} is not a valid host name; use letters, digits, '.', '-' and '_', "
            "beginning with a letter or digit"
        )


def _limit_number(number: int, text: str) -> None:
    if number > MAX_HOSTS:
        raise InputError(f"{_shortened(text)} stands for more than {MAX_HOSTS} hosts")


def _invalid_list_text(text: str) -> str:
    return f"{_shortened(text)} is not a list of hosts; write n01,n02 or n[01-04,07]"


def _shortened(text: str) -> str:
    quoted = repr(text)
    return quoted if len(quoted) <= 60 else quoted[:57] + "..."
