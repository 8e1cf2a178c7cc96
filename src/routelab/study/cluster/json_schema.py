"""The JSON schema of cluster files, with which editors complete and check them."""

from __future__ import annotations

from typing import Any

from routelab.study.cluster.hostlist import HOST
from routelab.study.cluster.jobs import VARIABLE, WORD
from routelab.study.cluster.keys import COLLECTION_KEYS, Cluster
from routelab.study.json_schema import DRAFT, drop_titles
from routelab.toolkit.machine import Machine


def cluster_schema() -> dict[str, Any]:
    """Return the schema of cluster files, made from the models of file and machine.

    Returns
    -------
    schema : dict
        JSON values.
    """
    schema: dict[str, Any] = drop_titles(Cluster.model_json_schema())
    keys, definitions = schema["properties"], schema["$defs"]
    # 1. Patterns, which pydantic does not know because functions check them. The forms of an
    #    optional text are the text and null; those of `hosts` are a text, a list and a mapping.
    for name in ("mpi", "partition", "account"):
        keys[name]["anyOf"][0]["pattern"] = f"^{WORD}$"
    keys["hosts"]["oneOf"][2]["propertyNames"] = {"pattern": f"^{HOST}$"}
    keys["environment"]["propertyNames"] = {"pattern": f"^{VARIABLE}$"}
    keys["environment"]["additionalProperties"] = {"type": ["string", "integer"]}
    keys["benchmarks"]["additionalProperties"] = False
    # 2. The fields of the machine, each in three forms. The model allows any field, because
    #    `read_machine` checks them.
    forms = {name: definitions.pop(name) for name in ("Published", "Assumed")}
    keys["machine"] = {
        "type": "object",
        "description": keys["machine"]["description"],
        "properties": {
            name: {"description": field["description"], "oneOf": _value_forms(field, forms)}
            for name, field in Machine.model_json_schema()["properties"].items()
        },
        "additionalProperties": False,
    }
    # 3. A key without a value counts as missing.
    for name in COLLECTION_KEYS:
        if "oneOf" in keys[name]:
            keys[name]["oneOf"].append({"type": "null"})
        else:
            keys[name]["type"] = [keys[name]["type"], "null"]
    return {"$schema": DRAFT, "title": "A cluster of routelab", **schema}


def _value_forms(field: dict[str, Any], forms: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the schemas of a field of the machine: a value alone, published, or assumed.

    Parameters
    ----------
    field : dict
        Schema of the field in the machine's model, with type and bounds.
    forms : dict of str to dict
        Schemas of a published and of an assumed value, whose key ``value`` may be any number.
    """
    bounds = ("type", "minimum", "maximum", "exclusiveMinimum")
    value_schema = {key: field[key] for key in bounds if key in field}
    mapping_forms = []
    for form in forms.values():
        # Type and bounds of the field replace `anyOf`, which is "a number or a truth value".
        value_property = {**form["properties"]["value"], **value_schema}
        value_property.pop("anyOf", None)
        properties = {**form["properties"], "value": value_property}
        mapping_forms.append({**form, "properties": properties})
    return [value_schema, *mapping_forms]
