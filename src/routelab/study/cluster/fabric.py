"""The key ``fabric`` of a cluster file: commands that change the routing of the system."""

from __future__ import annotations

from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, field_validator

from routelab.study.entries import StudyPart

PLACEHOLDERS = ("folder", "routing", "hosts", "topology")


def _refuse_text(value: Any) -> Any:
    # a text with blanks would become one argument, which nobody intends
    if isinstance(value, str):
        raise ValueError(f"{value!r} is text; write a list: [program, argument, ...]")
    return value


def _require_valid_arguments(arguments: list[str]) -> list[str]:
    problems = [problem for argument in arguments if (problem := _argument_problem(argument))]
    if not arguments[0]:
        problems.append("the program (first item) is empty")
    if problems:
        raise ValueError("; ".join(dict.fromkeys(problems)))
    return arguments


def _argument_problem(argument: str) -> str:
    """Return what is wrong with the placeholders of an argument; "" if nothing is."""
    if "\0" in argument:
        return f"{argument!r} has a null character, which is not allowed in arguments"
    try:
        parts = list(Formatter().parse(argument))
    except ValueError:
        return f"{argument!r} has a single brace; write {{{{ or }}}} for one that is meant"
    # "a{folder!r:>9}b": text, name, form and conversion of each placeholder, such as
    # ("a", "folder", ">9", "r"); the name is None where only text is left
    for _, name, form, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or form or conversion):
            conversion_text = f"!{conversion}" if conversion else ""
            form_text = f":{form}" if form else ""
            placeholder = f"{name}{conversion_text}{form_text}"
            names = ", ".join(f"{{{word}}}" for word in PLACEHOLDERS)
            return (
                f"there is no placeholder {{{placeholder}}}, only {names}; write {{{{ for a brace"
            )
    return ""


Arguments: TypeAlias = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(_refuse_text),
    AfterValidator(_require_valid_arguments),
]


class FabricCommands(StudyPart):
    """Commands of the site that change the routing of the fabric and restore it.

    ``{folder}``, ``{routing}``, ``{hosts}`` and ``{topology}`` in arguments become values.
    """

    use: Literal["command"] = Field(
        default="command", description="May be left out; earlier versions needed it"
    )
    apply: Arguments = Field(description="Program and arguments that apply the routes in the files")
    restore: Arguments = Field(
        description="Program and arguments that restore the previous routes; may run twice"
    )
    export: str = Field(
        default="angara", description="Export plugin whose files are in {folder}; empty: none"
    )
    seconds: float = Field(
        default=120,
        gt=0,
        le=86_400,
        description="Time limit of each command, in seconds; it is ended with its children",
    )
    state: str = Field(
        default="",
        description="Absolute path of the folder with the lock and the journal of the fabric. "
        "Everyone who switches the fabric must use the same folder (default: a folder below the "
        "results, which protects only runs with that results folder)",
    )

    @field_validator("state")
    @classmethod
    def _require_absolute(cls, value: str) -> str:
        if value and not Path(value).expanduser().is_absolute():
            raise ValueError(f"{value!r} should be an absolute path")
        return str(Path(value).expanduser()) if value else ""
