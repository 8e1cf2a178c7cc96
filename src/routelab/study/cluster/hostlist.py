"""Lists of hosts as Slurm writes them, ``n[01-04,07],a1``, and the comparison of host names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from routelab.api.errors import InputError

HOST = r"[A-Za-z0-9_][A-Za-z0-9_.-]*"
"""Pattern of host names: without special characters of a shell, and not like an option."""

MAX_HOSTS = 100_000
"""Largest number of hosts in a text."""

_ADDRESS = re.compile(r"[0-9.]+")
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})")
_PART = re.compile(r"[^\[\],]+|\[[^\[\]]*\]")
_RANGE = re.compile(r"([0-9]{1,18})(?:-([0-9]{1,18}))?")


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
    for word in _words(text):
        hosts += _expanded(word, text)
        _check_number(len(hosts), text)
    return tuple(hosts)


def compress(hosts: Sequence[str]) -> str:
    """Return a short text that `expand` turns into `hosts` again, in their order."""
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for host in hosts:
        match = _NUMBERED.fullmatch(host)
        prefix, number = match.groups() if match else (host, "")
        if not (number and prefix and groups and groups[-1][0] == prefix and groups[-1][1]):
            groups.append((prefix, [(number, number)] if number else []))
            continue
        ranges = groups[-1][1]
        first, last = ranges[-1]
        if number == str(int(last) + 1).zfill(len(first)):
            ranges[-1] = (first, number)
        else:
            ranges.append((number, number))
    return ",".join(_written(prefix, ranges) for prefix, ranges in groups)


def short_name(host: str) -> str:
    """Return the name by which hosts are compared: without its domain; addresses stay as they are.

    One host is ``n01`` in Slurm, and ``n01.cl.example`` where a file or the host gives the domain.
    """
    return host if _ADDRESS.fullmatch(host) else host.partition(".")[0]


def same_short_name(hosts: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two different names that are compared as one host; None without any."""
    first_of: dict[str, str] = {}
    for host in hosts:
        earlier = first_of.setdefault(short_name(host), host)
        if earlier != host:
            return earlier, host
    return None


def find_hosts(hosts: Iterable[str], known_hosts: Iterable[str]) -> dict[str, str]:
    """Return the known name of each host, by its wanted name; without those that are missing.

    Raises
    ------
    InputError
        If a host may be any of several known ones.
    """
    names = dict.fromkeys(known_hosts)
    by_short: dict[str, list[str]] = {}
    for name in names:
        by_short.setdefault(short_name(name), []).append(name)
    name_of = {}
    for host in hosts:
        fitting = [host] if host in names else by_short.get(short_name(host), [])
        if len(fitting) > 1:
            raise InputError(f"{host} may be {' or '.join(fitting)}; write one of these names")
        if fitting:
            name_of[host] = fitting[0]
    return name_of


def _written(prefix: str, ranges: Sequence[tuple[str, str]]) -> str:
    parts = [first if first == last else f"{first}-{last}" for first, last in ranges]
    if len(parts) == 1 and "-" not in parts[0]:
        return prefix + parts[0]
    return f"{prefix}[{','.join(parts)}]" if parts else prefix


def _words(text: str) -> Iterator[str]:
    """Iterate over the parts between the commas that are not in brackets."""
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    yield text[start:].strip()


def _expanded(word: str, text: str) -> Iterator[str]:
    """Yield the hosts of one word with ranges in brackets; `text` is the whole list."""
    parts = _PART.findall(word)
    if not word or "".join(parts) != word:
        raise InputError(_no_list(text))
    choices = [_numbers(part, text) if part.startswith("[") else (part,) for part in parts]
    size = 1
    for choice in choices:
        size *= len(choice)
    _check_number(size, text)
    for combined in product(*choices):
        host = "".join(combined)
        check_host(host)
        yield host


def _numbers(bracket: str, text: str) -> list[str]:
    """Return the numbers in a bracket, with as many digits as their range's first."""
    numbers: list[str] = []
    for part in bracket[1:-1].split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None:
            raise InputError(_no_list(text))
        first, last = match[1], match[2] or match[1]
        if int(last) < int(first):
            raise InputError(f"{_quoted(text)}: {part} ends before it begins")
        _check_number(len(numbers) + int(last) - int(first) + 1, text)
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
            f"{_quoted(name)} is not a valid host name; use letters, digits, '.', '-' and '_', "
            "beginning with a letter or digit"
        )


def _check_number(number: int, text: str) -> None:
    if number > MAX_HOSTS:
        raise InputError(f"{_quoted(text)} stands for more than {MAX_HOSTS} hosts")


def _no_list(text: str) -> str:
    return f"{_quoted(text)} is not a list of hosts; write n01,n02 or n[01-04,07]"


def _quoted(text: str) -> str:
    quoted = repr(text)
    return quoted if len(quoted) <= 60 else quoted[:57] + "..."
