"""Lines and names of a list that may be typing errors, for the reader of the verdict to see.

Without a network, every name of a list is a switch, so ``b`` beside ``B`` is one switch more and
may open a ring. Names with an unusual character are common, so nothing here is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from routelab.toolkit.route_cells import VC_MARK, Rows

MAX_NOTES = 3
"""Largest number of notes of one kind."""


def doubtful_names(rows: Rows, switch_names: Iterable[str] = ()) -> list[str]:
    """Return notes on the lines that are left out, and on names that are nearly equal.

    Parameters
    ----------
    rows : Rows
    switch_names : iterable of str
        Names of the switches, if the list alone says which there are; empty if a network does.
    """
    # 1. Lines that may be routes from a switch whose name begins with #, as comments do.
    comment_notes = [f"line {line} begins with # and is left out" for line in rows.comments]
    # 2. Names that differ in case or Unicode form only.
    names = set(switch_names)
    groups: dict[str, list[str]] = {}
    for name in sorted(names):
        groups.setdefault(_fold(name), []).append(name)
    similarity_notes = [
        f"{' and '.join(map(repr, group))} count as {len(group)} switches; they differ only in "
        "case or Unicode form"
        for group in groups.values()
        if len(group) > 1
    ]
    # 3. Names of another switch with a number behind it, such as A:1 or A@1 beside A: the number
    #    may be meant as a virtual channel.
    number_notes = []
    for name in sorted(names):
        for mark in (":", VC_MARK):
            switch, _, number = name.rpartition(mark)
            if switch in names and number.isdecimal():
                number_notes.append(
                    f"{name!r} counts as a switch beside {switch!r}; virtual channels are written "
                    f"{switch}{VC_MARK}{number}, behind hops only"
                )
    notes = []
    for same_kind in (comment_notes, similarity_notes, number_notes):
        notes += same_kind[:MAX_NOTES]
        if len(same_kind) > MAX_NOTES:
            notes.append(f"and {len(same_kind) - MAX_NOTES} more like the last one")
    return notes


def _fold(name: str) -> str:
    """Return what names have in common that differ in case or Unicode form, such as B and ｂ."""
    # Invisible format characters, such as a soft hyphen.
    visible = "".join(c for c in name if unicodedata.category(c) != "Cf")
    # Case folding may undo the normal form, so it is restored.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
