"""The settings of a study's simulations, of packets or flows; some may be swept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from routelab.config.mistakes import describe

if TYPE_CHECKING:
    from routelab.api import Parameters
    from routelab.config.document import Document

    Settings = TypeVar("Settings", bound=Parameters)

MAX_POINTS = 1000
"""Most settings that the sweeps stand for; more are taken for a slip of the pen."""


DEFAULT = ""
"""Stands for all names that no value is told by."""


def read_settings(
    document: Document, within: str, model: type[Settings], *, by_name: bool = False
) -> tuple[dict[str, tuple[Settings, ...]], list[str]]:
    """The settings that a key of a study stands for, and what is wrong with it.

    Parameters
    ----------
    document : Document
        Whose data is a mapping.
    within : str
        The key, such as ``simulation``.
    model : class
        Of the settings.
    by_name : bool
        Whether a value may be ``{by: {name: value, ...}}``, one for each name.

    Returns
    -------
    settings : dict of str to tuple
        For every name that a value is told by, and for all others (`DEFAULT`): the product over
        all values that are ``{sweep: [...]}``, the last one the fastest.
    mistakes : list of str
        One line each, with its place; then there are no settings.
    """
    given = document.data.get(within, {})
    if not isinstance(given, Mapping):
        return {DEFAULT: ()}, []  # the study's model says so
    mistakes = []
    swept: dict[str, list[Any]] = {}
    named: dict[str, Mapping[str, Any]] = {}
    for key, value in given.items():
        if not isinstance(value, Mapping):
            swept[key] = [value]
        elif set(value) == {"sweep"} and isinstance(value["sweep"], list) and value["sweep"]:
            swept[key] = value["sweep"]
        elif by_name and set(value) == {"by"} and _names(value["by"]):
            named[key] = value["by"]
        else:
            also = " or {by: {name: value}}" if by_name else ""
            place = document.place((within, key))
            mistakes.append(
                f"{place}a mapping here is {{sweep: [...]}}{also}, with at least one value"
            )
    settings: dict[str, tuple[Settings, ...]] = {}
    for name in dict.fromkeys((DEFAULT, *(name for by in named.values() for name in by))):
        told = {key: [by[name]] for key, by in named.items() if name in by}
        points = list(_points(swept | told))
        if len(points) > MAX_POINTS:
            place = document.place((within,))
            return {DEFAULT: ()}, [f"{place}stands for more than {MAX_POINTS} settings; sweep less"]
        found: dict[str, Settings] = {}
        for point in points:
            try:
                one = model.model_validate(point)
            except ValidationError as error:
                mistakes += describe(error, document, model, (within,))
            else:
                found.setdefault(one.model_dump_json(), one)
        settings[name] = tuple(found.values())
    mistakes = list(dict.fromkeys(mistakes))
    return ({DEFAULT: ()} if mistakes else settings), mistakes


def _names(by: Any) -> bool:
    return isinstance(by, Mapping) and bool(by) and all(isinstance(name, str) for name in by)


def _points(swept: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations, or one more than there may be."""
    for values in islice(product(*swept.values()), MAX_POINTS + 1):
        yield dict(zip(swept, values, strict=True))


def settings_schema(model: type[Parameters], *, by_name: bool = False) -> dict[str, Any]:
    """The JSON schema of the mapping: every single value may be a sweep of such values.

    Parameters
    ----------
    model : class
    by_name : bool
        Whether it may be a value for each name, too.
    """
    schema = model.model_json_schema()
    for key, part in schema["properties"].items():
        if part.get("type") == "array":
            continue
        described = {name: part.pop(name) for name in ("description", "default") if name in part}
        forms = [part, _alone("sweep", {"type": "array", "items": part, "minItems": 1})]
        if by_name:
            values = {"type": "object", "additionalProperties": part, "minProperties": 1}
            forms.append(_alone("by", values))
        schema["properties"][key] = {**described, "anyOf": forms}
    return schema


def _alone(key: str, part: dict[str, Any]) -> dict[str, Any]:
    """A mapping with this one key."""
    return {
        "type": "object",
        "properties": {key: part},
        "required": [key],
        "additionalProperties": False,
    }
