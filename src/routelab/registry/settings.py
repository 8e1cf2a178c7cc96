"""The text of a simulation's settings, as in names of folders and on the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from routelab.api.errors import InputError
from routelab.api.parameters import Parameters
from routelab.registry.names import parse_name
from routelab.registry.parameters import as_text, read
from routelab.simulation.measuring.settings import SimulationSettings

_KEY = "settings"

Settings = TypeVar("Settings", bound=Parameters)


# mypy has no default for a type variable that a parameter's default decides
def parse_settings(
    text: str,
    model: type[Settings] = SimulationSettings,  # type: ignore[assignment]
) -> Settings:
    """Settings from ``vcs=2,packet_flits=16``; an empty text means the defaults.

    Parameters
    ----------
    text : str
    model : class, optional
        `SimulationSettings` by default.

    Raises
    ------
    InputError
        If the text does not follow the grammar of names, or telling all that is wrong in it.
    """
    return settings_from(dict(parse_name(f"{_KEY}~{text}").parameters) if text else {}, model)


def settings_from(
    values: Mapping[str, Any],
    model: type[Settings] = SimulationSettings,  # type: ignore[assignment]
) -> Settings:
    """Settings from a study's mapping, whose values mean what their text would mean.

    Parameters
    ----------
    values : mapping
    model : class, optional
        `SimulationSettings` by default.

    Raises
    ------
    InputError
        Telling all that is wrong.
    """
    settings, problems = read(model, {key: as_text(v) for key, v in values.items()})
    if settings is None or problems:
        raise InputError("simulation settings: " + "; ".join(problems))
    assert isinstance(settings, model)
    return settings
