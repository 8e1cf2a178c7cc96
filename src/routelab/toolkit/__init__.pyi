from routelab.toolkit.choices import RouteChoices, route_choices
from routelab.toolkit.csv_cells import escape_cell, unescape_cell
from routelab.toolkit.direction_automaton import (
    DirectionAutomaton,
    add_ordered_moves,
    graph_from_automaton,
)
from routelab.toolkit.direction_labels import DirectionLabels, torus_directions
from routelab.toolkit.failures import with_random_failures
from routelab.toolkit.grids import Grid, GridParameters, TorusParameters, build_grid, full_grid
from routelab.toolkit.listed_routes import ListedRoutes, too_many_routes
from routelab.toolkit.path_lines import route_lines, table_from_lines
from routelab.toolkit.reductions import determinized, merged
from routelab.toolkit.route_list import route_list_lines
from routelab.toolkit.symmetry import SourceSymmetry, source_symmetry
from routelab.toolkit.ties import TieParameters, search_arrays
from routelab.toolkit.traffic.matrix import read_messages, read_traffic_matrix, unread_columns
from routelab.toolkit.traffic.patterns import (
    FixedPermutation,
    SeededParameters,
    TerminalGrid,
    random_order,
    rank_bits,
    terminal_groups,
    too_few_terminals,
)
from routelab.toolkit.workloads.block_builder import BlockBuilder
from routelab.toolkit.workloads.patterns import (
    PatternParameters,
    PatternWorkload,
    RankGrid,
    ShiftParameters,
    ShiftWorkload,
)
from routelab.toolkit.workloads.trace_reader import read_trace, trace_files
from routelab.toolkit.workloads.traces import write_trace

__all__ = [
    "BlockBuilder",
    "DirectionAutomaton",
    "DirectionLabels",
    "FixedPermutation",
    "Grid",
    "GridParameters",
    "ListedRoutes",
    "PatternParameters",
    "PatternWorkload",
    "RankGrid",
    "RouteChoices",
    "SeededParameters",
    "ShiftParameters",
    "ShiftWorkload",
    "SourceSymmetry",
    "TerminalGrid",
    "TieParameters",
    "TorusParameters",
    "add_ordered_moves",
    "build_grid",
    "determinized",
    "escape_cell",
    "full_grid",
    "graph_from_automaton",
    "merged",
    "random_order",
    "rank_bits",
    "read_messages",
    "read_trace",
    "read_traffic_matrix",
    "route_choices",
    "route_lines",
    "route_list_lines",
    "search_arrays",
    "source_symmetry",
    "table_from_lines",
    "terminal_groups",
    "too_few_terminals",
    "too_many_routes",
    "torus_directions",
    "trace_files",
    "unescape_cell",
    "unread_columns",
    "with_random_failures",
    "write_trace",
]
