"""Page of a plugin for ``routelab plugins show``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from routelab.api import Composition
from routelab.commands._shared.output import WIDER, print_table
from routelab.registry.catalogue import Catalogue, CatalogueEntry
from routelab.registry.contract import CLAIM_KINDS, composition_names
from routelab.registry.instances import parameter_rows


def print_page(entry: CatalogueEntry, catalogue: Catalogue) -> None:
    """Print what a plugin declares: parts, capabilities, parameters and citations."""
    plugin = entry.plugin
    assert plugin is not None, "a page needs a plugin that is ok"
    print(f"{entry.kind}/{entry.key}: {plugin.summary}")
    print(f"from {entry.distribution} {entry.version} ({entry.value})")
    if issubclass(plugin, Composition):
        _print_pairs("parts", {part: str(name) for part, name in composition_names(plugin).items()})
    if entry.kind in CLAIM_KINDS:
        _print_pairs("capabilities", asdict(plugin.capabilities))
    rows = [
        [row.name, row.type, row.default or "(required)", row.description]
        for row in parameter_rows(plugin, catalogue)
    ]
    print("\nparameters" if rows else "\nno parameters")
    if rows:
        names = ("name", "type", "default", "description")
        print_table(names, rows, indent="  ", first=("description",), hint=WIDER)
    print("\ncitations" if plugin.citations else "\nno citations")
    for citation in plugin.citations:
        print(f"  {citation} ({citation.cited_for})")


def _print_pairs(title: str, pairs: dict[str, Any]) -> None:
    print(f"\n{title}")
    width = max(map(len, pairs))
    for name, value in pairs.items():
        print(f"  {name.replace('_', ' '):<{width}}  {_words(value)}")


def _words(value: Any) -> str:
    if value in (None, ()):
        return "any" if value == () else "no claim"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
