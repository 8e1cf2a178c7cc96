"""Show routelab's version in the header and in the titles of the manual's pages."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig

INIT = Path(__file__).parents[1] / "src/routelab/__init__.py"


def on_config(config: MkDocsConfig) -> None:
    """Append the version to the name of the site."""
    found = re.search(r'^__version__ = "(.+)"$', INIT.read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None, f"{INIT} has no __version__"
    config.site_name += f" {found[1]}"
