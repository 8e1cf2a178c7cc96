"""The JSON schema of study files, with which editors complete and check them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from routelab.registry.catalogue import Catalogue, CatalogueEntry
from routelab.registry.engines import engine_classes
from routelab.registry.instances import parameter_rows
from routelab.registry.parameters import ParameterRow
from routelab.study.bench_settings import BenchSettings
from routelab.study.simulation import engines_schema, settings_schema
from routelab.study.study import BY_NAME, ENGINES, ENTRIES, VIEWS, Study

# the newest draft that all editors support
DRAFT = "http://json-schema.org/draft-07/schema#"


def study_schema(catalogue: Catalogue, distribution: str | None = None) -> dict[str, Any]:
    """Return the schema of studies, made from their model and the installed plugins.

    Parameters
    ----------
    catalogue : Catalogue
        Editors offer its usable networks, routings, traffic and metrics, and their parameters.
        Others are not refused, because a study may be for another installation.
    distribution : str, optional
        Offer only the plugins of this distribution.

    Returns
    -------
    schema : dict
        JSON values.
    """
    # 1. The model of a study. Pydantic describes names of tables and figures by a pattern, and
    #    allows other names beside it.
    schema: dict[str, Any] = drop_titles(Study.model_json_schema())
    definitions = schema["$defs"]
    for key in VIEWS:
        schema["properties"][key]["additionalProperties"] = False
    # 2. Entries of lists, with the plugins of each kind and their parameters. The model `Named` is
    #    {plugin: {parameter: value}} with any names, so the schema of a value is two levels down.
    named_schema = definitions.pop("Named")
    definitions["Value"] = named_schema["additionalProperties"]["additionalProperties"]
    for key, kind in ENTRIES.items():
        entries = _usable_entries(catalogue, kind, distribution)
        definitions[kind] = _entry_schema(named_schema, entries, catalogue)
        schema["properties"][key]["items"] = {"$ref": f"#/$defs/{kind}"}
    # 3. Settings of engines and measurements. The model has them as plain mappings, because their
    #    keys depend on the engine.
    settings: dict[str, dict[str, Any]] = {}
    for key, work in ENGINES.items():
        engines = engine_classes(work, catalogue, distribution)
        settings[key] = engines_schema(engines, work, by_name=key in BY_NAME)
    settings["bench"] = settings_schema(BenchSettings)
    for key, settings_of_key in settings.items():
        definitions |= settings_of_key.pop("$defs", {})
        definition = key.title()  # "Flow" for the key "flow", as pydantic writes names of models
        definitions[definition] = drop_titles(settings_of_key)
        schema["properties"][key] = {
            "$ref": f"#/$defs/{definition}",
            "description": schema["properties"][key]["description"],
        }
    # 4. Names of metrics. The key may also be null; the names belong to the form that is a list.
    forms = schema["properties"]["metrics"]["anyOf"]
    (list_form,) = (form for form in forms if "items" in form)
    list_form["items"]["examples"] = [
        entry.key for entry in _usable_entries(catalogue, "metric", distribution)
    ]
    return {"$schema": DRAFT, "title": "A study of routelab", **schema}


def _usable_entries(
    catalogue: Catalogue, kind: str, distribution: str | None
) -> list[CatalogueEntry]:
    """Return the entries of plugins that can be imported, of one distribution if it is given."""
    return [
        entry
        for entry in catalogue.entries(kind)
        if entry.plugin and distribution in (None, entry.distribution)
    ]


def _entry_schema(
    named_schema: dict[str, Any], entries: Iterable[CatalogueEntry], catalogue: Catalogue
) -> dict[str, Any]:
    """Return the schema of an entry: a name, a plugin with parameters, or an alias."""
    plugins = {
        entry.key: _parameters_schema(entry.plugin.summary, parameter_rows(entry.plugin, catalogue))
        for entry in entries
        if entry.plugin  # true for all usable entries, which mypy does not know
    }
    # {plugin: parameters} has exactly one key
    one_key = {limit: named_schema[limit] for limit in ("minProperties", "maxProperties")}
    name = {"type": "string", "description": "Instance name", "examples": list(plugins)}
    mapping = {
        "type": "object",
        "description": "A plugin and its parameters",
        **one_key,
        "properties": plugins,
        "additionalProperties": _parameters_schema("Parameters by name", []),
    }
    return {"oneOf": [name, mapping, {"$ref": "#/$defs/Use"}]}


def _parameters_schema(description: str, rows: Sequence[ParameterRow]) -> dict[str, Any]:
    """Return the schema of the parameters of a plugin: a mapping, or null if none is set.

    Other parameters are allowed, too, because a study may be for another installation.
    """
    value = {"$ref": "#/$defs/Value"}
    schema: dict[str, Any] = {
        "type": ["object", "null"],
        "description": description,
        "additionalProperties": value,
    }
    if rows:
        # `allOf` because a validator of draft 7 ignores all other keys beside a `$ref`
        schema["properties"] = {
            row.name: {"description": _parameter_text(row), "allOf": [value]} for row in rows
        }
    return schema


def _parameter_text(row: ParameterRow) -> str:
    default = "required" if row.default is None else f"default: {row.default}"
    return f"{row.description} ({row.type}; {default})"


def drop_titles(part: Any) -> Any:
    """Return a schema without the titles that pydantic makes from names.

    A title is text; a property that is itself called ``title`` has a schema, and stays.
    """
    if isinstance(part, list):
        return [drop_titles(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: drop_titles(value)
        for key, value in part.items()
        if key != "title" or not isinstance(value, str)
    }
