"""Typed models from the text of parameters, and descriptions of parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from routelab.api.parameters import NameOf, Parameters, parse_bytes, parse_dims, value_text
from routelab.registry.names import quote
from routelab.registry.suggest import did_you_mean


@dataclass(frozen=True)
class ParameterRow:
    """Description of a parameter.

    Attributes
    ----------
    name : str
        Name under which users give the parameter: the field's name, without a trailing underscore.
    type : str
        Type of the values, in words, such as ``integer ≥ 1``.
    default : str or None
        Default as it is written in an instance name; None: the parameter is required.
    description : str
    """

    name: str
    type: str
    default: str | None
    description: str


def fields(model: type[Parameters]) -> dict[str, FieldInfo]:
    """Return the parameters of a model by their names for users, in order of declaration."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def as_text(value: Any) -> Any:
    """Return a value from a study as it would be typed in a name, so that both mean the same.

    Numbers and truth values become text, lists become lists of texts; other values are unchanged.
    """
    if isinstance(value, (bool, int, float)):
        return value_text(value, dumped=value)  # JSON has the same numbers
    if isinstance(value, (list, tuple)):
        return [as_text(item) for item in value]
    return value


def read_parameters(
    model: type[Parameters], values: Mapping[str, Any], labels: Mapping[str, str] | None = None
) -> tuple[Parameters | None, list[str]]:
    """Make a model of parameters from values (most often text).

    Parameters
    ----------
    model : class
    values : mapping
        Values, by the names under which users give them.
    labels : mapping, optional
        Names of parameters in messages that differ from those in `values`, such as
        ``selection.ties`` for ``ties``.

    Returns
    -------
    parameters : Parameters or None
        None if there is a problem.
    problems : list of str
        All problems, in plain words: of names that do not exist and of invalid values.
    """
    names = fields(model)
    problems = [no_such_parameter(name, names) for name in values if name not in names]
    try:
        parameters = model(**{name: value for name, value in values.items() if name in names})
    except ValidationError as error:
        problems += _plain_problems(error.errors(), values, labels or {})
        return None, problems
    # with a name that does not exist, the parameters are not what the user meant
    return (None if problems else parameters), problems


def no_such_parameter(name: str, names: Iterable[str]) -> str:
    """Return the message about a parameter that does not exist."""
    return f"unknown parameter {name!r}{did_you_mean(name, names)}"


def plugin_name_fields(model: type[Parameters]) -> dict[str, str]:
    """Return the kind of plugin that a value names, for each field of such values (`NameOf`)."""
    return {
        name: marker.kind
        for name, field in model.model_fields.items()
        for marker in field.metadata
        if isinstance(marker, NameOf)
    }


def default_problems(model: type[Parameters], values: Mapping[str, str]) -> list[str]:
    """List the problems of a model's defaults and of `values`.

    Plugins are checked with this before anybody uses them, so a parameter may still lack a value.
    """
    names = fields(model)
    problems = [no_such_parameter(name, names) for name in values if name not in names]
    try:
        model(**{name: value for name, value in values.items() if name in names})
    except ValidationError as error:
        # An error without a location is about several parameters together. It may not arise with
        # the values that users still set.
        errors_of_values = [
            details for details in error.errors() if details["loc"] and details["type"] != "missing"
        ]
        problems += _plain_problems(errors_of_values, values, labels={})
    return problems


@cache
def describe_parameters(model: type[Parameters]) -> tuple[ParameterRow, ...]:
    """Describe each parameter of a model, for lists of parameters and messages."""
    return tuple(
        ParameterRow(
            name=name,
            type=_type_text(field.annotation, tuple(field.metadata)),
            default=None if field.is_required() else _default_text(field),
            description=field.description or "",
        )
        for name, field in fields(model).items()
    )


def _plain_problems(
    errors: Iterable[ErrorDetails], values: Mapping[str, Any], labels: Mapping[str, str]
) -> list[str]:
    """Return pydantic's errors in plain words, one sentence per parameter or item.

    For a parameter of several types, pydantic reports an error for each type. These are
    alternatives, so ``or`` joins them: "size=[1]: must be a valid string or must be a valid
    integer".
    """
    # by (name of the parameter, text before the messages), such as ("dims", "dims=4x0: item 2")
    messages_by_item: dict[tuple[str, str], list[str]] = {}
    for details in errors:
        # `loc` is the location: ("dims", 2) is the third item of dims. Only an error about several
        # parameters together has none.
        name = str(details["loc"][0]) if details["loc"] else ""
        label = labels.get(name, name)
        if details["type"] == "missing":  # once, even if the parameter has several types
            messages_by_item[name, f"parameter {label!r}"] = ["is required"]
            continue
        # a location may also have names of types, which are left out
        items = [f" item {index + 1}" for index in details["loc"][1:] if isinstance(index, int)]
        # a default is not in `values`
        value = values.get(name, details["input"])
        subject = f"{label}={value}:{''.join(items)}" if name else ""
        messages = messages_by_item.setdefault((name, subject), [])
        message = _plain_message(details)
        if message not in messages:
            messages.append(message)
    return [
        f"{subject} {' or '.join(messages)}".strip()
        for (_, subject), messages in messages_by_item.items()
    ]


def _plain_message(details: ErrorDetails) -> str:
    """Return what pydantic says of a value, shorter: ``must be greater than 0``."""
    # the exception of a validator, of routelab or of a plugin; its text is plain already
    if details["type"] in ("value_error", "assertion_error"):
        return str(details["ctx"]["error"])
    if details["type"] in ("bool_parsing", "bool_type"):
        return "must be true or false"
    message = re.sub(r",? unable to (parse|interpret) .*$", "", details["msg"])
    return re.sub(r"^Input should be ", "must be ", message)


def _default_text(field: FieldInfo) -> str:
    """Return the default of a parameter as it is written in a name."""
    # validated first, because a default may be text ("4x2") that stands for a value
    adapter: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    value = adapter.validate_python(field.get_default(call_default_factory=True))
    return quote(value_text(value, adapter.dump_python(value, mode="json")))


_PLAIN_TYPES: dict[Any, str] = {
    bool: "true | false",
    int: "integer",
    float: "number",
    str: "text",
    Path: "file",
    NoneType: "none",
}
_PLURALS = {"integer": "integers", "number": "numbers", "text": "words", "file": "files"}


def _type_text(annotation: Any, metadata: tuple[Any, ...] = ()) -> str:
    """Return a type with its bounds in words: ``integer ≥ 1 and ≤ 64``.

    `metadata` are the constraints (``Ge(1)``), validators and marks (`NameOf`) that pydantic finds
    beside the type: in `Annotated` and in the declaration of the field.
    """
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:  # within another type, as in ``Bytes | None``
        inner_type, *inner_metadata = arguments
        return _type_text(inner_type, (*inner_metadata, *metadata))
    # Dims and Bytes are tuples and integers for Python; the functions that read their texts tell
    # them apart
    read_functions = [getattr(validator, "func", None) for validator in metadata]
    if parse_dims in read_functions:
        return "dimensions, as in 4x2x2"
    if parse_bytes in read_functions:
        return f"bytes, as in 4096 or 1MiB{_bounds_text(metadata)}"
    for marker in metadata:
        if isinstance(marker, NameOf):
            return f"name of a {marker.kind}"
    if origin is Literal:
        return " | ".join(map(str, arguments))
    if origin in (Union, UnionType):
        return " or ".join(_type_text(member, metadata) for member in arguments)
    if origin in (tuple, list):
        item = _type_text(arguments[0])
        return f"list of {_PLURALS.get(item, item)}, a+b"
    text = _PLAIN_TYPES.get(annotation, getattr(annotation, "__name__", str(annotation)))
    return text if annotation is NoneType else text + _bounds_text(metadata)


def _bounds_text(metadata: tuple[Any, ...]) -> str:
    """Return the bounds of a number, as they follow its type: `` ≥ 1 and ≤ 64``, or ""."""
    bounds = [
        f"{sign} {getattr(constraint, name)}"
        for constraint in metadata
        for name, sign in (("gt", ">"), ("ge", "≥"), ("lt", "<"), ("le", "≤"))
        if getattr(constraint, name, None) is not None
    ]
    return f" {' and '.join(bounds)}" if bounds else ""
