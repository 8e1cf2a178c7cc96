"""Pydantic's findings about a document, one line per mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import BaseModel, ValidationError

from routelab.registry.suggest import did_you_mean
from routelab.study.document import Document
from routelab.study.errors import suggestion

Schema: TypeAlias = Mapping[str, Any]

REMOVED = {
    "idle_seconds": "is no longer a setting: a job that only waits ends after five minutes; "
    "remove this line",
}
"""Keys of earlier studies, and what became of them."""


def describe(
    error: ValidationError,
    document: Document,
    model: type[BaseModel],
    within: Sequence[int | str] = (),
) -> list[str]:
    """Return pydantic's findings about `document`, one line each.

    Parameters
    ----------
    error : pydantic.ValidationError
        Raised when `model` was made from ``document.data``.
    document : Document
    model : class
    within : sequence of str or int, optional
        Location of the model's data in the document.
    """
    schema = model.model_json_schema()
    details = error.errors(include_url=False)
    details.sort(key=lambda detail: document.line((*within, *detail["loc"])))
    return [_line(detail, document, schema, within) for detail in details]


def _line(
    detail: Mapping[str, Any], document: Document, schema: Schema, within: Sequence[int | str]
) -> str:
    """Return one line about a mistake that pydantic found; `within`: place of the checked part."""
    location, kind = detail["loc"], detail["type"]
    place = document.place((*within, *location))
    if kind == "missing":
        return f"{place}{location[-1]!r} is missing"
    if kind == "extra_forbidden":
        key = str(location[-1])
        if key in REMOVED:
            return f"{place}{REMOVED[key]}"
        return f"{place}unknown key{suggestion(key, _keys(schema, location[:-1]))}"
    if kind == "value_error":
        return f"{place}{detail['ctx']['error']}"
    if kind == "string_pattern_mismatch":
        return f"{place}{_short(detail['input'])} should be a word of letters, digits, '-' and '_'"
    if kind == "too_short":
        return f"{place}must not be empty"
    if kind == "literal_error":
        names = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        if hint := did_you_mean(str(detail["input"]), names):
            return f"{place}{_short(detail['input'])} does not exist{hint}"
    message = detail["msg"]
    if message.startswith("Input should "):
        return f"{place}{_short(detail['input'])} should {message.removeprefix('Input should ')}"
    return f"{place}{message[0].lower()}{message[1:]}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _keys(schema: Schema, location: Sequence[int | str]) -> Iterator[str]:
    """Iterate over the keys that the mapping at `location` may have."""
    parts = [schema]
    for step in location:
        if str(step).startswith("<"):  # a branch of a union
            continue
        schemas = [part for option in parts for part in _options(option, schema)]
        if isinstance(step, int):
            below = [part["items"] for part in schemas if "items" in part]
        else:
            below = [
                part["properties"][step] for part in schemas if step in part.get("properties", {})
            ]
            below += [part["additionalProperties"] for part in schemas if _open(part)]
        parts = below
    for option in parts:
        for part in _options(option, schema):
            yield from part.get("properties", {})


def _open(part: Schema) -> bool:
    return isinstance(part.get("additionalProperties"), dict)


def _options(part: Schema, schema: Schema) -> Iterator[Schema]:
    if "$ref" in part:
        yield from _options(schema["$defs"][part["$ref"].rpartition("/")[2]], schema)
    for name in ("anyOf", "oneOf", "allOf"):
        for option in part.get(name, ()):
            yield from _options(option, schema)
    yield part
