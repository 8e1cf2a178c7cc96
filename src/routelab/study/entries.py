"""Entries of a study's lists, and the instances of plugins that they select."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, product
from math import prod
from typing import Annotated, Any, TypeAlias

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    RootModel,
    StringConstraints,
    Tag,
    field_validator,
    model_validator,
)


def _require_scalar(value: Any) -> Any:
    """Refuse a list, mapping or null, before pydantic tries each type of the union in turn."""
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"{value!r} must be a single number, word or truth value")
    return value


def _scalar_form(value: Any) -> str:
    """Return the branch of `Scalars` that a value belongs to."""
    return "<list>" if isinstance(value, list) else "<scalar>"


# A union's discriminator returns the tag of the branch that a value is meant for, so that a mistake
# is reported for that branch only. Pydantic puts the tag into the location of the mistake; angle
# brackets distinguish it from a key of the document.
Scalar: TypeAlias = Annotated[bool | int | float | str, BeforeValidator(_require_scalar)]
Scalars: TypeAlias = Annotated[
    Annotated[list[Scalar], Tag("<list>")] | Annotated[Scalar, Tag("<scalar>")],
    Discriminator(_scalar_form),
]


class StudyPart(BaseModel):
    """Base class of all parts of a study: frozen, without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Sweep(StudyPart):
    """Take these values one after the other."""

    sweep: list[Scalar] = Field(min_length=1, description="Values to run one after the other")


class Range(StudyPart):
    """Take the integers from 0 on."""

    range: int = Field(ge=1, description="Number of integers, starting with 0")


class Box(StudyPart):
    """Grids of every size, and of every order of the sizes."""

    dimensions: int = Field(ge=1, le=8, description="Number of dimensions")
    sizes: tuple[int, int] = Field(
        description="Least and greatest size of a dimension, such as [2, 8]"
    )
    max_nodes: int | None = Field(
        default=None, ge=1, description="Largest number of switches of a grid (default: no limit)"
    )

    @field_validator("sizes")
    @classmethod
    def _require_ascending(cls, sizes: tuple[int, int]) -> tuple[int, int]:
        if not 2 <= sizes[0] <= sizes[1]:
            raise ValueError(
                f"{list(sizes)} must be two sizes of at least 2, the smaller one first"
            )
        return sizes

    @model_validator(mode="after")
    def _require_any_size(self) -> Box:
        fewest_nodes = self.sizes[0] ** self.dimensions
        if self.max_nodes is not None and fewest_nodes > self.max_nodes:
            raise ValueError(f"the least of these grids has {fewest_nodes} nodes; raise max_nodes")
        return self

    @cached_property
    def grids(self) -> tuple[str, ...]:
        """Return the sizes as text, such as ``4x2x2``, ascending from the first dimension on.

        There may be billions. The list ends after `MAX_INSTANCES` + 1 of them, which are enough
        for the caller to refuse the entry.
        """
        texts = ("x".join(map(str, sizes)) for sizes in self._grids_from())
        return tuple(islice(texts, MAX_INSTANCES + 1))

    def _grids_from(self, begin: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
        """Yield the sizes of all grids whose first dimensions have the sizes `begin`.

        For two dimensions and `begin` = (2,): (2, 2), (2, 3), and so on.
        """
        num_missing = self.dimensions - len(begin)
        if not num_missing:
            yield begin
            return
        low, high = self.sizes
        for size in range(low, high + 1):
            # The smallest grid that begins like this has the size `low` in all other dimensions.
            # If it is too large, so are those of the larger sizes that would follow here.
            fewest_nodes = prod(begin) * size * low ** (num_missing - 1)
            if self.max_nodes is not None and fewest_nodes > self.max_nodes:
                return
            yield from self._grids_from((*begin, size))


class Boxes(StudyPart):
    """Take grids of all sizes, for the parameter `dims`."""

    boxes: Box = Field(description="Which sizes")


_SWEEP_KEYS = ("sweep", "range", "boxes")


def _value_form(value: Any) -> str | None:
    """Return the branch of `Value` that a value belongs to; None if it has no valid form."""
    if isinstance(value, (dict, Sweep, Range, Boxes)):
        keys = value if isinstance(value, dict) else type(value).model_fields
        return next((f"<{key}>" for key in _SWEEP_KEYS if key in keys), None)
    return _scalar_form(value)


Value: TypeAlias = Annotated[
    Annotated[Sweep, Tag("<sweep>")]
    | Annotated[Range, Tag("<range>")]
    | Annotated[Boxes, Tag("<boxes>")]
    | Annotated[list[Scalar], Tag("<list>")]
    | Annotated[Scalar, Tag("<scalar>")],
    Discriminator(
        _value_form,
        custom_error_type="value_form",
        custom_error_message="a mapping here must be {sweep: [...]}, {range: n} or {boxes: {...}}",
    ),
]


MAX_INSTANCES = 10_000
"""Largest number of instances of one entry; more are probably a mistake."""


class Named(RootModel[dict[str, dict[str, Value]]]):
    """``{name: {parameter: value}}``; `Sweep`, `Range` and `Boxes` mark several values."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"minProperties": 1, "maxProperties": 1}
    )

    @field_validator("root", mode="before")
    @classmethod
    def _require_one_plugin(cls, value: Any) -> Any:
        """Refuse a mapping of several plugins, and give a plugin without parameters an empty one.

        `value` is a mapping: `Entry` selects this class for mappings only.
        """
        if len(value) != 1:
            raise ValueError(
                f"an entry names one plugin, this one names {len(value)}: write each as '- name: "
                f"{{...}}'"
            )
        # YAML reads "- name:" as {name: None}
        return {name: {} if values is None else values for name, values in value.items()}

    @model_validator(mode="after")
    def _limit_size(self) -> Named:
        if (count := count_instances(self)) > MAX_INSTANCES:
            raise ValueError(f"stands for {count} instances; the limit is {MAX_INSTANCES}")
        return self


class Systems(StudyPart):
    """The networks of the study on which a routing runs."""

    families: list[str] = Field(
        default=[], description="Only networks of these plugins, such as `[hamming]`"
    )
    max_nodes: int | None = Field(
        default=None,
        ge=1,
        description="Only grids without failures with at most this number of switches",
    )
    sample: int | None = Field(
        default=None,
        ge=1,
        description="Number of networks to draw at random from each entry of `topologies`",
    )
    seed: int = Field(
        default=0, ge=0, description="Seed of the draw; a larger sample contains the smaller ones"
    )

    @model_validator(mode="after")
    def _require_choice(self) -> Systems:
        if not self.families and self.max_nodes is None and self.sample is None:
            raise ValueError("set families, max_nodes or sample")
        return self


class Use(StudyPart):
    """An instance under another name, on some of the networks, or with some of the routings."""

    use: str = Field(description="Instance name or composition")
    as_: (
        Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100)]
        | None
    ) = Field(
        default=None,
        alias="as",
        description="Name in results, tables and figures; it must have one meaning in the study",
    )
    on: Systems | None = Field(
        default=None, description="Networks that a routing runs on (default: all)"
    )
    routings: list[str] = Field(
        default=[],
        description="Names of the routings that a workload with an alias runs with (default: all)",
    )

    @model_validator(mode="after")
    def _require_settings(self) -> Use:
        if self.as_ is None and self.on is None:
            raise ValueError("give it an alias with 'as: NAME', or select networks with 'on'")
        return self


def _entry_form(value: Any) -> str | None:
    """Return the branch of `Entry` that a value belongs to; None if it has no valid form."""
    if isinstance(value, str):
        return "<name>"
    if isinstance(value, dict):
        return "<use>" if "use" in value else "<named>"
    if isinstance(value, (Use, Named)):
        return "<use>" if isinstance(value, Use) else "<named>"
    return None


Entry: TypeAlias = Annotated[
    Annotated[str, Tag("<name>")] | Annotated[Named, Tag("<named>")] | Annotated[Use, Tag("<use>")],
    Discriminator(
        _entry_form,
        custom_error_type="entry_form",
        custom_error_message=(
            "an entry must be a name, {name: {parameter: value}} or {use: name, as: alias}"
        ),
    ),
]


@dataclass(frozen=True)
class Choice:
    """One instance that an entry selects.

    Attributes
    ----------
    name : str
        The key of a plugin, such as ``dragonfly``, if `values` has its parameters; otherwise a
        whole instance name, such as ``dragonfly~h=2``.
    values : dict or None
        Parameters, one value each; None if `name` is a whole instance name. They do not count in
        the hash, because a dict has none.
    alias : str or None
        Name in results, tables and figures; None: the instance's own name.
    on : Systems or None
        The networks that a routing runs on; None: all.
    """

    name: str
    values: dict[str, Scalar | list[Scalar]] | None = field(default=None, hash=False)
    alias: str | None = None
    on: Systems | None = None


def choices(entry: str | Named | Use) -> Iterator[Choice]:
    """Yield the instances that an entry selects, in order.

    ``{dragonfly: {h: {sweep: [2, 3]}, seed: {range: 2}}}`` selects four: each h with the seeds 0
    and 1.
    """
    if isinstance(entry, str):
        yield Choice(entry)
    elif isinstance(entry, Use):
        yield Choice(entry.use, alias=entry.as_, on=entry.on)
    else:
        ((name, parameters),) = entry.root.items()
        for values in product(*map(_list_values, parameters.values())):
            yield Choice(name, dict(zip(parameters, values, strict=True)))


def count_instances(entry: str | Named | Use) -> int:
    """Return the number of instances that `entry` selects."""
    if not isinstance(entry, Named):
        return 1
    ((_, parameters),) = entry.root.items()
    return prod(_count_values(value) for value in parameters.values())


def _count_values(value: Value) -> int:
    # a range may be too long to be listed
    return value.range if isinstance(value, Range) else len(_list_values(value))


def _list_values(value: Value) -> list[Any]:
    """Return the values that a parameter takes one after the other."""
    if isinstance(value, Sweep):
        return list(value.sweep)
    if isinstance(value, Range):
        return list(range(value.range))
    if isinstance(value, Boxes):
        return list(value.boxes.grids)
    # a scalar, or a list that is itself the value of one parameter
    return [value]
