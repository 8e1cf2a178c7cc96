"""Put the workflow into the wheel, from where it is in the repository: `routelab init` copies it.

A hook, as plain ``force-include`` would copy the files into the environment of an editable
install, too, where they would grow old.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProjectFiles(BuildHookInterface[Any]):
    """Include the files that ``[tool.hatch.build.targets.wheel.hooks.custom]`` lists."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add them to a wheel that is no editable one."""
        if version == "standard":
            build_data["force_include"] |= {
                name: f"{self.config['folder']}/{name}" for name in self.config["files"]
            }
