"""Studies and references: what the user writes, read and checked."""

from routelab.config.entries import Choice, Named, Range, Sweep, Systems, Use, choices
from routelab.config.mistakes import ConfigError
from routelab.config.reference import Reference, Source, load_reference
from routelab.config.study import (
    Beside,
    Bound,
    Figure,
    Limits,
    Study,
    Survey,
    Table,
    load_draft,
    load_study,
)

__all__ = [
    "Beside",
    "Bound",
    "Choice",
    "ConfigError",
    "Figure",
    "Limits",
    "Named",
    "Range",
    "Reference",
    "Source",
    "Study",
    "Survey",
    "Sweep",
    "Systems",
    "Table",
    "Use",
    "choices",
    "load_draft",
    "load_reference",
    "load_study",
]
