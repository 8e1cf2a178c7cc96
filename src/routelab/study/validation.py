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


def describe_mistakes(
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
    return [_mistake_line(detail, document, schema, within) for detail in details]


def _mistake_line(
    detail: Mapping[str, Any], document: Document, schema: Schema, within: Sequence[int | str]
) -> str:
    """Return one line about a mistake that pydantic found: location, problem, and fix if known.

    `detail` is one of ``ValidationError.errors()``; its location is relative to `within`.
    """
    location, kind = detail["loc"], detail["type"]
    prefix = document.place((*within, *location))
    if kind == "missing":
        return f"{prefix}{location[-1]!r} is missing"
    if kind == "extra_forbidden":
        key = str(location[-1])
        if key in REMOVED:
            return f"{prefix}{REMOVED[key]}"
        return f"{prefix}unknown key{suggestion(key, _possible_keys(schema, location[:-1]))}"
    if kind == "value_error":
        return f"{prefix}{detail['ctx']['error']}"
    if kind == "string_pattern_mismatch":
        return f"{prefix}{_short(detail['input'])} should be a word of letters, digits, '-' and '_'"
    if kind == "too_short":
        return f"{prefix}must not be empty"
    if kind == "literal_error":
        # without a similar name, pydantic's own message below lists all of them
        names = re.findall(r"'([^']*)'", detail["ctx"]["expected"])
        if hint := did_you_mean(str(detail["input"]), names):
            return f"{prefix}{_short(detail['input'])} does not exist{hint}"
    message = detail["msg"]
    if message.startswith("Input should "):
        return f"{prefix}{_short(detail['input'])} should {message.removeprefix('Input should ')}"
    return f"{prefix}{message[0].lower()}{message[1:]}"


def _short(value: object) -> str:
    """Return a value as Python writes it, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _possible_keys(schema: Schema, location: Sequence[int | str]) -> Iterator[str]:
    """Yield the keys that the mapping at `location` may have, for a suggestion."""
    # The schemas of what is at the location so far. They may be several, such as the branches of a
    # union, because the branch that the author means is not known.
    schemas = [schema]
    for step in location:
        if str(step).startswith("<"):  # a branch of a union is no step of the document
            continue
        options = [option for item in schemas for option in _alternatives(item, schema)]
        if isinstance(step, int):
            schemas = [option["items"] for option in options if "items" in option]
        else:
            schemas = [
                option["properties"][step]
                for option in options
                if step in option.get("properties", {})
            ]
            # mappings by a name that the author chooses, such as `tables`
            schemas += [
                option["additionalProperties"] for option in options if _allows_other_keys(option)
            ]
    for item in schemas:
        for option in _alternatives(item, schema):
            yield from option.get("properties", {})


def _allows_other_keys(part: Schema) -> bool:
    """Whether a mapping may have any keys, all with values of one schema."""
    return isinstance(part.get("additionalProperties"), dict)


def _alternatives(part: Schema, schema: Schema) -> Iterator[Schema]:
    """Yield a part of a schema, and before it all parts that it refers to or combines."""
    if "$ref" in part:
        definition = part["$ref"].rpartition("/")[2]  # Table of #/$defs/Table
        yield from _alternatives(schema["$defs"][definition], schema)
    for name in ("anyOf", "oneOf", "allOf"):
        for option in part.get(name, ()):
            yield from _alternatives(option, schema)
    yield part
