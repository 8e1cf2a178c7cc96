"""Folders of text files that are written completely or not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from routelab.api import InputError
from routelab.results.atomic import atomic_directory, check_folder_writable
from routelab.toolkit.input_files import is_folder, read_text

MAX_NAMED_FILES = 3
"""Largest number of files that a message names."""


def check_text_folder(
    folder: Path, files: Sequence[str] | None = None, description: str = "these"
) -> None:
    """Raise an InputError if a folder cannot be written, or has files that would be lost.

    Parameters
    ----------
    folder : Path
    files : sequence of str, optional
        Names of the files to write; the folder may have no others.
    description : str
        What the files are, for messages.
    """
    if files is not None and is_folder(folder):
        other_files = sorted(entry.name for entry in folder.iterdir() if entry.name not in files)
        if other_files:
            names = ", ".join(other_files[:MAX_NAMED_FILES])
            num_unnamed = len(other_files) - MAX_NAMED_FILES
            more = f" and {num_unnamed} more" if num_unnamed > 0 else ""
            raise InputError(
                f"cannot write {folder}: it has files that are not {description} "
                f"({names}{more}), which would be lost; name a new folder"
            )
    check_folder_writable(folder)


def write_folder(files: Mapping[str, str], folder: Path, description: str = "these") -> None:
    """Replace a folder by one with these files; after an error it is as before.

    Parameters
    ----------
    files : mapping of str to str
        Text by file name.
    folder : Path
    description : str
        What the files are, for messages.

    Raises
    ------
    InputError
        If the folder cannot be written, or has other files, which would be lost.
    """
    check_text_folder(folder, list(files), description)
    with atomic_directory(folder) as draft:
        for name, text in files.items():
            (draft / name).write_text(text, encoding="utf-8")


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of every file in a folder, by name; skip folders in it.

    Raises
    ------
    InputError
        If the folder does not exist, or a file cannot be read as text.
    """
    if not is_folder(folder):
        raise InputError(f"cannot read {folder}: folder not found")
    texts = {}
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            continue
        try:
            texts[path.name] = read_text(path).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError:
            raise InputError(f"cannot read {path}: it is not UTF-8 text") from None
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
    return texts
