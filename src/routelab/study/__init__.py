"""Studies, references and clusters: reads and checks the user's files."""

from routelab.study.entries import Choice, Named, Range, Sweep, Systems, Use, choices
from routelab.study.errors import ConfigError
from routelab.study.headline import Headline
from routelab.study.reference import Reference, Source, load_reference
from routelab.study.study import UNREADABLE, Bound, Limits, Study, Survey, load_study, read_study
from routelab.study.views import STATISTICS, Beside, Between, Figure, Pivot, Relative, Table

__all__ = [
    "STATISTICS",
    "UNREADABLE",
    "Beside",
    "Between",
    "Bound",
    "Choice",
    "ConfigError",
    "Figure",
    "Headline",
    "Limits",
    "Named",
    "Pivot",
    "Range",
    "Reference",
    "Relative",
    "Source",
    "Study",
    "Survey",
    "Sweep",
    "Systems",
    "Table",
    "Use",
    "choices",
    "load_reference",
    "load_study",
    "read_study",
]
