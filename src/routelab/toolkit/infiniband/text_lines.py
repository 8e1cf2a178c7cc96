"""Lines of files that InfiniBand tools print, with their places for messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from routelab.api.errors import InputError, MissingInputError
from routelab.toolkit.input_files import read_bytes

MAX_GUID = (1 << 64) - 1
MAX_LID = 0xBFFF
"""Largest unicast LID: InfiniBand Architecture Specification, volume 1, section 4.1.3."""
MAX_PORT = 254
"""Largest number of a port of a switch; 255 in a forwarding table means no entry."""

REPLACED_COMMAND = r"\*\*\* WARNING \*\*\*: this command has been replaced by .*"
"""Line that ``dump_lfts`` prints at its end, as a regular expression."""

_STRAYS = (
    (
        re.compile(
            r"(?:ib(?:warn|panic|error|debug|netdiscover|route)|smpquery): |\S+\.c:[0-9]+[;:] "
        ),
        (
            "is a message of standard error; write the output alone to the file (without 2>&1), "
            "and see whether the program left out what it complains about"
        ),
    ),
    (
        re.compile(r"(?:Non-)?Chassis (?:Nodes\b|[0-9])"),
        "is a heading of ibnetdiscover -g, which lists nodes of a chassis twice; run it without -g",
    ),
    (
        re.compile(r"(?:Ca|Switch|Rt)[ \t]+: 0x"),
        "is a line of ibnetdiscover -l, -S, -H or -R, which lists no cables; run it without them",
    ),
)
"""Lines that other options and streams of the programs print, and what to do about them."""


@dataclass(frozen=True)
class TextFile:
    """Lines of a text file.

    Attributes
    ----------
    name : str
        File name, for messages.
    lines : tuple of str
        Lines without their ends. Bytes that are not valid UTF-8 are written as escapes.
    is_ended : bool
        Whether the last line has a line feed.
    """

    name: str
    lines: tuple[str, ...]
    is_ended: bool = True

    @classmethod
    def read(cls, path: Path) -> TextFile:
        """Read a file.

        Raises
        ------
        InputError
            If it cannot be read or holds null characters.
        """
        try:
            content = read_bytes(path)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        if b"\0" in content:
            raise InputError(f"{path}: is not a text file")
        return cls.of(str(path), content.decode("utf-8", "backslashreplace"))

    @classmethod
    def of(cls, name: str, text: str) -> TextFile:
        """Split a text into lines at line feeds only; descriptions may hold other separators."""
        *lines, unfinished = text.split("\n")
        if unfinished:
            lines.append(unfinished)
        return cls(name, tuple(line.rstrip("\r") for line in lines), not unfinished)

    def location(self, line: int) -> str:
        """Return the file and the number of a line, counted from 1, for messages."""
        return f"{self.name}:{line}"

    def error(self, line: int, text: str) -> InputError:
        """Return an error about a line, counted from 1."""
        return InputError(f"{self.location(line)}: {text}")

    def stray(self, line_number: int, expected: str) -> InputError:
        """Return an error about a line, counted from 1, that is not what was expected.

        Parameters
        ----------
        line_number : int
        expected : str
            What the lines of the file are, e.g. ``a line of a forwarding table``.
        """
        line = self.lines[line_number - 1].strip()
        known_reasons = (reason for form, reason in _STRAYS if form.match(line))
        reason = next(known_reasons, f"is not {expected}")
        return self.error(line_number, f"{shorten(line)} {reason}")

    def missing_input(self, line: int, text: str) -> MissingInputError:
        """Return an error about a valid line, from 1 on, whose meaning depends on missing input."""
        return MissingInputError(f"{self.location(line)}: not enough input: {text}")


def guid_text(guid: int) -> str:
    """Return a GUID as InfiniBand tools print it: 0x and 16 hexadecimal digits."""
    return f"0x{guid:016x}"


def shorten(text: str, limit: int = 60) -> str:
    """Return a line for a message, shortened and quoted."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")
