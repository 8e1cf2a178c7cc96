"""What rules for networks of any shape share: links, roots, spanning trees, prohibited turns."""

from routelab.toolkit.irregular.evenness import affordable_evaluations, best_root, unevenness
from routelab.toolkit.irregular.links import neighbours_of, one_way_channel
from routelab.toolkit.irregular.phases import PhaseRules
from routelab.toolkit.irregular.roots import ROOTS, ROOTS_AND_BEST, root_of
from routelab.toolkit.irregular.turns import TURN_COLUMNS, Turn, turn_graph

__all__ = [
    "ROOTS",
    "ROOTS_AND_BEST",
    "TURN_COLUMNS",
    "PhaseRules",
    "Turn",
    "affordable_evaluations",
    "best_root",
    "neighbours_of",
    "one_way_channel",
    "root_of",
    "turn_graph",
    "unevenness",
]
