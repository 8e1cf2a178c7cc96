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
    """Base of dataclasses whose contents must not change after `create`.

    `create` computes the checksum of each field. Code that calls plugins compares them with the
    fields afterwards (`changes`), to find a plugin that writes to its input.
    """

    @cached_property
    def checksums(self) -> Mapping[str, int]:
        """Checksum of each field at `create`, by name."""
        return self._checksums()

    def changes(self) -> list[str]:
        """Return the names of the fields that changed after `create`.

        Arrays cannot be written to by mistake, but code that made an array without a copy (see
        `adopt_array`) may make it writable again.
        """
        at_creation, now = self.checksums, self._checksums()
        return [name for name, number in now.items() if number != at_creation[name]]

    def _checksums(self) -> dict[str, int]:
        """Compute the checksum of each field as it is now."""
        names = [field.name for field in fields(self)]  # type: ignore[arg-type]
        return {name: value_checksum(getattr(self, name)) for name in names}


def value_checksum(value: Any) -> int:
    """Return the checksum of a hashable value, an array, or a mapping or list of them.

    It is valid in this process only, because each process hashes texts differently.
    """
    if isinstance(value, np.ndarray):
        return hash((value.dtype.str, value.shape, _array_checksum(value)))
    if isinstance(value, Mapping):
        return hash(tuple((key, value_checksum(item)) for key, item in value.items()))
    try:
        return hash(value)
    except TypeError:  # a list, or a tuple of lists
        return hash(tuple(map(value_checksum, value)))


def _array_checksum(array: NDArray[Any]) -> int:
    """Return a checksum of an array's bytes: words of 8 bytes, and up to 7 bytes behind them."""
    octets = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    words_end = len(octets) // 8 * 8
    words = octets[:words_end].view(np.uint64)
    # the kernel is compiled for aligned, read-only arrays alone
    if not words.flags.aligned:
        words = words.copy()
    words.flags.writeable = False
    return hash((int(checksum(words)), octets[words_end:].tobytes()))
