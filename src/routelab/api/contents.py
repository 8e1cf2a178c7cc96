"""Checksums of the contents of networks, graphs and tables, to find changes in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from routelab.kernels.checksum import checksum


class Contents:
    """Base of dataclasses whose contents must not change after `create`."""

    @cached_property
    def checksums(self) -> Mapping[str, int]:
        """Return a checksum of each field; computed once, by `create`."""
        return self._checksums()

    def changes(self) -> list[str]:
        """Return the names of the fields that changed after `create`.

        Arrays cannot be written to by mistake, but code that made an array may still have it.
        """
        known, found = self.checksums, self._checksums()
        return [name for name, number in found.items() if number != known[name]]

    def _checksums(self) -> dict[str, int]:
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {name: value_checksum(getattr(self, name)) for name in names}


def value_checksum(value: Any) -> int:
    """Return the checksum of an array, a mapping or a hashable value, valid in this process."""
    if isinstance(value, np.ndarray):
        return hash((value.dtype.str, value.shape, _array_checksum(value)))
    return hash(repr(dict(value)) if isinstance(value, Mapping) else value)


def _array_checksum(array: NDArray[Any]) -> int:
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    whole = len(flat) // 8 * 8
    words = flat[:whole].view(np.uint64)
    if not words.flags.aligned:
        words = words.copy()
    # the kernel is compiled for read-only arrays alone
    words.flags.writeable = False
    return hash((int(checksum(words)), flat[whole:].tobytes()))
