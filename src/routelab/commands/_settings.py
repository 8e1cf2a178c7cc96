"""Options of a command that are the fields of a model, and back from options to the model."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from routelab.api import Parameters

    Model = TypeVar("Model", bound=Parameters)

PREFIX = "setting_"
"""Begins the names under which `argparse` keeps these options; the option's own name follows."""

IN_FILE = re.compile(r"[^:]+:\d+: ")
"""Begins messages about a place in a file."""

OPTIONS = {"loads": "--load", "find_saturation": "--saturation"}
"""Options that are not called like their fields."""


def add_settings(
    parser: argparse.ArgumentParser,
    model: type[Parameters],
    title: str = "settings",
    but: Collection[str] = (),
) -> None:
    """Add an option for each field of a model, ``--like-this``.

    What is given stays text: `read_settings` tells all that is wrong at once.

    Parameters
    ----------
    parser : ArgumentParser
    model : class
        Its fields are numbers, words, truth values and lists of numbers, which commas separate.
    title : str
        Of the options, in the help.
    but : collection of str
        Options that there are already.
    """
    group = parser.add_argument_group(title)
    for name, field in model.model_fields.items():
        if option(name) in but:
            continue
        default = field.get_default(call_default_factory=True)
        told = (field.description or "").replace("%", "%%")
        kept: dict[str, Any] = {"dest": _key(name), "default": argparse.SUPPRESS}
        if default is False:
            group.add_argument(option(name), action="store_true", help=told, **kept)
        else:
            shown = f"{told}; default: {_shown(default)}"
            group.add_argument(option(name), metavar=_metavar(field), help=shown, **kept)


def option(name: str) -> str:
    """The option that stands for a field; fields of two models may share one."""
    return OPTIONS.get(name, "--" + name.replace("_", "-"))


def _key(name: str) -> str:
    """Under what `argparse` keeps the option of a field."""
    return PREFIX + option(name).removeprefix("--")


def in_options(text: str, model: type[Parameters]) -> str:
    """A message about a model's fields in the words of who gave options.

    Names are replaced where they surely are names: in `...`, with an underscore, before ``=``, or
    as what is to be raised or lowered; not behind ``=``, where values stand. In lines that begin
    with a place in a file only `...` and what is to be raised or lowered are options.
    """
    if not model.model_fields:
        return text
    names = "|".join(model.model_fields)
    joined = "|".join(name for name in model.model_fields if "_" in name) or "(?!)"
    marked = rf"`({names})`|(?<=raise |lower )({names})\b"
    found = rf"{marked}|(?<![\w=-])({joined})\b|(?<![\w=-])({names})(?==)"
    return "\n".join(
        re.sub(
            marked if IN_FILE.match(line) else found,
            lambda match: option(match[match.lastindex or 0]),
            line,
        )
        for line in text.split("\n")
    )


def read_settings(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """The model that options stand for.

    Parameters
    ----------
    model : class
    arguments : mapping
        All that the parser found.

    Raises
    ------
    InputError
        With everything that is wrong, one line each.
    """
    from routelab.api.errors import InputError
    from routelab.registry.parameters import read

    given = {name: arguments[_key(name)] for name in model.model_fields if _key(name) in arguments}
    made, problems = read(model, given, {name: option(name) for name in model.model_fields})
    if made is None or problems:
        raise InputError(in_options("\n".join(problems), model))
    return cast("Model", made)


def refuse_others(
    arguments: Mapping[str, Any], models: Mapping[str, Iterable[str]], chosen: str
) -> None:
    """Refuse options that the chosen one of several models does not have.

    Parameters
    ----------
    arguments : mapping
        All that the parser found.
    models : mapping of str to iterable of str
        Names of the fields, by what a user chooses a model with, such as ``--engine flow``.
    chosen : str

    Raises
    ------
    InputError
        With all of them.
    """
    from routelab.api.errors import InputError

    keys = {model: {_key(name) for name in names} for model, names in models.items()}
    wrong = [
        f"--{key.removeprefix(PREFIX)} is an option of {other}, not of {chosen}"
        for key in arguments
        if key.startswith(PREFIX) and key not in keys[chosen]
        for other in [next(other for other, mine in keys.items() if key in mine)]
    ]
    if wrong:
        raise InputError("\n".join(wrong))


def _is_list(kind: Any) -> bool:
    return get_origin(kind) in (tuple, list)


def _metavar(field: FieldInfo) -> str:
    if get_origin(field.annotation) is Literal:
        return "{" + ",".join(map(str, get_args(field.annotation))) + "}"
    if field.annotation is str:
        return "TEXT"
    return "X,Y" if _is_list(field.annotation) else "N"


def _shown(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(map(_shown, default))
    if default in (None, ""):
        return "none"
    return f"{default:g}" if isinstance(default, float) else str(default)
