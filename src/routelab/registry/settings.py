"""Settings of a simulation from text, as in names of folders and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from routelab.api.errors import InputError
from routelab.api.parameters import Parameters
from routelab.registry.names import parse_name
from routelab.registry.parameters import as_text, read_parameters
from routelab.simulation.measuring.settings import SimulationSettings

_KEY = "settings"

Settings = TypeVar("Settings", bound=Parameters)


# mypy cannot infer a type variable from a parameter's default
def parse_settings(
    text: str,
    model: type[Settings] = SimulationSettings,  # type: ignore[assignment]
) -> Settings:
    """Read settings from ``vcs=2,packet_flits=16``; an empty text means the defaults.

    Parameters
    ----------
    text : str
    model : class, optional
        `SimulationSettings` by default.

    Raises
    ------
    InputError
        If the text does not follow the grammar of names, or settings are invalid; the message
        lists all problems.
    """
    return settings_from(dict(parse_name(f"{_KEY}~{text}").parameters) if text else {}, model)


def settings_from(
    values: Mapping[str, Any],
    model: type[Settings] = SimulationSettings,  # type: ignore[assignment]
) -> Settings:
    """Read settings from a study's mapping, whose values have the meaning of their text.

    Parameters
    ----------
    values : mapping
    model : class, optional
        `SimulationSettings` by default.

    Raises
    ------
    InputError
        With all problems.
    """
    settings, problems = read_parameters(model, {key: as_text(v) for key, v in values.items()})
    if settings is None or problems:
        raise InputError("simulation settings: " + "; ".join(problems))
    assert isinstance(settings, model)
    return settings
