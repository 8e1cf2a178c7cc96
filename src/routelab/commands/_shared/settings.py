"""Options of a command for the fields of a model."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, get_origin

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from routelab.api import Parameters

    Model = TypeVar("Model", bound=Parameters)

PREFIX = "setting_"
"""Prefix of the names under which `argparse` stores these options, before the option's name."""

IN_FILE = re.compile(r"[^:]+:\d+: ")
"""Start of messages about a place in a file."""

OPTIONS = {"loads": "--load", "find_saturation": "--saturation"}
"""Options whose names differ from their fields."""

OFTEN = ("--load", "--saturation", "--vcs", "--packet-flits", "--machine", "--ranks-per-node")
"""Options of engines that the help lists before others."""

UNREACHED = 2**20
"""Limits from here on are not part of the help."""


def add_settings(
    parser: argparse.ArgumentParser,
    model: type[Parameters],
    title: str = "settings",
    but: Collection[str] = (),
    often: argparse._ArgumentGroup | None = None,
) -> None:
    """Add an option for each field of a model, ``--like-this``.

    Values remain text: `settings_from_options` reports all invalid values together.

    Parameters
    ----------
    parser : ArgumentParser
    model : class
        Its fields are numbers, words, truth values and comma-separated lists of numbers.
    title : str
        Title of the options in the help.
    but : collection of str
        Options that already exist.
    often : argument group, optional
        Takes the options in `OFTEN`.
    """
    group = parser.add_argument_group(title)
    # those of `OFTEN` first, in its order
    order = {name: place for place, name in enumerate(OFTEN)}
    fields = sorted(
        model.model_fields.items(), key=lambda item: order.get(option(item[0]), len(order))
    )
    for name, field in fields:
        if option(name) in but:
            continue
        default = field.get_default(call_default_factory=True)
        place = often if often is not None and option(name) in OFTEN else group
        text = _help_text(field)
        stored: dict[str, Any] = {"dest": _key(name), "default": argparse.SUPPRESS}
        if default is False:
            place.add_argument(option(name), action="store_true", help=text, **stored)
        else:
            limits = "".join(f"{limit}; " for limit in _range_text(field))
            help_text = f"{text} ({limits}default: {_default_text(default)})"
            place.add_argument(option(name), metavar=_metavar(field), help=help_text, **stored)


def option(name: str) -> str:
    """Return the option of a field; fields of two models may share one."""
    return OPTIONS.get(name, "--" + name.replace("_", "-"))


def _key(name: str) -> str:
    """Return the name under which `argparse` stores the option of a field."""
    return PREFIX + option(name).removeprefix("--")


def with_option_names(text: str, model: type[Parameters]) -> str:
    """Replace the names of a model's fields in a message by those of their options.

    Names are replaced in `...`, with an underscore, before ``=``, and after "raise" or "lower";
    not after ``=``, where values are, and not in instance names such as ``npb-cg~class=S``. In
    lines that begin with a place in a file, only names in
    `...` and after "raise" or "lower" are replaced.
    """
    if not model.model_fields:
        return text
    names = "|".join(model.model_fields)
    joined = "|".join(name for name in model.model_fields if "_" in name) or "(?!)"
    marked = rf"`({names})`|(?<=raise |lower )({names})\b"
    mentioned = rf"{marked}|(?<![\w=-])({joined})\b|(?<![\w=,~@-])({names})(?==)"
    return "\n".join(
        re.sub(
            marked if IN_FILE.match(line) else mentioned,
            lambda match: option(match[match.lastindex or 0]),
            line,
        )
        for line in text.split("\n")
    )


def settings_from_options(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """Return the model with the values of the options.

    Parameters
    ----------
    model : class
    arguments : mapping
        All parsed arguments.

    Raises
    ------
    InputError
        If values are invalid; the message has one line for each.
    """
    from routelab.api.errors import InputError
    from routelab.registry.parameters import read_parameters

    values = {name: arguments[_key(name)] for name in model.model_fields if _key(name) in arguments}
    settings, problems = read_parameters(
        model, values, {name: option(name) for name in model.model_fields}
    )
    if settings is None or problems:
        raise InputError(with_option_names("\n".join(problems), model))
    return cast("Model", settings)


def refuse_others(
    arguments: Mapping[str, Any], models: Mapping[str, Iterable[str]], choice: str
) -> None:
    """Reject options that the chosen model does not have.

    Parameters
    ----------
    arguments : mapping
        All parsed arguments.
    models : mapping of str to iterable of str
        Names of the fields, by the text that chooses a model, such as ``--engine flow``.
    choice : str

    Raises
    ------
    InputError
        If there are such options; the message lists all.
    """
    from routelab.api.errors import InputError

    keys = {model: {_key(name) for name in names} for model, names in models.items()}
    problems = [
        f"--{key.removeprefix(PREFIX)} is an option of {owner}, not of {choice}"
        for key in arguments
        if key.startswith(PREFIX) and key not in keys[choice]
        for owner in [next(owner for owner, model_keys in keys.items() if key in model_keys)]
    ]
    if problems:
        raise InputError("\n".join(problems))


def _help_text(field: FieldInfo) -> str:
    """Return a field's description as other options have it: in lower case, but for acronyms."""
    text = (field.description or "").replace("%", "%%")
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def _metavar(field: FieldInfo) -> str:
    """Return the placeholder of an option's value in the help."""
    for kind in (field.annotation, *get_args(field.annotation)):
        if get_origin(kind) is Literal:
            return "{" + ",".join(map(str, get_args(kind))) + "}"
    if field.annotation is str:
        return "TEXT"
    if bool in (field.annotation, *get_args(field.annotation)):
        return "{true,false}"
    return "X,Y" if get_origin(field.annotation) in (tuple, list) else "N"


def _range_text(field: FieldInfo) -> Iterator[str]:
    """Iterate over the range of a number, if it has limits that a person may reach."""
    limits = {
        name: value
        for constraint in field.metadata
        for name in ("ge", "gt", "le", "lt")
        if (value := getattr(constraint, name, None)) is not None and abs(value) < UNREACHED
    }
    low, high = limits.get("ge"), limits.get("le")
    if low is not None and high is not None:
        yield f"{low:g} to {high:g}"
    elif high is not None or low:
        yield f"at least {low:g}" if low else f"at most {high:g}"
    if "gt" in limits and "lt" in limits:
        yield f"between {limits['gt']:g} and {limits['lt']:g}"
    elif "gt" in limits:
        yield f"above {limits['gt']:g}"


def _default_text(default: Any) -> str:
    """Return a default as users write it."""
    if isinstance(default, tuple):
        return ",".join(map(_default_text, default))
    if default is None:
        return "none"
    if default == "":
        return "empty"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)
