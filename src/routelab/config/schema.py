"""The JSON schema of study files, with which editors complete and check them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from routelab.config.bench_settings import BenchSettings
from routelab.config.simulation import engines_schema, settings_schema
from routelab.config.study import BY_NAME, ENGINES, ENTRIES, Study
from routelab.registry.catalogue import Catalogue, CatalogueEntry
from routelab.registry.engines import engine_classes
from routelab.registry.instances import parameter_rows
from routelab.registry.parameters import ParameterRow

# the newest draft that all editors know
DRAFT = "http://json-schema.org/draft-07/schema#"


def study_schema(catalogue: Catalogue, distribution: str | None = None) -> dict[str, Any]:
    """The schema of a study, made from its model and from the plugins there are.

    Parameters
    ----------
    catalogue : Catalogue
        Its sound networks, routings, traffic and metrics, and their parameters, are what editors
        offer; others are not refused, as a study may be for another installation.
    distribution : str, optional
        Offer the plugins of this distribution only.

    Returns
    -------
    schema : dict
        JSON values.
    """
    schema: dict[str, Any] = untitled(Study.model_json_schema())
    definitions = schema["$defs"]
    for part in ("tables", "figures"):
        schema["properties"][part]["additionalProperties"] = False
    named = definitions.pop("Named")
    definitions["Value"] = named["additionalProperties"]["additionalProperties"]
    for part, kind in ENTRIES.items():
        entries = _offered(catalogue, kind, distribution)
        definitions[kind] = _entry_schema(named, entries, catalogue)
        schema["properties"][part]["items"] = {"$ref": f"#/$defs/{kind}"}
    settings: dict[str, dict[str, Any]] = {}
    for key, work in ENGINES.items():
        engines = engine_classes(work, catalogue, distribution)
        settings[key] = engines_schema(engines, work, by_name=key in BY_NAME)
    settings["bench"] = settings_schema(BenchSettings)
    for key, mapping in settings.items():
        definitions |= mapping.pop("$defs", {})
        definitions[key.title()] = untitled(mapping)
        schema["properties"][key] = {
            "$ref": f"#/$defs/{key.title()}",
            "description": schema["properties"][key]["description"],
        }
    (names,) = (part for part in schema["properties"]["metrics"]["anyOf"] if "items" in part)
    names["items"]["examples"] = [
        entry.key for entry in _offered(catalogue, "metric", distribution)
    ]
    return {"$schema": DRAFT, "title": "A study of routelab", **schema}


def _offered(catalogue: Catalogue, kind: str, distribution: str | None) -> list[CatalogueEntry]:
    return [
        entry
        for entry in catalogue.entries(kind)
        if entry.plugin and distribution in (None, entry.distribution)
    ]


def _entry_schema(
    named: dict[str, Any], entries: Iterable[CatalogueEntry], catalogue: Catalogue
) -> dict[str, Any]:
    """An entry of a list: a name, a plugin with parameters, or an instance with an alias."""
    plugins = {
        entry.key: _parameters_schema(entry.plugin.summary, parameter_rows(entry.plugin, catalogue))
        for entry in entries
        if entry.plugin
    }
    bounds = {key: named[key] for key in ("minProperties", "maxProperties")}
    name = {"type": "string", "description": "Instance name", "examples": list(plugins)}
    mapping = {
        "type": "object",
        "description": "A plugin and its parameters",
        **bounds,
        "properties": plugins,
        "additionalProperties": _parameters_schema("Parameters by name", []),
    }
    return {"oneOf": [name, mapping, {"$ref": "#/$defs/Use"}]}


def _parameters_schema(description: str, rows: list[ParameterRow]) -> dict[str, Any]:
    value = {"$ref": "#/$defs/Value"}
    schema: dict[str, Any] = {
        "type": ["object", "null"],
        "description": description,
        "additionalProperties": value,
    }
    if rows:
        schema["properties"] = {
            row.name: {"description": _told(row), "allOf": [value]} for row in rows
        }
    return schema


def _told(row: ParameterRow) -> str:
    default = "has to be given" if row.default is None else f"default: {row.default}"
    return f"{row.description} ({row.type}; {default})"


def untitled(part: Any) -> Any:
    """A schema without the titles that pydantic makes of names."""
    if isinstance(part, list):
        return [untitled(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: untitled(value)
        for key, value in part.items()
        if key != "title" or not isinstance(value, str)
    }
