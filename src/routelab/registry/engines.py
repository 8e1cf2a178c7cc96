"""Engines by name."""

from __future__ import annotations

from typing import cast

from routelab.api import EnginePlugin, InputError
from routelab.api.engine import DEFAULT_ENGINES, Work
from routelab.registry.catalogue import Catalogue, installed_catalogue

KEY = "engine"
"""Key of a study, or option, that names an engine; also the kind of plugin."""


def engine_class(
    name: str, work: Work | None = None, catalogue: Catalogue | None = None
) -> type[EnginePlugin]:
    """Return the class of an engine, and check that it runs a kind of work.

    Parameters
    ----------
    name : str
    work : {"traffic", "workload"}, optional
        Kind of work that the engine must run (default: any).
    catalogue : Catalogue, optional
        Default: the installed plugins.

    Raises
    ------
    InputError
        If the engine does not exist, or runs something else.
    QuarantinedError
        If the engine is broken.
    """
    catalogue = catalogue or installed_catalogue()
    engine = cast(type[EnginePlugin], catalogue.plugin(KEY, name))
    if work is None or engine.work == work:
        return engine
    names = ", ".join(suitable.name for suitable in engine_classes(work, catalogue))
    raise InputError(
        f"engine {name!r} runs {_work_text(engine.work)}, not {_work_text(work)} (engines: {names})"
    )


def engine_classes(
    work: Work | None = None,
    catalogue: Catalogue | None = None,
    distribution: str | None = None,
) -> list[type[EnginePlugin]]:
    """Return all available engines, default engines first.

    Parameters
    ----------
    work : {"traffic", "workload"}, optional
        Only engines that run it.
    catalogue : Catalogue, optional
        Default: the installed plugins.
    distribution : str, optional
        Only engines of this distribution.
    """
    engines = [
        cast(type[EnginePlugin], entry.plugin)
        for entry in (catalogue or installed_catalogue()).entries(KEY)
        if entry.plugin is not None and distribution in (None, entry.distribution)
    ]
    # the default engines in their order, then all others, whose order stays
    defaults = list(DEFAULT_ENGINES.values())
    engines.sort(
        key=lambda engine: defaults.index(engine.name) if engine.name in defaults else len(defaults)
    )
    return [engine for engine in engines if work in (None, engine.work)]


def _work_text(work: str) -> str:
    """Return a kind of work as a message names it."""
    return {"traffic": "traffic", "workload": "workloads"}[work]
