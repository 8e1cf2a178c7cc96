"""Example values of parameters: declared values, and guesses for required parameters."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from routelab.api import Parameters
from routelab.api.parameters import value_text
from routelab.registry.catalogue import Catalogue
from routelab.registry.contract import PARTS
from routelab.registry.names import Name, parse_name, parse_routing
from routelab.registry.parameters import default_problems, fields
from routelab.testing.results import Skipped

GUESSES = ("4x3", "4", "3", "2", "1", "0", "0.5", "true", "a")
"""Values to try for a parameter without a default, in this order, after its declared values."""


def split_name(kind: str, text: str) -> tuple[str, str]:
    """Return kind and instance name from ``"kind", "name"`` or from ``"kind/name", ""``."""
    if text:
        return kind, text
    before, _, after = kind.partition("/")
    return before, after


def name_parts(kind: str, text: str) -> list[tuple[str, Name]]:
    """Return kind and name of each plugin in an instance name; only a routing may have several.

    ``"routing", "sssp@up-down"`` is the selection ``sssp`` and the rules ``up-down``.

    Raises
    ------
    InputError
        If it does not follow the grammar.
    """
    names = parse_routing(text) if kind == "routing" else (parse_name(text),)
    if len(names) == 1:
        return [(kind, names[0])]
    # PARTS has three kinds: selection, rules and layers. The name may leave out the layers.
    return list(zip(PARTS, names, strict=False))


def complete_name(kind: str, text: str, catalogue: Catalogue) -> str:
    """Return the name with a value for every parameter without a default.

    Raises
    ------
    Skipped
        If no value can be guessed.
    """
    (_, name), *other_parts = name_parts(kind, text)
    # parameters of a composition's parts are not guessed
    if other_parts:
        return text
    model = catalogue.plugin(kind, name.key).Parameters
    values = dict(name.parameters)
    for key, field in fields(model).items():
        if field.is_required() and key not in values:
            values[key] = _guess(model, key, field, text)
    return str(Name(name.key, tuple(values.items())))


def _guess(model: type[Parameters], key: str, field: FieldInfo, text: str) -> str:
    """Return a valid value of a required parameter; raise Skipped if none is found."""
    # No guess for a file: even if one of that name exists, it has not the content that is needed.
    guesses: tuple[str, ...] = () if field.annotation is Path else GUESSES
    for value in [*example_values(field), *guesses]:
        if not default_problems(model, {key: value}):
            return value
    raise Skipped(
        f"parameter {key!r} is required: check an instance, such as "
        f"{text}{',' if '~' in text else '~'}{key}=..."
    )


def example_values(field: FieldInfo, *, upper: bool = True) -> list[str]:
    """Return the values in a parameter's declaration, as text for instance names.

    Parameters
    ----------
    field : FieldInfo
    upper : bool
        Whether to include the largest allowed value.

    Returns
    -------
    list of str
        Choices, truth values, none, and inclusive limits.
    """
    names = ("ge", "le") if upper else ("ge",)
    # pydantic's constraints Ge and Le have these attributes; Gt and Lt exclude their limits
    limits = [getattr(constraint, name, None) for constraint in field.metadata for name in names]
    return [
        *dict.fromkeys(_choices(field.annotation)),
        *(_scalar_text(limit) for limit in limits if limit is not None),
    ]


def _scalar_text(value: Any) -> str:
    """Return a number, text or truth value as instance names write it."""
    return value_text(value, dumped=value)  # JSON has scalars as they are


def _choices(annotation: Any) -> Iterator[str]:
    """Yield all values of a type that has few: ``Literal["a", "b"] | None`` has a, b and none."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        annotated_type, *_ = arguments
        yield from _choices(annotated_type)
    elif origin is Literal:
        yield from map(_scalar_text, arguments)
    elif origin in (Union, UnionType):
        for member in arguments:
            yield from _choices(member)
    elif annotation is bool:
        yield from ("true", "false")
    elif annotation is NoneType:
        yield "none"
