"""Plugin objects from names, and canonical names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, overload

from routelab.api import (
    Composition,
    ContextMetricPlugin,
    EnginePlugin,
    ExportPlugin,
    HopRoutingPlugin,
    InputError,
    LayersPlugin,
    Parameters,
    Plugin,
    PluginError,
    RoutingPlugin,
    RulesPlugin,
    SelectionPlugin,
    TopologyPlugin,
    TrafficPlugin,
    WorkloadPlugin,
)
from routelab.registry import compositions
from routelab.registry.catalogue import Catalogue, QuarantinedError, installed_catalogue
from routelab.registry.compositions import Part
from routelab.registry.contract import PARTS, check_contract
from routelab.registry.names import Name, compose, parse_name, parse_routing
from routelab.registry.parameters import (
    ParameterRow,
    as_text,
    describe_parameters,
    plugin_name_fields,
    read_parameters,
)

NO_LAYERS = "none"
"""Default layers plugin of a routing."""


@dataclass(frozen=True)
class CompleteRouting:
    """A complete algorithm, which makes a table of routes."""

    plugin: RoutingPlugin

    @property
    def name(self) -> str:
        """Canonical name."""
        return name_of(self.plugin)

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins of the routing."""
        return (self.plugin,)


@dataclass(frozen=True)
class ComposedRouting:
    """Rules, selection and layers, which make a table of routes together.

    Attributes
    ----------
    name : str
        Canonical name.
    selection : SelectionPlugin
    rules : RulesPlugin
    layers : LayersPlugin
    composition : Composition or None
        The plugin that names these parts; None for ``selection@rules@layers``.
    """

    name: str
    selection: SelectionPlugin
    rules: RulesPlugin
    layers: LayersPlugin
    composition: Composition | None = None

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """All plugins of the routing; a named composition comes before its parts."""
        parts = self.selection, self.rules, self.layers
        return parts if self.composition is None else (self.composition, *parts)


@dataclass(frozen=True)
class HopRouting:
    """An algorithm that decides hop by hop and has no table.

    Attributes
    ----------
    plugin : HopRoutingPlugin
    parts : mapping
        Routings that `plugin` is built on, by the field of the parameter that names each.
    """

    plugin: HopRoutingPlugin
    parts: Mapping[str, RoutingPlugins]

    @property
    def name(self) -> str:
        """Canonical name."""
        return name_of(self.plugin)

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugin, and all plugins of the routings that it is built on."""
        return (self.plugin, *(plugin for part in self.parts.values() for plugin in part.plugins))


RoutingPlugins: TypeAlias = CompleteRouting | ComposedRouting | HopRouting
"""The plugins of a routing of any form. All have a canonical `name`, and list their `plugins`."""


@overload
def load(
    kind: Literal["topology"], text: str, catalogue: Catalogue | None = None
) -> TopologyPlugin: ...
@overload
def load(
    kind: Literal["metric"], text: str, catalogue: Catalogue | None = None
) -> ContextMetricPlugin: ...
@overload
def load(
    kind: Literal["traffic"], text: str, catalogue: Catalogue | None = None
) -> TrafficPlugin: ...
@overload
def load(
    kind: Literal["workload"], text: str, catalogue: Catalogue | None = None
) -> WorkloadPlugin: ...
@overload
def load(
    kind: Literal["engine"], text: str, catalogue: Catalogue | None = None
) -> EnginePlugin: ...
@overload
def load(
    kind: Literal["export"], text: str, catalogue: Catalogue | None = None
) -> ExportPlugin: ...
@overload
def load(kind: str, text: str, catalogue: Catalogue | None = None) -> Plugin: ...
def load(kind: str, text: str, catalogue: Catalogue | None = None) -> Plugin:
    """Make the plugin instance with a name.

    Parameters
    ----------
    kind : str
    text : str
        An instance name. Use `load_routing` for routings made of parts.
    catalogue : Catalogue, optional
        The installed plugins by default.

    Raises
    ------
    InputError
        If the name or parameters are invalid, or the plugin does not exist; the error lists all
        invalid parameters.
    QuarantinedError
        If the plugin is broken or ambiguous; a subclass of `InputError`.
    """
    name = parse_name(text)
    part = compositions.make_part(kind, name, catalogue or installed_catalogue())
    if issubclass(part.plugin, Composition):
        raise InputError(f"{part.label} is made of parts and does not run by itself")
    return _make_plugin(part, {}, text)


def load_routing(routing: str | Plugin, catalogue: Catalogue | None = None) -> RoutingPlugins:
    """Make the routing with a name: ``angara-sssp``, ``sssp@angara~turns=exact``.

    Parameters
    ----------
    routing : str or Plugin
        A name, or a plugin object, which need not be installed.
    catalogue : Catalogue, optional
        The installed plugins by default.

    Raises
    ------
    InputError
        If a name or parameter is invalid, a plugin does not exist, or the object does not fulfil
        the plugin contract; the error lists the problems of all parts.
    QuarantinedError
        If a plugin is broken or ambiguous; a subclass of `InputError`.
    """
    catalogue = catalogue or installed_catalogue()
    if isinstance(routing, str):
        return _make_routing(parse_routing(routing), {}, catalogue)
    if not isinstance(routing, RoutingPlugin | HopRoutingPlugin):
        raise InputError(
            f"{routing!r} is not a routing; use a name such as 'dor', or an object of a subclass "
            "of RoutingPlugin"
        )
    plugin_class, key = type(routing), str(getattr(routing, "name", ""))
    try:
        check_contract(plugin_class, "routing", key=key, label=plugin_class.__name__)
    except PluginError as error:
        raise InputError(str(error)) from None
    # `Name` refuses a key that cannot be written in a name
    return _routing_of_plugin(routing, str(Name(key)), catalogue)


def canonical(kind: str, text: str, catalogue: Catalogue | None = None) -> str:
    """Return the canonical form of a name: no defaults, parameters in order of declaration.

    Two names of the same plugin with the same parameters have the same canonical form.

    Raises
    ------
    InputError
        If the name or a parameter is invalid, or a plugin does not exist or cannot be used.
    """
    return canonical_with_parameters(kind, text, {}, catalogue)


def canonical_with_parameters(
    kind: str, key: str, values: Mapping[str, Any], catalogue: Catalogue | None = None
) -> str:
    """Return the canonical name of a plugin or routing, with further parameters from a study.

    In a study, ``torus: {dims: 4x4}`` means ``torus~dims=4x4``.

    Parameters
    ----------
    kind : str
    key : str
        A key or any name, which may have further parameters.
    values : mapping
        Parameters by name; numbers, truth values and lists have the meaning of their text.

    Raises
    ------
    InputError
        If the name or a parameter is invalid, a plugin does not exist or cannot be used, or a
        parameter is both in `key` and in `values`.
    """
    catalogue = catalogue or installed_catalogue()
    texts = {str(name): as_text(value) for name, value in values.items()}
    if kind == "routing":
        return _make_routing(parse_routing(key), texts, catalogue).name
    part = compositions.make_part(kind, parse_name(key), catalogue)
    return name_of(_make_plugin(part, texts, key))


def name_of(plugin: Plugin) -> str:
    """Return the canonical name of a plugin instance."""
    return str(Name(plugin.name, tuple(plugin.parameters.non_defaults().items())))


def parameter_rows(
    plugin: type[Plugin], catalogue: Catalogue | None = None
) -> Sequence[ParameterRow]:
    """Describe a plugin's parameters, or the open parameters of a composition."""
    if issubclass(plugin, Composition):
        parts = compositions.composition_parts(plugin, catalogue or installed_catalogue())
        return compositions.describe_open_parameters(parts)
    return describe_parameters(plugin.Parameters)


def _make_plugin(part: Part, values: Mapping[str, Any], text: str) -> Plugin:
    """Make a plugin with the parameters in its name and `values`; messages call it `text`."""
    problems = [f"parameter {key!r} is given twice" for key in values if key in part.fixed]
    parameters, parameter_problems = read_parameters(
        part.plugin.Parameters, {**part.fixed, **values}
    )
    if problems or parameters is None:  # None: `parameter_problems` is not empty
        raise _input_error(
            text,
            problems + parameter_problems,
            available={part.label: describe_parameters(part.plugin.Parameters)},
        )
    return part.plugin(parameters)


def _make_routing(
    names: tuple[Name, ...], values: Mapping[str, Any], catalogue: Catalogue
) -> RoutingPlugins:
    """Make the routing with one name or with the names of its parts, and with further parameters.

    Parameters
    ----------
    names : tuple of Name
        As `parse_routing` returns them.
    values : mapping
        Parameters that the names lack, as users give them: by plain name, or by a name such as
        ``selection.ties`` (see `compositions.parameter_names`).
    catalogue : Catalogue
    """
    if len(names) > 1:
        return _make_unnamed_composition(names, values, catalogue)
    (name,) = names
    try:
        routing_part = compositions.make_part("routing", name, catalogue)
    except QuarantinedError:
        raise  # the plugin exists, so the name needs no hint
    except InputError as error:
        raise InputError(f"{error}{_composition_hint(name.key, catalogue)}") from None
    if issubclass(routing_part.plugin, Composition):
        return _make_named_composition(routing_part, values, catalogue)
    return _routing_of_plugin(_make_plugin(routing_part, values, str(name)), str(name), catalogue)


def _routing_of_plugin(plugin: Plugin, text: str, catalogue: Catalogue) -> RoutingPlugins:
    """Return the routing of a complete or hop-by-hop algorithm; messages call it `text`."""
    if isinstance(plugin, HopRoutingPlugin):
        return _make_hop_routing(plugin, text, catalogue)
    return CompleteRouting(cast(RoutingPlugin, plugin))


def _make_hop_routing(plugin: HopRoutingPlugin, text: str, catalogue: Catalogue) -> HopRouting:
    """Make a hop-by-hop routing with the routings that its parameters name."""
    parts = {}
    for key in plugin_name_fields(plugin.Parameters):
        part_name = getattr(plugin.parameters, key)
        try:
            parts[key] = _make_routing(parse_routing(part_name), {}, catalogue)
        except InputError as error:
            # the same class, because a study goes on without a quarantined plugin
            raise type(error)(f"{text}: {key}: {error}") from None
    # The parameters take the canonical names of the parts, so that the routing's name is canonical.
    canonical_names = {key: part.name for key, part in parts.items()}
    if parts:
        plugin = type(plugin)(plugin.parameters.model_copy(update=canonical_names))
    return HopRouting(plugin, parts)


def _make_named_composition(
    routing_part: Part, values: Mapping[str, Any], catalogue: Catalogue
) -> ComposedRouting:
    """Make the routing that a `Composition` names, with the parameters that users give."""
    composition = cast(type[Composition], routing_part.plugin)
    parts = compositions.composition_parts(composition, catalogue)
    plugins = _make_parts(
        parts,
        {**routing_part.fixed, **values},
        text=composition.name,
        problems=[
            f"parameter {key!r} is given twice" for key in values if key in routing_part.fixed
        ],
        available={routing_part.label: compositions.describe_open_parameters(parts)},
    )
    # The canonical name has the parameters that the composition leaves open and that differ from
    # their defaults.
    non_defaults = {kind: plugin.parameters.non_defaults() for kind, plugin in plugins.items()}
    name_parameters = tuple(
        (user_name, non_defaults[kind][parameter])
        for (kind, parameter), user_name in compositions.parameter_names(parts).items()
        if parameter in non_defaults[kind]
    )
    name = str(Name(composition.name, name_parameters))
    # `plugins` has the keys selection, rules and layers
    return ComposedRouting(name, **cast(Any, plugins), composition=composition())


def _make_unnamed_composition(
    names: tuple[Name, ...], values: Mapping[str, Any], catalogue: Catalogue
) -> ComposedRouting:
    """Make the routing ``selection@rules`` or ``selection@rules@layers``.

    One error lists all parts that do not exist or cannot be used.
    """
    text = compose(names)
    parts: list[Part] = []
    errors: list[InputError] = []
    part_names = names if len(names) == len(PARTS) else (*names, Name(NO_LAYERS))
    for kind, part_name in zip(PARTS, part_names, strict=True):
        try:
            parts.append(compositions.make_part(kind, part_name, catalogue))
        except InputError as error:
            errors.append(error)
    if errors:
        combined_error = _input_error(text, [str(error) for error in errors], available={})
        # If all names are valid and only plugins are broken, a study keeps its other results.
        are_names_valid = all(isinstance(error, QuarantinedError) for error in errors)
        raise QuarantinedError(str(combined_error)) if are_names_valid else combined_error
    available = {part.label: describe_parameters(part.plugin.Parameters) for part in parts}
    plugins = _make_parts(parts, values, text=text, available=available)
    plugin_names = [name_of(plugin) for plugin in plugins.values()]
    if plugin_names[-1] == NO_LAYERS:  # the default, which a canonical name leaves out
        plugin_names.pop()
    return ComposedRouting("@".join(plugin_names), **cast(Any, plugins))


def _make_parts(
    parts: list[Part],
    values: Mapping[str, Any],
    *,
    text: str,
    available: Mapping[str, Sequence[ParameterRow]],
    problems: Sequence[str] = (),
) -> dict[str, Plugin]:
    """Make the plugins of the parts, by kind.

    Parameters
    ----------
    parts : list of Part
    values : mapping
        Parameters that the names of the parts lack, as users give them.
    text : str
        Name of the routing, for messages.
    available : mapping
        All parameters that users may give, by label of the plugin; an error lists them.
    problems : sequence of str
        Problems that the caller has found. One error lists them with those of the values.
    """
    values_by_kind, value_problems = compositions.assign_values(parts, values)
    user_names = compositions.parameter_names(parts)
    problems = [*problems, *value_problems]
    models: dict[str, Parameters] = {}
    for part in parts:
        # messages call a parameter as users do: ``selection.ties``, if several parts have ``ties``
        labels = {
            name: user_name for (kind, name), user_name in user_names.items() if kind == part.kind
        }
        part_values = {**part.fixed, **values_by_kind[part.kind]}
        model, parameter_problems = read_parameters(part.plugin.Parameters, part_values, labels)
        problems += [f"{part.label}: {problem}" for problem in parameter_problems]
        if model is not None:
            models[part.kind] = model
    if problems:
        raise _input_error(text, problems, available=available)
    return {part.kind: part.plugin(models[part.kind]) for part in parts}


def _composition_hint(key: str, catalogue: Catalogue) -> str:
    """Return a hint if `key` names rules or a selection, not a routing; "" for other names."""
    kinds = catalogue.kinds_of(key)
    if "routing" in kinds:
        return ""
    hints = {
        "selection": f"; a selection makes a routing as {key}@RULES",
        "rules": f"; rules make a routing as SELECTION@{key}",
    }
    return "".join(hint for kind, hint in hints.items() if kind in kinds)


def _input_error(
    text: str, problems: Sequence[str], *, available: Mapping[str, Sequence[ParameterRow]]
) -> InputError:
    """Return one error that lists the problems of the name `text`, then what each plugin takes."""
    lines = [f"{text}: {problems[0]}"] if len(problems) == 1 else [f"{text}:", *problems]
    for label, parameters in available.items():
        listed = ", ".join(f"{row.name} ({row.type})" for row in parameters)
        lines.append(f"{label} takes {listed or 'no parameters'}")
    return InputError("\n    ".join(lines))
