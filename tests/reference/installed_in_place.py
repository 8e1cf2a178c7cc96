"""Packages that are used where they are, without pip: only their metadata is written."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path


def write_metadata(package: Path, site: Path) -> None:
    """Write the metadata of an installed ``package``; both folders belong on ``sys.path``."""
    project = tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    write_distribution(site, project["name"], project["entry-points"], project["version"])


def write_distribution(
    site: Path, name: str, points: Mapping[str, Mapping[str, str]], version: str = "1.0"
) -> None:
    """Write the metadata of a distribution with entry points by group and key."""
    info = site / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    groups = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
        for group, keys in points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
