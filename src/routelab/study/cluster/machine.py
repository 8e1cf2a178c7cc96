"""The machine of a cluster: its numbers, and the origin of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from routelab.study.document import Document
from routelab.study.entries import StudyPart
from routelab.study.validation import describe_mistakes
from routelab.toolkit.machine import Machine


def _require_number(value: Any) -> Any:
    if isinstance(value, (bool, int, float)):
        return value
    raise ValueError(f"{value!r} should be a number, or true or false")


Number: TypeAlias = Annotated[bool | float, BeforeValidator(_require_number)]


class Published(StudyPart):
    """A value that was published, or measured."""

    value: Number = Field(description="In the unit of the field")
    source: str = Field(min_length=1, description="Source of the value")


class Assumed(StudyPart):
    """A value that nobody has published."""

    value: Number = Field(description="In the unit of the field")
    assumed: str = Field(min_length=1, description="Why so")
    range: tuple[float, float] = Field(description="Smallest and largest plausible value")

    @model_validator(mode="after")
    def _require_in_range(self) -> Assumed:
        low, high = self.range
        if not low <= self.value <= high:
            raise ValueError(f"{self.value:g} is outside its range, {low:g} to {high:g}")
        return self


def _value_form(value: Any) -> str:
    """Return the branch of `MachineValue` that a value belongs to."""
    if isinstance(value, Mapping):
        return "<assumed>" if "assumed" in value or "range" in value else "<published>"
    if isinstance(value, (Published, Assumed)):
        return "<assumed>" if isinstance(value, Assumed) else "<published>"
    return "<scalar>"


MachineValue: TypeAlias = Annotated[
    Annotated[Published, Tag("<published>")]
    | Annotated[Assumed, Tag("<assumed>")]
    | Annotated[Number, Tag("<scalar>")],
    Discriminator(_value_form),
]
"""A value with its origin, or alone."""

_MACHINE_VALUE: TypeAdapter[Published | Assumed | float | bool] = TypeAdapter(MachineValue)


@dataclass(frozen=True)
class Origin:
    """The origin of a number.

    Attributes
    ----------
    value : float or bool
    source : str
        Where it was published; empty if it is assumed or has no source.
    assumed : str
        Why it is assumed; empty if it was published.
    range : tuple of two float, optional
        Smallest and largest plausible value.
    """

    value: float | bool
    source: str = ""
    assumed: str = ""
    range: tuple[float, float] | None = None


def read_machine(document: Document) -> tuple[Machine | None, dict[str, Origin], list[str]]:
    """Read the machine that a cluster's file describes.

    Parameters
    ----------
    document : Document

    Returns
    -------
    machine : Machine or None
        None if it has mistakes.
    origins : dict of str to Origin
        Origins of all fields that the file sets.
    mistakes : list of str
        One line each. Entries of a wrong form are left out, because the model of the whole file,
        `Cluster`, reports them.
    """
    entries = document.data.get("machine")
    if not isinstance(entries, Mapping):
        entries = {}
    # 1. The values that have a valid form, with their origins.
    origins = {}
    for name, entry in entries.items():
        try:
            origins[name] = _origin(_MACHINE_VALUE.validate_python(entry))
        except ValidationError:
            continue
    mistakes = [
        f"{document.place(('machine', name, 'value'))}{text}"
        for name, origin in origins.items()
        if (text := _type_mistake(name, origin.value))
    ]
    # 2. The machine. Values of a wrong type are left out: pydantic would convert true to 1.
    values = {
        name: origin.value
        for name, origin in origins.items()
        if not _type_mistake(name, origin.value)
    }
    try:
        machine = Machine(**values)
    except ValidationError as error:
        mistakes += describe_mistakes(error, document, Machine, within=("machine",))
    return (None if mistakes else machine), origins, mistakes


def _type_mistake(name: str, value: float | bool) -> str:
    """Return a message if a number is given for a truth value or the other way round."""
    field = Machine.model_fields.get(name)
    # `Machine` itself reports an unknown field.
    is_truth_field = field is not None and field.annotation is bool
    if field is None or is_truth_field == isinstance(value, bool):
        return ""
    if isinstance(value, bool):
        return f"{str(value).lower()} should be a number"
    return f"{value:g} should be true or false"


def _origin(setting: Published | Assumed | float | bool) -> Origin:
    if isinstance(setting, Published):
        return Origin(setting.value, source=setting.source)
    if isinstance(setting, Assumed):
        return Origin(setting.value, assumed=setting.assumed, range=setting.range)
    return Origin(setting)
