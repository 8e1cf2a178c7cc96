"""Validated types for a cluster file's settings of jobs: hosts, names, words and programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
)

from routelab.api import InputError, Topology
from routelab.registry.names import parse_name
from routelab.study.cluster.hostlist import check_host, compress, expand, same_short_name

WORD = r"[A-Za-z0-9_][A-Za-z0-9_.,@+-]*"
"""Pattern of Slurm's names: partitions, accounts, kinds of MPI."""

VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"

MAX_NAMED = 3
"""Largest number of coordinates that a message names; it counts the others."""


def _validator(check: Callable[[str], object]) -> Callable[[str], str]:
    """Make a validator for pydantic from a function that raises InputError."""

    def check_value(value: str) -> str:
        try:
            check(value)
        except InputError as error:
            raise ValueError(str(error).partition("\n")[0]) from None
        return value

    return check_value


def _pattern_validator(pattern: str, noun: str) -> Callable[[str], str]:
    """Make a validator for pydantic from a pattern; `noun` says in messages what matches it."""

    def check_value(value: str) -> str:
        if not re.fullmatch(pattern, value):
            raise ValueError(f"{value!r} is not a valid {noun}")
        return value

    return check_value


def _require_printable(value: str) -> str:
    if not value or not value.isprintable():
        raise ValueError(f"{value!r} should be text of one line")
    return value


def _variable_text(value: Any) -> Any:
    """Return the text of a variable's value: an integer as its digits, a text as it is.

    Other values are refused, because they have no unique spelling: 1.50 is 1.5, and true is True.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        # as the file has it: YAML writes truth values in lower case
        text = str(value).lower() if isinstance(value, bool) else str(value)
        raise ValueError(f"{text} should be text; put it in quotes")
    if "\0" in value:
        raise ValueError("the value of a variable cannot hold a null character")
    return value


def _program_path(value: str) -> str:
    """Return the path of a program or its name; refuse options and relative paths."""
    _require_printable(value)
    if value.startswith("-"):
        raise ValueError(f"{value!r} would be taken for an option")
    if "/" in value and not Path(value).is_absolute() and not value.startswith("~/"):
        raise ValueError(
            f"{value!r} must be an absolute path, ~/... or a name without '/', because jobs run "
            "in other folders"
        )
    try:
        return str(Path(value).expanduser()) if "/" in value else value
    except RuntimeError:
        raise ValueError(
            f"cannot find the home folder of {value!r}; write the whole path"
        ) from None


def _check_instance_name(value: str) -> None:
    try:
        parse_name(value)
    except InputError as error:
        problem = str(error).partition("\n")[0].removeprefix("bad name: ")
        raise InputError(f"{value!r} is not a valid instance name: {problem}") from None


InstanceName: TypeAlias = Annotated[str, AfterValidator(_validator(_check_instance_name))]
HostName: TypeAlias = Annotated[str, AfterValidator(_validator(check_host))]
HostText: TypeAlias = Annotated[str, AfterValidator(_validator(expand))]
SlurmWord: TypeAlias = Annotated[
    str,
    AfterValidator(_pattern_validator(WORD, "word of Slurm's: letters, digits and . , @ + - _")),
]
Argument: TypeAlias = Annotated[str, AfterValidator(_require_printable)]
VariableName: TypeAlias = Annotated[
    str,
    AfterValidator(
        _pattern_validator(VARIABLE, "name of a variable: letters, digits and '_', no digit first")
    ),
]
VariableValue: TypeAlias = Annotated[str, BeforeValidator(_variable_text)]
Program: TypeAlias = Annotated[str, AfterValidator(_program_path)]
Coordinates: TypeAlias = Annotated[
    list[Annotated[int, Field(strict=True, ge=0)]], Field(min_length=1)
]


def _hosts_form(value: Any) -> str:
    """Return the branch of `Hosts` that a value belongs to."""
    if isinstance(value, Mapping):
        return "<mapping>"
    return "<list>" if isinstance(value, list) else "<text>"


def host_names(hosts: str | Iterable[str]) -> tuple[str, ...]:
    """Return the names of hosts from ``n[01,02]``, ``[n01, n02]`` or ``{n01: [0, 0], ...}``."""
    if isinstance(hosts, str):
        return expand(hosts)
    if isinstance(hosts, Mapping):
        return tuple(hosts)
    return tuple(host for text in hosts for host in expand(text))


def _check_unique(hosts: Any) -> Any:
    """Refuse hosts that are listed twice, or share their short name."""
    repeated_hosts = [host for host, count in Counter(host_names(hosts)).items() if count > 1]
    if repeated_hosts:
        raise ValueError(f"{compress(repeated_hosts)} more than once")
    if pair := same_short_name(host_names(hosts)):
        first_host, second_host = pair
        raise ValueError(
            f"{first_host} and {second_host} count as one host, because hosts are compared by the "
            "name before the first dot; list it once"
        )
    return hosts


HostList: TypeAlias = Annotated[
    Annotated[HostText, Tag("<text>")] | Annotated[list[HostText], Tag("<list>")],
    Discriminator(_hosts_form),
    AfterValidator(_check_unique),
]
Hosts: TypeAlias = Annotated[
    Annotated[HostText, Tag("<text>")]
    | Annotated[list[HostText], Tag("<list>")]
    | Annotated[dict[HostName, Coordinates], Tag("<mapping>")],
    Discriminator(_hosts_form),
    AfterValidator(_check_unique),
]


def hosts_by_coordinates(
    host_coordinates: Mapping[str, Sequence[int]], topology: Topology
) -> tuple[str, ...]:
    """Return hosts in the order of a network's terminals, by their coordinates.

    Parameters
    ----------
    host_coordinates : mapping
        Coordinates of each host's switch; hosts at one switch keep the order of the file.
    topology : Topology

    Raises
    ------
    InputError
        Lists all coordinates that do not fit, one per line.
    """
    if topology.coordinates is None:
        raise InputError(
            "the network has no coordinates; list the hosts in the order of its terminals"
        )
    terminals_at: dict[tuple[int, ...], list[int]] = {}
    for terminal, switch in enumerate(topology.terminal_switch.tolist()):
        terminals_at.setdefault(tuple(topology.coordinates[switch].tolist()), []).append(terminal)
    hosts: list[str] = [""] * topology.num_terminals  # empty: no host yet
    mistakes = []
    # Each host takes the first terminal of its switch that has no host yet.
    for host, coordinates in host_coordinates.items():
        free_terminals = terminals_at.get(tuple(coordinates))
        if free_terminals:
            hosts[free_terminals.pop(0)] = host
        else:
            mistakes.append(f"{host}: {_misplacement_text(coordinates, free_terminals, topology)}")
    # coordinates of switches with a terminal that still has no host
    free_coordinates = [
        f"({', '.join(map(str, coordinates))})"
        for coordinates, free_terminals in terminals_at.items()
        if free_terminals
    ]
    if free_coordinates:
        named = ", ".join(free_coordinates[:MAX_NAMED])
        num_unnamed = len(free_coordinates) - MAX_NAMED
        more = f" and {num_unnamed} more places" if num_unnamed > 0 else ""
        mistakes.append(f"no host is at {named}{more}")
    if mistakes:
        raise InputError("\n".join(mistakes))
    return tuple(hosts)


def _misplacement_text(
    host_coordinates: Sequence[int], free_terminals: list[int] | None, topology: Topology
) -> str:
    """Return why a host cannot have these coordinates.

    `free_terminals` is empty if other hosts have all terminals of the switch at these coordinates,
    None if there is no such switch with terminals.
    """
    assert topology.coordinates is not None
    coordinates, dimensions = list(host_coordinates), topology.coordinates.shape[1]
    if len(coordinates) != dimensions:
        return f"{coordinates} should be {dimensions} coordinates"
    if free_terminals is not None:
        return f"another host is at {coordinates} already"
    sizes = "x".join(str(size) for size in np.max(topology.coordinates, axis=0) + 1)
    return f"place {coordinates} is outside the network of {sizes}"


def unequal_dimensions(
    host_coordinates: Mapping[str, Sequence[int]],
) -> Iterator[tuple[str, str]]:
    """Yield each host with more or fewer coordinates than the first host, and a message."""
    first_host = next(iter(host_coordinates), "")
    for host, coordinates in host_coordinates.items():
        expected = len(host_coordinates[first_host])
        if len(coordinates) != expected:
            numbers = f"{len(coordinates)} coordinates, {first_host} {expected}"
            yield host, f"{list(coordinates)} has {numbers}"
