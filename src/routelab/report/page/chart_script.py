"""The script that draws interactive figures: one file for all pages of a report."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import vl_convert

from routelab.artifacts.atomic import atomic_file

_PACKAGE = metadata.distribution("vl-convert-python")
NAME = f"vega-{vl_convert.get_vega_version()}-{_PACKAGE.version}.js"
"""File name; it contains the versions, so that older pages of a report keep their script."""
_OWNERS = (
    "Vega, Vega-Lite, Vega-Embed: copyright University of Washington Interactive Data Lab and "
    "contributors, BSD-3-Clause.\nD3: copyright Mike Bostock, ISC.\nBundled by vl-convert:\n"
)


def write_chart_script(folder: Path) -> None:
    """Write the script to a folder, unless it is already there."""
    path = folder / NAME
    if path.is_file():
        return
    notice = f"/*\n{_OWNERS}{_PACKAGE.read_text('licenses/LICENSE') or ''}\n*/\n"
    with atomic_file(path) as new:
        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        new.write_text(notice + script, encoding="utf-8")
