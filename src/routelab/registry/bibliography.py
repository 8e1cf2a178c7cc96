"""Where the bibliography of a plugin is; this does not read it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from routelab.api import Plugin

NAME = "references.bib"
"""Name of the bibliography in a package."""


def find_bibliography(module: str) -> Path | None:
    """Find the bibliography of an imported module.

    It is the file ``references.bib`` in the package that is nearest to the module, from the
    module itself up to the top-level package. A module outside packages, ``mine.py``, has
    ``mine.bib`` beside it.

    Returns
    -------
    file : Path or None
        None if there is none.
    """
    package = module
    while package:
        for folder in getattr(sys.modules.get(package), "__path__", ()):
            file = Path(folder) / NAME
            if file.is_file():
                return file
        package = package.rpartition(".")[0]
    source = getattr(sys.modules.get(module), "__file__", None)
    if source is not None and _is_alone(module):
        file = Path(source).with_name(f"{module}.bib")
        if file.is_file():
            return file
    return None


def expected_place(module: str) -> str:
    """Describe where the bibliography of an imported module has to be."""
    package = module.partition(".")[0]
    if _is_alone(module):
        return f"{package}.bib beside the module {package}"
    return f"{NAME} in the package {package}"


def _is_alone(module: str) -> bool:
    return "." not in module and not hasattr(sys.modules.get(module), "__path__")


def bibliography_files(plugins: Iterable[Plugin]) -> list[Path]:
    """List the bibliographies of plugins, each once."""
    files = (find_bibliography(type(plugin).__module__) for plugin in plugins if plugin.citations)
    return [file for file in dict.fromkeys(files) if file is not None]
