"""The settings of a study's simulations, some of which may be swept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from routelab.config.mistakes import describe
from routelab.simulation.settings import SimulationSettings

if TYPE_CHECKING:
    from routelab.config.document import Document

WITHIN = "simulation"
"""The study's key."""

MAX_POINTS = 1000
"""Most settings that the sweeps stand for; more are taken for a slip of the pen."""


def read_settings(document: Document) -> tuple[tuple[SimulationSettings, ...], list[str]]:
    """The settings that a study's `simulation` stands for, and what is wrong with it.

    Parameters
    ----------
    document : Document
        Whose data is a mapping.

    Returns
    -------
    settings : tuple of SimulationSettings
        The product over all values that are ``{sweep: [...]}``, the last one the fastest.
    mistakes : list of str
        One line each, with its place; then there are no settings.
    """
    given = document.data.get(WITHIN, {})
    if not isinstance(given, Mapping):
        return (), []  # the study's model says so
    mistakes = []
    swept: dict[str, list[Any]] = {}
    for key, value in given.items():
        if not isinstance(value, Mapping):
            swept[key] = [value]
        elif set(value) == {"sweep"} and isinstance(value["sweep"], list) and value["sweep"]:
            swept[key] = value["sweep"]
        else:
            place = document.place((WITHIN, key))
            mistakes.append(f"{place}a mapping here is {{sweep: [...]}}, with at least one value")
    points = list(_points(swept))
    if len(points) > MAX_POINTS:
        place = document.place((WITHIN,))
        return (), [f"{place}stands for more than {MAX_POINTS} settings; sweep less"]
    settings = []
    for point in points:
        try:
            settings.append(SimulationSettings.model_validate(point))
        except ValidationError as error:
            mistakes += describe(error, document, SimulationSettings, (WITHIN,))
    mistakes = list(dict.fromkeys(mistakes))
    distinct = {one.model_dump_json(): one for one in settings}
    return (() if mistakes else tuple(distinct.values())), mistakes


def _points(swept: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations, or one more than there may be."""
    for values in islice(product(*swept.values()), MAX_POINTS + 1):
        yield dict(zip(swept, values, strict=True))


def settings_schema() -> dict[str, Any]:
    """The JSON schema of the mapping: every single value may be a sweep of such values."""
    schema = SimulationSettings.model_json_schema()
    for key, part in schema["properties"].items():
        if part.get("type") == "array":
            continue
        described = {name: part.pop(name) for name in ("description", "default") if name in part}
        sweep = {
            "type": "object",
            "properties": {"sweep": {"type": "array", "items": part, "minItems": 1}},
            "required": ["sweep"],
            "additionalProperties": False,
        }
        schema["properties"][key] = {**described, "anyOf": [part, sweep]}
    return schema
