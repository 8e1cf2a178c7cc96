"""Which tests can notice what plugins are installed: a run without built-ins needs no others."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from routelab._sources import Sources

REFERENCE = Path(__file__).parent
TESTS = REFERENCE.parent
NAMES_OF_MODULES = (b"entry_points", b"import_module", b"__import__", b"importlib.", b"exec(")
"""Texts in modules that import others by name, as plugins are imported."""
NO_PLUGINS = {
    "routelab": "imports its own submodules on use",
    "routelab._numba_cache": "keeps compiled code of plugins apart from other compiled code",
    "routelab._numba_hook": "imports the module before this one",
    "routelab._sources": "imports nothing, and reads what plugins import",
}
"""Modules that do so for another reason."""


class PluginSight:
    """Tell from imports, in functions too, which files of tests can find a plugin."""

    def __init__(self) -> None:
        self._sources = Sources()
        references = {path.stem for path in REFERENCE.glob("*.py")}
        self._roots = {"routelab", "routelab_plugins", *references}
        self._known: dict[Path, bool] = {}

    def can_find_plugins(self, file: Path) -> bool:
        """Return whether a file, or anything that it imports, can find a plugin."""
        if file not in self._known:
            name = f"file {len(self._known)}"
            self._sources.add_script(name, str(file))
            self._known[file] = any(map(self._finds, self._imported(name)))
        return self._known[file]

    def _imported(self, name: str) -> Iterable[str]:
        return self._sources.closure([name], self._roots | {name})

    def _finds(self, module: str) -> bool:
        if module.partition(".")[0] == "routelab_plugins":
            return True
        text = self._sources.text(module)
        return module not in NO_PLUGINS and any(word in text for word in NAMES_OF_MODULES)

    def of_test(self, item: pytest.Item) -> bool:
        """Return whether a test or one of its fixtures is in such a file."""
        files = {item.path}
        if isinstance(item, pytest.Function):
            for fixtures in item._fixtureinfo.name2fixturedefs.values():
                files |= {Path(one.func.__code__.co_filename) for one in fixtures}
        return any(self.can_find_plugins(file) for file in files if file.is_relative_to(TESTS))
