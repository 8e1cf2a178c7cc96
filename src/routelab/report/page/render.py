"""Pages from templates."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from routelab import __version__
from routelab.results.atomic import atomic_file


def write_page(template: str, path: Path, **values: Any) -> None:
    """Write a page from a template of `routelab.report`."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("routelab.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["breakable"] = breakable
    page = environment.get_template(template)
    write_text(path, page.render(version=__version__, **values))


def breakable(text: str) -> Markup:
    """Return a text as HTML whose lines may end between the parameters of a name."""
    return Markup(re.sub("([~,@+])", r"\1<wbr>", str(escape(text))))


def write_text(path: Path, text: str) -> None:
    """Write a file in one step."""
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8")
