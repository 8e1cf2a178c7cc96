"""Routings made of parts: their open parameters, and the values of each part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from routelab.api import Composition, Plugin
from routelab.registry.catalogue import Catalogue
from routelab.registry.contract import composition_names
from routelab.registry.names import Name
from routelab.registry.parameters import (
    ParameterRow,
    describe_parameters,
    fields,
    no_such_parameter,
)


@dataclass(frozen=True)
class Part:
    """One part of a routing: a plugin with the parameters that its name fixes.

    In ``sssp@angara~turns=exact`` the part ``angara`` has the kind ``rules``, and fixes ``turns``.
    """

    kind: str
    plugin: type[Plugin]
    fixed: Mapping[str, Any]
    """Values of the parameters that the part's name gives."""

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
    """Return the name under which users give each open parameter, by (kind, parameter).

    This is the parameter's own name, unless two parts have an open parameter of that name: then
    the kind of the part precedes it, as in ``selection.ties`` and ``rules.ties``.
    """
    names = [name for part in parts for name in part.open_parameters]
    return {
        (part.kind, name): name if names.count(name) == 1 else f"{part.kind}.{name}"
        for part in parts
        for name in part.open_parameters
    }


def assign_values(
    parts: list[Part], values: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Assign the values that users give for a routing to the parameters of its parts.

    Parameters
    ----------
    parts : list of Part
    values : mapping
        Values by plain or qualified name (``ties`` or ``selection.ties``).

    Returns
    -------
    values_by_kind : dict
        For each part, by its kind: values of its open parameters, by plain name.
    problems : list of str
        One for each value that belongs to no open parameter or to several, or whose parameter has a
        value under its other name (``ties`` and ``selection.ties``).
    """
    values_by_kind: dict[str, dict[str, Any]] = {part.kind: {} for part in parts}
    problems = []
    for user_name, value in values.items():
        kind, _, name = user_name.rpartition(".")  # the kind of a plain name is ""
        matching_parts = [
            part for part in parts if kind in ("", part.kind) and name in part.open_parameters
        ]
        if not matching_parts:
            problems.append(_unmatched_text(parts, user_name))
            continue
        if len(matching_parts) > 1:
            owners = " and ".join(part.label for part in matching_parts)
            names = " or ".join(f"{part.kind}.{name}=" for part in matching_parts)
            problems.append(f"{user_name!r} is a parameter of {owners}; write {names}")
            continue
        part_values = values_by_kind[matching_parts[0].kind]
        if name in part_values:
            problems.append(f"parameter {user_name!r} is given twice")
        else:
            part_values[name] = value
    return values_by_kind, problems


def describe_open_parameters(parts: list[Part]) -> Sequence[ParameterRow]:
    """Describe the open parameters of the parts, under the names that `parameter_names` gives."""
    user_names = parameter_names(parts)
    return [
        replace(row, name=user_names[part.kind, row.name])
        for part in parts
        for row in describe_parameters(part.plugin.Parameters)
        if (part.kind, row.name) in user_names
    ]


def _unmatched_text(parts: list[Part], user_name: str) -> str:
    """Return the message about a value whose name is not that of an open parameter.

    Either the name of a part has fixed this parameter, or no part has such a parameter.
    """
    kind, _, name = user_name.rpartition(".")
    for part in parts:
        if kind in ("", part.kind) and name in part.fixed:
            return (
                f"{user_name!r} is fixed: the routing uses {part.label} with "
                f"{name}={part.fixed[name]}"
            )
    return no_such_parameter(user_name, parameter_names(parts).values())
