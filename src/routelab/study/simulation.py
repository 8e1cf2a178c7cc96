"""Settings of the simulations and measurements of a study, with sweeps.

A key of a study has a value, several of them, or one for each name::

    flow:
      ranks_per_node: {sweep: [1, 2]}
      iterations: {by: {LU: 6, MG: 4}}

A *point* has one value for each key. These are two points for LU, two for MG, and two for all other
names (`DEFAULT`), without iterations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from routelab.api import EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES, Work
from routelab.registry.engines import KEY, engine_class
from routelab.registry.instances import name_of
from routelab.study.errors import ConfigError
from routelab.study.validation import describe_mistakes

if TYPE_CHECKING:
    from routelab.api import Parameters
    from routelab.study.document import Document

    Settings = TypeVar("Settings", bound=Parameters)

PointSettings = TypeVar("PointSettings")

MAX_POINTS = 1000
"""Largest number of settings of all sweeps; more are probably a mistake."""


DEFAULT = ""
"""Key that stands for all names without their own value."""


def read_study_settings(
    document: Document, within: str, model: type[Settings], *, by_name: bool = False
) -> tuple[dict[str, tuple[Settings, ...]], list[str]]:
    """Read the settings of a key of a study, and collect its mistakes.

    Parameters
    ----------
    document : Document
        Document whose data is a mapping.
    within : str
        The key, such as ``bench``.
    model : class
        Class of the settings.
    by_name : bool
        Whether a value may be ``{by: {name: value, ...}}``, one for each name of a workload.

    Returns
    -------
    settings : dict of str to tuple
        The settings of each name that has its own value somewhere, and under the key `DEFAULT`
        those of all other names. They are the points of the product of all sweeps; the last sweep
        varies fastest. With mistakes, only `DEFAULT` has an entry, and no settings.
    mistakes : list of str
        One line each, with its location.
    """

    def make_settings(point: dict[str, Any]) -> tuple[str, Settings]:
        settings = _validate(document, within, model, point)
        return settings.model_dump_json(), settings

    return _read_settings(document, within, make_settings, by_name=by_name)


def read_engines(
    document: Document, within: str, work: Work, *, by_name: bool = False
) -> tuple[dict[str, tuple[EnginePlugin, ...]], list[str]]:
    """Read the engines and settings of a key of a study, and collect its mistakes.

    The key `engine` inside the key of the study names the engine; the other keys are its
    parameters.

    Parameters
    ----------
    document : Document
        Document whose data is a mapping.
    within : str
        The key of the study, such as ``flow``.
    work : {"traffic", "workload"}
        What the engines must run.
    by_name : bool
        Whether a value may be ``{by: {name: value, ...}}``, one for each name of a workload.

    Returns
    -------
    engines : dict of str to tuple
        Engines by name, as the settings of `read_study_settings`.
    mistakes : list of str
        One line each, with its location.
    """

    def make_settings(point: dict[str, Any]) -> tuple[str, EnginePlugin]:
        """Return the canonical name and the engine of one point of the settings.

        Raises a ConfigError if the point has mistakes; `_read_settings` collects them.
        """
        values = {key: value for key, value in point.items() if key != KEY}
        name = point.get(KEY, DEFAULT_ENGINES[work])
        try:
            engine = engine_class(str(name), work)
        except InputError as error:
            raise ConfigError([f"{document.place((within, KEY))}{error}"]) from None
        instance = engine(_validate(document, within, engine.Parameters, values))
        try:
            return name_of(instance), instance
        except InputError as error:
            raise ConfigError([f"{document.place((within,))}{error}"]) from None

    return _read_settings(document, within, make_settings, by_name=by_name)


def _validate(
    document: Document, within: str, model: type[Settings], point: Mapping[str, Any]
) -> Settings:
    try:
        return model.model_validate(point)
    except ValidationError as error:
        raise ConfigError(list(describe_mistakes(error, document, model, (within,)))) from None


def _read_settings(
    document: Document,
    within: str,
    make_settings: Callable[[dict[str, Any]], tuple[str, PointSettings]],
    *,
    by_name: bool,
) -> tuple[dict[str, tuple[PointSettings, ...]], list[str]]:
    """Read the settings of a key of a study by name, and collect its mistakes.

    `make_settings` makes the settings of a point, and returns them after a text that is the same
    for equal settings. The mistakes of a ConfigError that it raises join the others.
    """
    no_settings: dict[str, tuple[PointSettings, ...]] = {DEFAULT: ()}
    # 1. The values of each key: `swept` for all names, or `values_by_name`.
    content = document.data.get(within, {})
    if not isinstance(content, Mapping):
        return no_settings, []  # the study's model reports it
    mistakes = []
    swept: dict[str, list[Any]] = {}
    values_by_name: dict[str, Mapping[str, Any]] = {}
    for key, value in content.items():
        if not isinstance(value, Mapping):
            swept[key] = [value]
        elif set(value) == {"sweep"} and isinstance(value["sweep"], list) and value["sweep"]:
            swept[key] = value["sweep"]
        elif by_name and set(value) == {"by"} and _is_mapping_of_names(value["by"]):
            values_by_name[key] = value["by"]
        else:
            by_form = " or {by: {name: value}}" if by_name else ""
            prefix = document.place((within, key))
            mistakes.append(
                f"{prefix}a mapping here must be {{sweep: [...]}}{by_form}, with at least one value"
            )
    # 2. For all names without their own values, and for each name that has some: the product of all
    #    sweeps. Values for a name replace those for all.
    settings: dict[str, tuple[PointSettings, ...]] = {}
    named = [name for by in values_by_name.values() for name in by]
    for name in dict.fromkeys((DEFAULT, *named)):
        values_of_name = {key: [by[name]] for key, by in values_by_name.items() if name in by}
        points = list(_list_points(swept | values_of_name))
        if len(points) > MAX_POINTS:
            prefix = document.place((within,))
            return no_settings, [f"{prefix}stands for more than {MAX_POINTS} settings; sweep less"]
        # Points with equal settings count once: one may write a default that another leaves out.
        settings_by_text: dict[str, PointSettings] = {}
        for point in points:
            try:
                text, point_settings = make_settings(point)
            except ConfigError as error:
                mistakes += error.mistakes
            else:
                settings_by_text.setdefault(text, point_settings)
        settings[name] = tuple(settings_by_text.values())
    # A value without a name is part of the points of all names, and its mistake is, too.
    mistakes = list(dict.fromkeys(mistakes))
    return (no_settings if mistakes else settings), mistakes


def _is_mapping_of_names(by: Any) -> bool:
    """Whether the value of ``by`` is a mapping with at least one name."""
    return isinstance(by, Mapping) and bool(by) and all(isinstance(name, str) for name in by)


def _list_points(swept: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Yield the points: all combinations of the values of each key, at most `MAX_POINTS` + 1."""
    for values in islice(product(*swept.values()), MAX_POINTS + 1):
        yield dict(zip(swept, values, strict=True))


def settings_schema(model: type[Parameters], *, by_name: bool = False) -> dict[str, Any]:
    """Return the JSON schema of a key of a study with settings, such as ``bench``.

    Every value may be a sweep of values.

    Parameters
    ----------
    model : class
        Class of the settings.
    by_name : bool
        Whether there may also be a value for each name of a workload.
    """
    schema = model.model_json_schema()
    schema["properties"] = {
        key: _sweep_schema(value_schema, by_name)
        for key, value_schema in schema["properties"].items()
    }
    return schema


def engines_schema(
    engines: Iterable[type[EnginePlugin]], work: Work, *, by_name: bool = False
) -> dict[str, Any]:
    """Return the JSON schema of a mapping that names one of several engines.

    It allows the settings of all engines. If several engines have a setting of the same name, the
    first one's schema counts.

    Parameters
    ----------
    engines : iterable of class
    work : {"traffic", "workload"}
        What the engines run.
    by_name : bool
        Whether there may also be a value for each name of a workload.
    """
    engines = list(engines)
    name_schema = {
        "type": "string",
        "description": "Engine: "
        + "; ".join(f"{engine.name}: {engine.summary}" for engine in engines),
        "default": DEFAULT_ENGINES[work],
        "examples": [engine.name for engine in engines],
    }
    schema: dict[str, Any] = {"type": "object", "additionalProperties": False}
    properties = {KEY: _sweep_schema(name_schema, by_name)}
    for engine in engines:
        engine_schema = settings_schema(engine.Parameters, by_name=by_name)
        # Later entries of a mapping replace earlier ones. The schema so far comes last, so the
        # entries of the first engines stay.
        schema = {
            **engine_schema,
            **schema,
            "$defs": {**engine_schema.get("$defs", {}), **schema.get("$defs", {})},
        }
        properties |= {
            key: value_schema
            for key, value_schema in engine_schema["properties"].items()
            if key not in properties
        }
    schema["properties"] = properties
    # an empty mapping, if no engine has definitions
    if not schema.get("$defs"):
        schema.pop("$defs", None)
    return schema


def _sweep_schema(value_schema: dict[str, Any], by_name: bool) -> dict[str, Any]:
    """Return the schema of a setting that is a value, a sweep, or one value for each name.

    The last form needs `by_name`. A setting that is a list is offered as a list only.
    """
    if value_schema.get("type") == "array":
        return value_schema
    # The description and the default stand once, before the three forms.
    one_value = dict(value_schema)
    described: dict[str, Any] = {
        name: one_value.pop(name) for name in ("description", "default") if name in one_value
    }
    values = {"type": "array", "items": one_value, "minItems": 1}
    forms = [one_value, _single_key_schema("sweep", values)]
    if by_name:
        values_by_name = {"type": "object", "additionalProperties": one_value, "minProperties": 1}
        forms.append(_single_key_schema("by", values_by_name))
    return {**described, "anyOf": forms}


def _single_key_schema(key: str, value_schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a mapping with only this key."""
    return {
        "type": "object",
        "properties": {key: value_schema},
        "required": [key],
        "additionalProperties": False,
    }
