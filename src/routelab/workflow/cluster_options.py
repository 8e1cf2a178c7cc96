"""Options of a run about clusters, which jobs on nodes read, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routelab.api.errors import InputError


def apply_routing_option(config: Mapping[str, Any]) -> str:
    """Return the option that lets `routelab bench` switch a fabric; empty if it must not.

    Raises
    ------
    InputError
        If ``apply_routing`` is neither true nor false.
    """
    return "--apply-routing" if _read_flag(config, "apply_routing") else ""


def _read_flag(config: Mapping[str, Any], key: str) -> bool:
    """Return whether a key is true (default: false); InputError if it is no truth value."""
    setting = config.get(key, False)
    # on the command line Snakemake accepts only the spelling True for a truth value
    value = {"true": True, "false": False}.get(str(setting).lower())
    if value is None:
        raise InputError(
            f"{key}={setting}: must be true or false, as in 'snakemake report --config {key}=true'"
        )
    return value


def submits_parts(config: Mapping[str, Any]) -> bool:
    """Return whether batches of stages are submitted to a cluster, too, or only measurements.

    If only measurements are, the machine that runs Snakemake computes all else itself.

    Raises
    ------
    InputError
        If ``submit`` is neither ``all`` nor ``measurements``.
    """
    submit = str(config.get("submit", "all"))
    if submit not in ("all", "measurements"):
        raise InputError(f"submit={submit}: must be 'all' or 'measurements'")
    return submit == "all"


def longest_minutes(config: Mapping[str, Any]) -> int:
    """Return the longest time to request for a batch, in minutes (default: 4 hours).

    Comparisons are not limited by it: each requests the time of its study.

    Raises
    ------
    InputError
        If ``job_hours`` is not a number of hours.
    """
    setting = config.get("job_hours", 4)
    try:
        minutes = round(60 * float(setting))
    except (TypeError, ValueError, OverflowError):
        minutes = 0  # refused below
    if minutes < 1:
        raise InputError(f"job_hours={setting}: must be a number of hours, such as 4 or 0.5")
    return minutes
