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

FILE_AND_LINE = re.compile(r"[^:]+:\d+: ")
"""Start of messages about a line of a file, such as ``study.yaml:12:``."""

OPTIONS = {"loads": "--load", "find_saturation": "--saturation"}
"""Options whose names differ from their fields."""

MOST_USED = ("--load", "--saturation", "--vcs", "--packet-flits", "--machine", "--ranks-per-node")
"""Options of engines that the help lists before others."""

TECHNICAL_LIMIT = 2**20
"""Limits from here on are not part of the help, because nobody comes near them."""


def add_settings(
    parser: argparse.ArgumentParser,
    model: type[Parameters],
    title: str = "settings",
    omitted: Collection[str] = (),
    most_used: argparse._ArgumentGroup | None = None,
) -> None:
    """Add an option to a parser for each field of a model: ``--packet-flits`` for `packet_flits`.

    argparse stores the values as text: `settings_from_options` reports all invalid ones together.

    Parameters
    ----------
    parser : ArgumentParser
    model : class
        Its fields are numbers, words, truth values and comma-separated lists of numbers.
    title : str
        Title of the options in the help.
    omitted : collection of str
        Options to leave out, for example because the parser has them already.
    most_used : argument group, optional
        Gets the options in `MOST_USED` instead of the group `title`.
    """
    title_group = parser.add_argument_group(title)
    # Options in `MOST_USED` come first, in its order; all others have rank len(MOST_USED), and
    # `sorted` keeps the order that they have in the model.
    ranks = {flag: rank for rank, flag in enumerate(MOST_USED)}
    names = sorted(model.model_fields, key=lambda name: ranks.get(option(name), len(MOST_USED)))
    for name in names:
        flag, field = option(name), model.model_fields[name]
        if flag in omitted:
            continue
        default = field.get_default(call_default_factory=True)
        group = most_used if most_used is not None and flag in MOST_USED else title_group
        # argparse formats help texts with %, so "%%" prints one
        text = (field.description or "").replace("%", "%%")
        # Help texts begin with a small letter, descriptions with a capital one: "Buffer size"
        # becomes "buffer size". An acronym, whose second letter is a capital, too, stays: "MTU".
        text = text if text[1:2].isupper() else text[:1].lower() + text[1:]
        # suppressed: an option that is not given is not stored, so the model's default counts
        storage: dict[str, Any] = {"dest": _key(name), "default": argparse.SUPPRESS}
        if default is False:
            group.add_argument(flag, action="store_true", help=text, **storage)
        else:
            limits = "".join(f"{limit}; " for limit in _limit_texts(field))
            help_text = f"{text} ({limits}default: {_default_text(default)})"
            group.add_argument(flag, metavar=_metavar(field), help=help_text, **storage)


def option(name: str) -> str:
    """Return the option of a field; fields of two models may share one."""
    return OPTIONS.get(name, "--" + name.replace("_", "-"))


def _key(name: str) -> str:
    """Return the name under which `argparse` stores the option of a field."""
    return PREFIX + option(name).removeprefix("--")


def with_option_names(text: str, model: type[Parameters]) -> str:
    """Replace the names of a model's fields in a message by those of their options.

    Of the fields `loads` and `max_cycles`, these forms are replaced::

        `loads`                     in backquotes
        raise loads, lower loads    in an advice
        max_cycles                  if the name has an underscore
        loads=0.5                   before an equals sign

    A name after ``=`` is a value, and one in ``npb-cg~class=S`` a parameter of a plugin; both stay.
    A line about a file (``study.yaml:12: ...``) may speak of its keys, so only the first two forms
    are replaced there.
    """
    if not model.model_fields:
        return text
    # 1. Patterns for the four forms. Each has the name as its only group.
    name = "|".join(model.model_fields)
    # "(?!)" matches nothing
    underscore_name = "|".join(field for field in model.model_fields if "_" in field) or "(?!)"
    in_backquotes, in_advice = rf"`({name})`", rf"(?<=raise |lower )({name})\b"
    # What stands before the name must not be "=", as before a value; "~" or ",", as before a
    # parameter of a plugin (npb~class=S,x=1); or a letter, "-" or "@", as in a longer name.
    start = r"(?<![\w=,~@-])"
    alone, before_equals = rf"{start}({underscore_name})\b", rf"{start}({name})(?==)"
    # 2. Replace them, line by line.
    marked_forms = f"{in_backquotes}|{in_advice}"
    all_forms = f"{marked_forms}|{alone}|{before_equals}"
    lines = []
    for line in text.split("\n"):
        pattern = marked_forms if FILE_AND_LINE.match(line) else all_forms
        # `lastindex` is the number of the group that matched, that is, of the form
        lines.append(re.sub(pattern, lambda match: option(match[match.lastindex or 0]), line))
    return "\n".join(lines)


def settings_from_options(model: type[Model], arguments: Mapping[str, Any]) -> Model:
    """Return an object of the model, with the values of the options that were given.

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
    # messages name "--load" instead of `loads`
    labels = {name: option(name) for name in model.model_fields}
    settings, problems = read_parameters(model, values, labels)
    if settings is None or problems:
        raise InputError(with_option_names("\n".join(problems), model))
    return cast("Model", settings)


def refuse_options_of_others(
    arguments: Mapping[str, Any], fields_by_choice: Mapping[str, Iterable[str]], choice: str
) -> None:
    """Reject given options that are settings of other models, but not of the chosen one.

    The parser has the options of all engines, so it accepts ``--engine flow --vcs 2``.

    Parameters
    ----------
    arguments : mapping
        All parsed arguments.
    fields_by_choice : mapping of str to iterable of str
        Names of a model's fields, by the text that chooses it, such as ``--engine flow``.
    choice : str
        One of these texts.

    Raises
    ------
    InputError
        If there are such options; the message lists all.
    """
    from routelab.api.errors import InputError

    keys_by_choice = {text: set(map(_key, names)) for text, names in fields_by_choice.items()}
    problems = []
    for key in arguments:
        is_setting = key.startswith(PREFIX)
        if is_setting and key not in keys_by_choice[choice]:
            # several models may have the option; the first of them is named
            owner = next(text for text, keys in keys_by_choice.items() if key in keys)
            flag = "--" + key.removeprefix(PREFIX)
            problems.append(f"{flag} is an option of {owner}, not of {choice}")
    if problems:
        raise InputError("\n".join(problems))


def _metavar(field: FieldInfo) -> str:
    """Return the placeholder of an option's value in the help, by the type of the field.

    ``{a,b}`` for choices, ``TEXT``, ``{true,false}``, ``X,Y`` for a list, ``N`` for a number.
    """
    # of `bool | None`: the union itself, bool and None; of `int`: int only
    types = (field.annotation, *get_args(field.annotation))
    for member in types:
        if get_origin(member) is Literal:
            return "{" + ",".join(map(str, get_args(member))) + "}"
    if field.annotation is str:
        return "TEXT"
    if bool in types:
        return "{true,false}"
    return "X,Y" if get_origin(field.annotation) in (tuple, list) else "N"


def _limit_texts(field: FieldInfo) -> Iterator[str]:
    """Yield the limits of a number for the help: ``0 to 1``, ``at least 2``, ``above 0``.

    Limits of `TECHNICAL_LIMIT` and above are left out, because nobody comes near them.
    """
    # 1. Pydantic keeps each limit as an attribute of one of the field's constraints.
    limits = {}
    for constraint in field.metadata:
        for name in ("ge", "gt", "le", "lt"):
            limit = getattr(constraint, name, None)
            if limit is not None and abs(limit) < TECHNICAL_LIMIT:
                limits[name] = limit
    # 2. Limits that the number may reach. "at least 0" goes without saying, as in counts.
    low, high = limits.get("ge"), limits.get("le")
    if low is not None and high is not None:
        yield f"{low:g} to {high:g}"
    elif high is not None or low:
        yield f"at least {low:g}" if low else f"at most {high:g}"
    # 3. Limits that it may not reach.
    if "gt" in limits and "lt" in limits:
        yield f"between {limits['gt']:g} and {limits['lt']:g}"
    elif "gt" in limits:
        yield f"above {limits['gt']:g}"


def _default_text(default: Any) -> str:
    """Return a default as users write it: ``0.1,0.3``, ``none``, ``empty``, ``true``, ``8``."""
    if isinstance(default, tuple):
        return ",".join(map(_default_text, default))
    if default is None:
        return "none"
    if default == "":
        return "empty"
    if isinstance(default, bool):
        return str(default).lower()
    return f"{default:g}" if isinstance(default, float) else str(default)
