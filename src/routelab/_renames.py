"""Names that were replaced, with their replacements: the only place for deprecations.

A replaced name works with a warning until the version in which it goes. From then on it is an error
that names the replacement. To rename something, add a line to `RENAMES`, at least one minor version
before the old name goes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pkgutil import resolve_name
from typing import Literal, NamedTuple, TypeAlias

Sort: TypeAlias = Literal["study", "cluster", "plugin", "parameter", "option", "api"]


class Rename(NamedTuple):
    """A replaced name.

    Attributes
    ----------
    sort : Sort
    old : str
        ``limits.time`` (key of a study or cluster; ``*`` stands for any key or item),
        ``routing/name`` (plugin), ``routing/name.key`` (parameter), ``routelab bench --name``
        (option), ``routelab.metrics.name`` (API).
    new : str
        The new name: the last key, the plugin's name, the parameter, the option, or the complete
        name in the API. Empty: there is no replacement.
    gone : str
        First version without the old name.
    why : str
        What to do if there is no replacement.
    """

    sort: Sort
    old: str
    new: str
    gone: str
    why: str = ""

    @property
    def is_gone(self) -> bool:
        """Whether this version no longer accepts the old name."""
        # no import: the sources of every job would then have all that the package can import
        version: str = sys.modules["routelab"].__version__
        return _numbers(self.gone) <= _numbers(version)

    def message(self) -> str:
        """Return what is deprecated or gone, what to write instead, and the version."""
        advice = f"use {self.new}" if self.new else self.why
        if self.is_gone:
            return f"{self.old} was removed in version {self.gone}; {advice}"
        return f"{self.old} is deprecated and will be removed in version {self.gone}; {advice}"


RENAMES: tuple[Rename, ...] = (
    Rename("option", "routelab bench --predict", "", "0.1", "leave it out; it had no effect"),
    *(
        Rename("api", f"routelab.metrics.{old}", f"routelab.metrics.{new}", "0.2")
        for old, new in (
            ("RouteDiversity", "RouteCounts"),
            ("WorstPermutation", "PermutationLoad"),
            ("joined_pairs", "connected_pairs"),
            ("phase_maxima_of", "phase_loads"),
        )
    ),
    Rename(
        "api",
        "routelab.metrics.destination_based",
        "",
        "0.1",
        "use the attribute destination_based of the route table",
    ),
)
"""All replaced names."""


def find_rename(sort: Sort, old: str) -> Rename | None:
    """Return the rename of a name; None if it was not replaced."""
    return next((one for one in RENAMES if (one.sort, one.old) == (sort, old)), None)


def renames_of(sort: Sort) -> Iterator[Rename]:
    """Iterate over the replaced names of a sort."""
    return (one for one in RENAMES if one.sort == sort)


def renamed_attribute(module: str, name: str) -> object:
    """Return the replacement of a name in the API, with a DeprecationWarning.

    Modules with replaced names call this in ``__getattr__``.

    Raises
    ------
    AttributeError
        If the name does not exist, or is gone; then the text names the replacement.
    """
    rename = None
    if not name.startswith("_"):
        rename = find_rename("api", f"{module}.{name}") or _moved(module, name)
    if rename is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    if rename.is_gone or not rename.new:
        raise AttributeError(rename.message())
    warnings.warn(rename.message(), DeprecationWarning, stacklevel=3)
    found: object = resolve_name(rename.new)
    return found


def _moved(module: str, name: str) -> Rename | None:
    """Return the rename of a helper that moved from the contract to the toolkit."""
    toolkit = module.removesuffix("api") + "toolkit"
    if module != "routelab.api" or name not in resolve_name(f"{toolkit}:__all__"):
        return None
    return Rename("api", f"{module}.{name}", f"{toolkit}.{name}", "0.2")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])
