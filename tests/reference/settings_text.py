"""Settings from their text, which names of folders have, and from values of a study."""

from collections.abc import Mapping
from typing import Any

from routelab.api import InputError, Parameters
from routelab.registry.names import parse_name
from routelab.registry.parameters import as_text, read_parameters


def settings_from_text(text: str, model: type[Parameters]) -> Any:
    return settings_from_values(dict(parse_name(f"x~{text}").parameters) if text else {}, model)


def settings_from_values(values: Mapping[str, Any], model: type[Parameters]) -> Any:
    settings, problems = read_parameters(model, {key: as_text(v) for key, v in values.items()})
    if settings is None or problems:
        raise InputError("; ".join(problems))
    return settings
