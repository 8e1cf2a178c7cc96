"""Checks of a plugin's parameters and names."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from routelab.api import InputError, UnsupportedError
from routelab.registry.instances import ComposedRouting, RoutingPlugins, canonical
from routelab.registry.names import Name
from routelab.registry.parameters import fields
from routelab.testing.checks.common import list_some
from routelab.testing.inputs.examples import example_values, name_parts
from routelab.testing.result_form import check_form
from routelab.testing.results import Failed, Skipped
from routelab.testing.subjects import Subject, call_supports_of, load_instance, run_plugin

UNKNOWN = "no_such_parameter"
CHECKED_WITH_PARTS = "its parameters are those of its parts, and are checked there"


def name_round_trip(subject: Subject) -> str:
    """Check that parsing the canonical name and the full name gives the same plugin.

    The canonical name leaves out parameters that have their defaults, as `torus~dims=4x2`; the full
    name has all parameters.

    Returns
    -------
    str
        For the report: the full name, if it was also checked; otherwise empty.
    """
    _require_round_trip(subject, subject.text, subject.plugin)
    # A full name needs the parameters of one plugin, so a composition has none. The comparison is
    # with `subject.plugin`, which for a routing is not the plugin itself but a record with it.
    plugin = _plugin_with_parameters(subject)
    if plugin is None or not fields(plugin.Parameters):
        return ""
    full_name = str(Name(plugin.name, tuple(plugin.parameters.texts().items())))
    _require_round_trip(subject, full_name, subject.plugin)
    return f"as {full_name}"


def unknown_parameter(subject: Subject) -> str:
    """Check that an unknown parameter is rejected."""
    plugin = _plugin_with_parameters(subject)
    if plugin is None:
        raise Skipped(CHECKED_WITH_PARTS)
    try:
        plugin.Parameters(**{**dict(plugin.parameters), UNKNOWN: 1})
    except ValidationError:
        return ""
    raise Failed(f'a parameter {UNKNOWN!r} is accepted; keep extra="forbid" in model_config')


def declared_values(subject: Subject) -> str:
    """Check that every declared choice and limit of a parameter is accepted.

    Choices, truth values and lower limits also run on one input.
    """
    plugin = _plugin_with_parameters(subject)
    if plugin is None:
        raise Skipped(CHECKED_WITH_PARTS)
    ((_, name),) = name_parts(subject.kind, subject.text)
    count, problems = 0, []
    for key, field in fields(plugin.Parameters).items():
        values_to_run = example_values(field, upper=False)  # all but upper limits
        for value in example_values(field):
            # A variant of the plugin: the same instance with another value of this parameter.
            parameters = {**dict(name.parameters), key: value}
            text = str(Name(name.key, tuple(parameters.items())))
            count += 1
            try:
                variant = _load_variant(subject, text)
                if value in values_to_run:
                    _run_variant(subject, variant)
            except Failed as problem:
                problems.append(f"{key}={value}: {problem}")
    if problems:
        raise Failed(list_some(problems))
    if not count:
        raise Skipped("no parameter declares choices or limits")
    return f"{count} values"


def _plugin_with_parameters(subject: Subject) -> Any:
    """Return the plugin whose parameters the subject's name sets; None for a composition.

    The name of a composition sets those of several plugins, its parts.
    """
    if not isinstance(subject.plugin, RoutingPlugins):
        return subject.plugin
    return None if isinstance(subject.plugin, ComposedRouting) else subject.plugin.plugin


def _load_variant(subject: Subject, text: str) -> Any:
    """Load a variant of the plugin; raise Failed if it is refused, or its name does not round-trip.

    `text` is the subject's name with another value that a parameter declares.
    """
    try:
        variant = load_instance(subject.kind, text, subject.catalogue)
    except InputError as error:
        raise Failed(f"is declared and refused: {error}") from None
    _require_round_trip(subject, text, variant)
    return variant


def _require_round_trip(subject: Subject, text: str, plugin: Any) -> None:
    """Raise Failed unless the canonical name of `text` makes an equal plugin, and is canonical.

    That is, the canonical name of the canonical name must be itself: studies identify an instance
    by this name.

    Parameters
    ----------
    subject : Subject
    text : str
        An instance name, perhaps with parameters that have their defaults.
    plugin : object
        The plugin that `text` makes.
    """
    try:
        canonical_name = canonical(subject.kind, text, subject.catalogue)
        reloaded = load_instance(subject.kind, canonical_name, subject.catalogue)
    except InputError as error:
        raise Failed(f"{text} cannot be read back: {error}") from None
    parameters = _parameters_of_all(reloaded)
    if parameters != _parameters_of_all(plugin):
        raise Failed(f"{text} becomes {canonical_name}, which has other parameters: {parameters}")
    if canonical(subject.kind, canonical_name, subject.catalogue) != canonical_name:
        raise Failed(f"{canonical_name} is canonical, and its own canonical name is another")


def _parameters_of_all(plugin: Any) -> list[dict[str, Any]]:
    """Return the parameters of a plugin, or of each plugin of a routing."""
    plugins = plugin.plugins if isinstance(plugin, RoutingPlugins) else (plugin,)
    return [dict(instance.parameters) for instance in plugins]


def _run_variant(subject: Subject, variant: Any) -> None:
    """Run a variant of the plugin, with another parameter; raise Failed if it breaks its contract.

    A topology is built. Any other plugin runs on the subject's example; a variant may refuse that
    input, which breaks nothing.
    """
    if subject.kind == "topology":
        try:
            variant.build()
        except (InputError, UnsupportedError):
            # values that are valid separately may not be valid together
            return
        except Exception as error:
            raise Failed(f"build() raised {type(error).__name__}: {error}") from None
        return
    trial = subject.example()
    try:
        if call_supports_of(variant, trial.value) is None:
            check_form(subject.kind, trial.value, run_plugin(variant, trial.value))
    except Skipped:
        return  # it raised UnsupportedError
    except Failed as problem:
        raise Failed(f"on {trial.name} {problem}") from None
