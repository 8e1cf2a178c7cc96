"""Replaced keys of studies and clusters: a warning, or a mistake that names the new key."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from routelab._renames import renames_of
from routelab.config.document import Document
from routelab.config.errors import ConfigError

logger = logging.getLogger(__name__)


def replace_keys(document: Document, sort: Literal["study", "cluster"]) -> None:
    """Replace the old keys in the data of a document.

    Raises
    ------
    ConfigError
        Lists the keys that are gone, and those of which the old and the new one are present.
    """
    mistakes = []
    for rename in renames_of(sort):
        *parents, old = rename.old.split(".")
        for location, mapping in list(_mappings(document.data, parents)):
            if old not in mapping:
                continue
            place = document.place((*location, old))
            if rename.is_gone or not rename.new:
                mistakes.append(f"{place}{rename.message()}")
            elif rename.new in mapping:
                mistakes.append(f"{place}remove it, because {rename.new} is present, too")
            else:
                logger.warning("%s%s", place, rename.message())
                mapping[rename.new] = mapping.pop(old)
    if mistakes:
        raise ConfigError(mistakes)


def _mappings(
    data: Any, steps: Sequence[str], location: tuple[int | str, ...] = ()
) -> Iterator[tuple[tuple[int | str, ...], dict[str, Any]]]:
    """Iterate over the mappings at a path, with their locations; ``*`` is any key or item."""
    if not steps:
        if isinstance(data, dict):
            yield location, data
        return
    step, *rest = steps
    if isinstance(data, list):
        items: Iterator[tuple[int | str, Any]] = iter(enumerate(data)) if step == "*" else iter(())
    elif isinstance(data, dict):
        items = iter(data.items() if step == "*" else [(step, data[step])] if step in data else [])
    else:
        return
    for key, value in items:
        yield from _mappings(value, rest, (*location, key))
