"""Typed parameters: one declaration gives validation, names, schema, documentation and help."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    ValidationInfo,
    field_validator,
)
from pydantic import Field as parameter  # noqa: N813 - it reads as what it declares

from routelab.api.number_texts import check_number_text

__all__ = [
    "Bytes",
    "Dims",
    "Integers",
    "NameOf",
    "Numbers",
    "Parameters",
    "RoutingName",
    "Words",
    "bytes_text",
    "parameter",
    "parse_bytes",
    "parse_dims",
    "split_items",
]


MAX_INTEGER = 2**63 - 1
"""Largest absolute value of an integer parameter: arrays hold integers of 64 bits."""
MAX_DIMS = 32
"""Largest number of dimensions, the limit of arrays in older versions of NumPy."""


def _alias(field: str) -> str:
    """Return a field's name for users: ``from`` for the field ``from_``."""
    return field.removesuffix("_")


class Parameters(BaseModel):
    """Base of every plugin's parameters: frozen, typed, unknown keys are errors.

    Declare fields with `parameter(default, description=...)` and pydantic's constraints
    (``ge``, ``le``, ``Literal``). A field whose name is a Python keyword gets a trailing
    underscore, which users never see.

    Examples
    --------
    >>> from routelab.api import Parameters, parameter
    >>> class Sizes(Parameters):
    ...     switches: int = parameter(8, ge=2, description="Number of switches")
    >>> Sizes(switches=4).switches
    4
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=_alias,
        validate_by_name=True,
        validate_by_alias=True,
        validate_default=True,
    )

    @field_validator("*", mode="before")
    @classmethod
    def _read_none(cls, value: Any, info: ValidationInfo) -> Any:
        """Read ``none`` in a name as None if the field allows None and not text."""
        if not isinstance(value, str) or value != "none" or info.field_name is None:
            return value
        allowed = get_args(cls.model_fields[info.field_name].annotation)
        return None if NoneType in allowed and str not in allowed else value

    @field_validator("*", mode="before")
    @classmethod
    def _check_digits(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse numbers in other digits than 0 to 9, if the field takes numbers but no texts."""
        if not isinstance(value, str | list | tuple) or info.field_name is None:
            return value
        types = _types_within(cls.model_fields[info.field_name].annotation)
        if not types & {int, float} or types & {str, Path}:
            return value
        items = value.split("+") if isinstance(value, str) else value
        for item in items:
            if isinstance(item, str) and item:
                check_number_text(item)
        # Above, "+5" passed as the items "" and "5", and "1e+9" as "1e" (no number) and "9". If the
        # field takes one number only, "+" separates no items: refuse +5, and let 1e+9 pass.
        if isinstance(value, str) and tuple not in types:
            check_number_text(value)
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _refuse_huge(cls, value: Any) -> Any:
        """Refuse integers that arrays cannot hold."""
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, int) and abs(number) > MAX_INTEGER:
                raise ValueError(f"must be between -{MAX_INTEGER} and {MAX_INTEGER} (2^63 - 1)")
        return value

    @field_validator("*", mode="after")
    @classmethod
    def _expand_home(cls, value: Any) -> Any:
        """Expand ``~/file`` to a file in the user's home folder, as shells do."""
        if not isinstance(value, Path):
            return value
        try:
            return value.expanduser()
        except RuntimeError:
            raise ValueError(
                f"cannot find the home folder of {value}; write the whole path"
            ) from None

    def texts(self) -> dict[str, str]:
        """Return all fields as they are written in an instance name, in order of declaration.

        Fields with ``exclude`` are not written: they are presets, which set other fields.
        """
        return {
            _alias(name): value_text(getattr(self, name), self._dump(name))
            for name, field in type(self).model_fields.items()
            if not field.exclude
        }

    def non_defaults(self) -> dict[str, str]:
        """Return the `texts` of fields that differ from their defaults."""
        texts = self.texts()
        for name, field in type(self).model_fields.items():
            default = field.get_default(call_default_factory=True)
            if not field.is_required() and getattr(self, name) == default:
                texts.pop(_alias(name), None)  # fields with ``exclude`` are not in `texts`
        return texts

    def canonical(self) -> str:
        """Return the values that differ from the defaults, as ``vcs=2,packet_flits=16``."""
        return ",".join(
            f"{name}=[{value}]" if "=" in value else f"{name}={value}"
            for name, value in self.non_defaults().items()
        )

    def _dump(self, name: str) -> Any:
        return self.model_dump(mode="json", include={name})[name]


def _types_within(annotation: Any) -> set[Any]:
    """Return all types in an annotation: tuple, int and ... for ``tuple[int, ...]``."""
    # the arguments of Literal are values, not types
    if get_origin(annotation) is Literal:
        return set()
    inner_types = map(_types_within, get_args(annotation))
    return {get_origin(annotation) or annotation}.union(*inner_types)


def value_text(value: Any, dumped: Any) -> str:
    """Return a parameter's value as it is written in an instance name.

    Parameters
    ----------
    value : object
        The value of the field.
    dumped : object
        The same value as pydantic serializes it to JSON: dimensions are ``"4x2"``, lists are lists.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "none"
    if isinstance(dumped, (list, tuple)):
        return "+".join(str(item) for item in dumped)
    return str(dumped)


def parse_dims(value: Any) -> Any:
    """Read dimensions from ``"4x2x2"``, an integer or a sequence, before pydantic checks them.

    Other values are returned as they are, because pydantic refuses them.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,)
    if isinstance(value, str):
        if not re.fullmatch(r"[0-9]+(x[0-9]+)*", value):
            raise ValueError(f"{value!r} is not a list of dimensions; write them as 4x2x2")
        sizes = value.split("x")
        _check_num_dims(sizes)
        # int() refuses texts of thousands of digits, with a message about Python
        if max(map(len, sizes)) > len(str(MAX_INTEGER)):
            raise ValueError(f"sizes must be at most {MAX_INTEGER}")
        return tuple(int(size) for size in sizes)
    if isinstance(value, list | tuple):
        _check_num_dims(value)
    return value


def _check_num_dims(sizes: Sequence[Any]) -> None:
    if len(sizes) > MAX_DIMS:
        raise ValueError(
            f"there are {len(sizes)} sizes, but a network has at most {MAX_DIMS} dimensions"
        )


def split_items(text: str) -> tuple[str, ...]:
    """Return the items of a list such as ``a+b``; an empty text is an empty list.

    Raises
    ------
    ValueError
        If an item is empty.
    """
    items = tuple(text.split("+")) if text else ()
    if not all(items):
        raise ValueError(f"{text!r} has an empty item; separate items with a single '+'")
    return items


def _read_list(value: Any) -> Any:
    """Read a list from ``"a+b"``, a number or a sequence, before pydantic checks its items.

    Other values are returned as they are, because pydantic refuses them.
    """
    if isinstance(value, str):
        return split_items(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value,)
    if isinstance(value, list | tuple):
        if "" in value:
            raise ValueError("an item of the list is empty; remove it")
        return tuple(value)
    return value


def _join_dims(value: Iterable[int]) -> str:
    return "x".join(map(str, value))


Dims = Annotated[
    tuple[int, ...], BeforeValidator(parse_dims), PlainSerializer(_join_dims, return_type=str)
]
"""Sizes of dimensions, written ``4x2x2x2``."""

UNITS = {
    "KiB": 1 << 10,
    "MiB": 1 << 20,
    "GiB": 1 << 30,
    "kB": 1000,
    "MB": 1000**2,
    "GB": 1000**3,
    "B": 1,
}
"""Units of bytes, as the IEC and the SI define them."""


def parse_bytes(value: Any) -> Any:
    """Read bytes from ``"1MiB"``, ``"1.5 MB"`` or a number, before pydantic checks them."""
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"(?P<amount>[0-9]+(?:\.[0-9]+)?) ?(?P<unit>[A-Za-z]*)", value)
    units = {unit.lower(): size for unit, size in UNITS.items()} | {"": 1}
    if match is None or match["unit"].lower() not in units:
        raise ValueError(f"{value!r} is not a size; write 4096, 64KiB, 1MiB or 1MB")
    # a fraction, because 1.001 * 1000 is 1000.9999999999999 in floats
    size = Fraction(match["amount"]) * units[match["unit"].lower()]
    if size.denominator != 1:
        raise ValueError(f"{value!r} is not a whole number of bytes")
    return int(size)


def bytes_text(value: int) -> str:
    """Return a text that `parse_bytes` reads as `value`, such as ``64KiB`` for 65536.

    The unit is the largest that leaves a whole number; binary units come before decimal ones.
    """
    for unit in ("GiB", "MiB", "KiB", "GB", "MB", "kB"):
        if value and value % UNITS[unit] == 0:
            return f"{value // UNITS[unit]}{unit}"
    return str(value)


Bytes = Annotated[int, BeforeValidator(parse_bytes), PlainSerializer(bytes_text, return_type=str)]
"""A number of bytes, written ``4096``, ``1MiB`` or ``1MB``."""

Integers = Annotated[tuple[int, ...], BeforeValidator(_read_list)]
"""A list of integers, written ``3+7``."""

Numbers = Annotated[tuple[float, ...], BeforeValidator(_read_list)]
"""A list of numbers, written ``0.1+0.5``."""

Words = Annotated[tuple[str, ...], BeforeValidator(_read_list)]
"""A list of words, written ``0-1+3-7``."""


@dataclass(frozen=True)
class NameOf:
    """Annotation of a text field that is the instance name of a plugin of some kind.

    The registry loads the plugin and passes it to the plugin that has the parameter.
    """

    kind: str


RoutingName = Annotated[str, NameOf("routing")]
"""A routing by its name, in brackets if it has parameters: ``valiant~base=[dor~ties=positive]``.

The routing is in the `parts` of the plugin (`routelab.api.HopRoutingPlugin`), under the field's
name. A default must be a canonical name.
"""
