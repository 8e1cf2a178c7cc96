"""Routings made of parts: their open parameters, and the values of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from routelab.api import Composition, Plugin
from routelab.registry.catalogue import Catalogue
from routelab.registry.contract import composition_names
from routelab.registry.names import Name
from routelab.registry.parameters import ParameterRow, fields, no_such_parameter, rows


@dataclass(frozen=True)
class Part:
    """One part of a routing.

    In ``sssp@angara~turns=exact`` the part ``angara`` has the kind ``rules``, and fixes ``turns``.
    """

    kind: str
    plugin: type[Plugin]
    fixed: Mapping[str, Any]
    """Values of parameters in the part's name."""

    @property
    def label(self) -> str:
        """Kind and key."""
        return f"{self.kind}/{self.plugin.name}"

    @property
    def open_parameters(self) -> list[str]:
        """Parameters without a value in the part's name."""
        return [name for name in fields(self.plugin.Parameters) if name not in self.fixed]


def make_part(kind: str, name: Name, catalogue: Catalogue) -> Part:
    """Return the part with a name.

    Raises
    ------
    InputError
        If the plugin does not exist or cannot be used.
    """
    return Part(kind, catalogue.plugin(kind, name.key), dict(name.parameters))


def composition_parts(composition: type[Composition], catalogue: Catalogue) -> list[Part]:
    """Return the parts of a named composition, in the order selection, rules, layers.

    Raises
    ------
    InputError
        If a part does not exist or cannot be used.
    """
    return [
        make_part(kind, name, catalogue) for kind, name in composition_names(composition).items()
    ]


def parameter_names(parts: list[Part]) -> dict[tuple[str, str], str]:
    """Return the name of each open parameter for users, by (kind, parameter).

    The name is qualified by the kind if two parts have an open parameter of that name.
    """
    names = [name for part in parts for name in part.open_parameters]
    return {
        (part.kind, name): name if names.count(name) == 1 else f"{part.kind}.{name}"
        for part in parts
        for name in part.open_parameters
    }


def forward(
    parts: list[Part], values: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Assign values to the parameters of the parts.

    Parameters
    ----------
    parts : list of Part
    values : mapping
        Values by plain or qualified name.

    Returns
    -------
    values_of : dict
        Values of the part's open parameters, by kind.
    problems : list of str
        One for each value that matches no parameter or several.
    """
    values_of: dict[str, dict[str, Any]] = {part.kind: {} for part in parts}
    problems = []
    for name_text, value in values.items():
        takers = list(_takers(parts, name_text, fixed=False))
        if not takers:
            problems.append(_no_taker(parts, name_text))
        elif len(takers) > 1:
            owners = " and ".join(part.label for part, _ in takers)
            names = " or ".join(f"{part.kind}.{name}=" for part, name in takers)
            problems.append(f"{name_text!r} is a parameter of {owners}; write {names}")
        elif takers[0][1] in values_of[takers[0][0].kind]:
            problems.append(f"parameter {name_text!r} is given twice")
        else:
            part, name = takers[0]
            values_of[part.kind][name] = value
    return values_of, problems


def part_rows(parts: list[Part]) -> Sequence[ParameterRow]:
    """Describe the open parameters of the parts, under the names for users."""
    user_names = parameter_names(parts)
    return [
        replace(row, name=user_names[part.kind, row.name])
        for part in parts
        for row in rows(part.plugin.Parameters)
        if (part.kind, row.name) in user_names
    ]


def _takers(parts: list[Part], name_text: str, fixed: bool) -> Iterator[tuple[Part, str]]:
    kind, _, bare = name_text.rpartition(".")
    for part in parts:
        if kind in ("", part.kind) and bare in (part.fixed if fixed else part.open_parameters):
            yield part, bare


def _no_taker(parts: list[Part], name_text: str) -> str:
    for part, name in _takers(parts, name_text, fixed=True):
        return (
            f"{name_text!r} is fixed: the routing uses {part.label} with {name}={part.fixed[name]}"
        )
    return no_such_parameter(name_text, parameter_names(parts).values())
