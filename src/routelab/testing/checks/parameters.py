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
OF_ITS_PARTS = "its parameters are those of its parts, and are checked there"


def name_round_trip(subject: Subject) -> str:
    """Check that parsing the canonical name and the full name gives the same plugin."""
    _require_round_trip(subject, subject.text, subject.plugin)
    plugin = _own(subject)
    if plugin is None or not fields(plugin.Parameters):
        return ""
    full = str(Name(plugin.name, tuple(plugin.parameters.texts().items())))
    _require_round_trip(subject, full, subject.plugin)
    return f"as {full}"


def unknown_parameter(subject: Subject) -> str:
    """Check that an unknown parameter is rejected."""
    plugin = _own(subject)
    if plugin is None:
        raise Skipped(OF_ITS_PARTS)
    try:
        plugin.Parameters(**{**dict(plugin.parameters), UNKNOWN: 1})
    except ValidationError:
        return ""
    raise Failed(f'a parameter {UNKNOWN!r} is accepted; keep extra="forbid" in model_config')


def declared_values(subject: Subject) -> str:
    """Check that every declared choice and limit of a parameter is accepted.

    Choices, truth values and lower limits also run on one input.
    """
    plugin = _own(subject)
    if plugin is None:
        raise Skipped(OF_ITS_PARTS)
    ((_, name),) = name_parts(subject.kind, subject.text)
    count, problems = 0, []
    for key, field in fields(plugin.Parameters).items():
        low = example_values(field, upper=False)
        for value in example_values(field):
            text = str(Name(name.key, tuple({**dict(name.parameters), key: value}.items())))
            count += 1
            try:
                variant = _variant(subject, text)
                if value in low:
                    _try(subject, variant)
            except Failed as problem:
                problems.append(f"{key}={value}: {problem}")
    if problems:
        raise Failed(list_some(problems))
    if not count:
        raise Skipped("no parameter declares choices or limits")
    return f"{count} values"


def _own(subject: Subject) -> Any:
    """Return the plugin whose parameters the name has; None if they belong to parts."""
    if not isinstance(subject.plugin, RoutingPlugins):
        return subject.plugin
    return None if isinstance(subject.plugin, ComposedRouting) else subject.plugin.plugin


def _variant(subject: Subject, text: str) -> Any:
    try:
        variant = load_instance(subject.kind, text, subject.catalogue)
    except InputError as error:
        raise Failed(f"is declared and refused: {error}") from None
    _require_round_trip(subject, text, variant)
    return variant


def _require_round_trip(subject: Subject, text: str, plugin: Any) -> None:
    """Require that a name's canonical form has the same parameters and is canonical itself."""
    try:
        short = canonical(subject.kind, text, subject.catalogue)
        again = load_instance(subject.kind, short, subject.catalogue)
    except InputError as error:
        raise Failed(f"{text} cannot be read back: {error}") from None
    if _values(again) != _values(plugin):
        raise Failed(f"{text} becomes {short}, which has other parameters: {_values(again)}")
    if canonical(subject.kind, short, subject.catalogue) != short:
        raise Failed(f"{short} is canonical, and its own canonical name is another")


def _values(plugin: Any) -> list[dict[str, Any]]:
    plugins = plugin.plugins if isinstance(plugin, RoutingPlugins) else (plugin,)
    return [dict(instance.parameters) for instance in plugins]


def _try(subject: Subject, variant: Any) -> None:
    """Run a variant on the example, unless it does not support it."""
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
        return
    except Failed as problem:
        raise Failed(f"on {trial.name} {problem}") from None
