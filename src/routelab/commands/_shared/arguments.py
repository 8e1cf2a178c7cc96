"""Types of command-line arguments, and options that several commands have."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from routelab.commands._shared.output import FORMATS

MAX_NAME, MAX_PATH = 255, 4095
"""Longest name of a file, and longest path, in bytes: the limits of Linux."""

MAX_FOLDERS = 200
"""Most folders in a path: Python makes a path of many missing folders by recursion."""


def positive(text: str) -> float:
    """Parse a finite number above 0."""
    from routelab.api.number_texts import read_number

    try:
        value = read_number(text)
    except ValueError:
        # NaN fails the comparison
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return value


def number(text: str) -> float:
    """Parse a number in the digits 0 to 9."""
    from routelab.api.number_texts import read_number

    try:
        return read_number(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def integer(text: str) -> int:
    """Parse an integer in the digits 0 to 9."""
    from routelab.api.number_texts import read_integer

    try:
        return read_integer(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def metric_names(text: str) -> list[str]:
    """Return the names in the value of ``--metrics``: A and B of "A+B".

    Raises
    ------
    InputError
        If the list or an item of it is empty.
    """
    from routelab.api.errors import InputError

    names = text.split("+")
    if not all(names):
        raise InputError(f"--metrics {text!r}: a name is empty; write A+B, or omit --metrics")
    return names


def study_file(path: Path) -> Path:
    """Return the file of a study: a path that exists or ends in ``.yaml``, or a name.

    Raises
    ------
    InputError
        If there is no study of that name in ``config/studies``.
    """
    # "x.yaml" is always a file; if it is missing, the error of reading it says so
    if path.suffix in (".yaml", ".yml") or path.exists():
        return path
    from routelab.workflow.options import select_studies

    (file,) = select_studies([str(path)])
    return file


def named_path(text: str) -> Path:
    """Parse a path; refuse the empty one, and those that are too long or deep to be made."""
    # `Path("")` is the working directory
    if not text:
        raise argparse.ArgumentTypeError("the name is empty; name a file or folder")
    # the limits of Linux count bytes: 255 for a name between two "/", 4095 for the path
    encoded = os.fsencode(text)
    if len(encoded) > MAX_PATH or max(map(len, encoded.split(b"/"))) > MAX_NAME:
        raise argparse.ArgumentTypeError(
            f"{text[:40]}... is too long; a name has at most {MAX_NAME} bytes and a path {MAX_PATH}"
        )
    # Python makes each missing folder by a recursive call, and recursion is limited
    if encoded.count(b"/") > MAX_FOLDERS:
        raise argparse.ArgumentTypeError(
            f"{text[:40]}... is too deep; a path has at most {MAX_FOLDERS} folders"
        )
    return Path(text)


FILE: Mapping[str, Any] = {"metavar": "FILE", "type": named_path}
FOLDER: Mapping[str, Any] = {"metavar": "FOLDER", "type": named_path}
FLAG: Mapping[str, Any] = {"action": "store_true"}
NETWORK: Mapping[str, Any] = {
    "metavar": "TOPOLOGY",
    "help": "network: instance name, folder or npz file",
}
"""Settings that many commands share, as in ``add_argument("--plot", **FILE, help=...)``."""


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the folder for results, and the format in which they are printed without it."""
    parser.add_argument(
        "-o", "--output", **FOLDER, help="folder for the result files (default: print)"
    )
    add_format_option(parser)


def add_format_option(parser: argparse._ActionsContainer, default: str = "table") -> None:
    """Add the format of printed results to a parser or a group of options."""
    text = f"output format (default: {default})"
    parser.add_argument("--format", choices=FORMATS, default=default, help=text)


def add_result_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that write a result folder, or print the result."""
    add_output_options(parser)
    parser.add_argument(
        "--keep-going",
        **FLAG,
        help="with -o: exit with code 0 for every outcome; outcome.json records it",
    )
