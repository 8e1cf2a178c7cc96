"""What the process of a page imports."""

from __future__ import annotations

import subprocess
import sys

STUDY = """\
title: Small
topologies: [torus~dims=4x2]
routings: [dor, {angara-sssp: {tie_seed: {range: 2}}}]
tables:
  loads: {rows: [routing, tie_seed], values: [max_load, max_load_ratio],
    relative: {to: dor, column: max_load}}
figures: {spread: {kind: ecdf, x: load}}
"""
WRITE_PAGE = """
import sys
from pathlib import Path
from routelab.workflow.report import write_report
write_report(Path("small.yaml"), Path("results"), Path("page"))
modules = [name.split(".") for name in sys.modules if name.startswith("routelab_plugins.")]
print(*sorted({"/".join(module[1:3]) for module in modules if len(module) > 2}))
"""


def test_a_page_imports_the_plugins_of_its_study_only(tmp_path):
    (tmp_path / "small.yaml").write_text(STUDY)
    run = subprocess.run(
        [sys.executable, "-c", WRITE_PAGE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (tmp_path / "page" / "index.html").is_file()
    # those named, and their parts; `tie_seed` and `max_load_ratio` are columns of no plugin
    # (all metrics tell whether they run unless they are named)
    assert [plugin for plugin in run.stdout.split() if not plugin.startswith("metric/")] == [
        "layers/none",
        "routing/angara_sssp",
        "routing/dor",
        "rules/angara",
        "rules/dimension_order",
        "selection/first",
        "selection/sssp",
        "topology/torus",
    ]
