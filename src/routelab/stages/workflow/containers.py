"""Jobs in a container: the image of ``snakemake --sdm apptainer``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from routelab.api import InputError


def runs_in_containers(workflow: Any) -> bool:
    """Return whether Snakemake starts jobs in containers.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    """
    from snakemake.settings.types import DeploymentMethod

    methods = workflow.deployment_settings.deployment_method
    return DeploymentMethod.APPTAINER in methods


def container_image(workflow: Any, config: Mapping[str, Any]) -> str | None:
    """Return the image in which jobs run; None if they run without a container.

    Parameters
    ----------
    workflow : snakemake.workflow.Workflow
    config : mapping
        Snakemake's configuration; ``container`` is the path or the address of an image.

    Raises
    ------
    InputError
        If jobs run in containers, and no image is named or its file does not exist.
    """
    if not runs_in_containers(workflow):
        return None
    image = str(config.get("container") or "")
    if not image:
        raise InputError(
            "--sdm apptainer needs an image: name one, as in 'snakemake report --sdm apptainer "
            "--config container=routelab.sif'"
        )
    if "://" not in image and not Path(image).exists():
        raise InputError(f"container={image}: no such image; build it as the manual describes")
    return image
