"""Which mutants there are, and which check has to catch each."""

from __future__ import annotations

from typing import Any

import uncompiled_hops
import wrong_hops
import wrong_metrics
import wrong_routings
import wrong_rules
import wrong_selections
import wrong_topologies
import wrong_traffic
import wrong_workloads
from right import RIGHT

MODULES = (
    uncompiled_hops,
    wrong_hops,
    wrong_topologies,
    wrong_rules,
    wrong_selections,
    wrong_routings,
    wrong_metrics,
    wrong_traffic,
    wrong_workloads,
)

CASES: list[tuple[str, str, str, str]] = []
"""Kind, key, check, and a part of the message."""
POINTS: dict[str, dict[str, str]] = {}
"""Entry points by kind and key."""


def _add(plugin: Any) -> None:
    POINTS.setdefault(plugin.kind, {})[plugin.name] = f"{plugin.__module__}:{plugin.__name__}"


for right in RIGHT:
    _add(right)
for module in MODULES:
    for member in vars(module).values():
        if isinstance(member, type) and "caught" in vars(member):
            _add(member)
            CASES.append((member.kind, member.name, *member.caught))
POINTS["metric"] |= {
    "fails-to-import": "fails_to_import:Broken",
    "never-imported": "never_imported:Broken",
    "kills-on-import": "kills_on_import:Broken",
}
CASES += [
    ("metric", "fails-to-import", "contract", "No module named 'a_module_that_is_not_there'"),
    ("metric", "never-imported", "contract", "took longer than 0.7 s (/"),
    ("metric", "kills-on-import", "contract", "killed by SIGSEGV"),
]
