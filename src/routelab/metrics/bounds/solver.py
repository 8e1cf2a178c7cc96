"""Linear and mixed-integer programs, and their solution by HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from routelab.api.topology import Float64Array, Int64Array


class LinearProgram:
    """A linear function of non-negative variables to minimise under linear constraints.

    Columns of its matrix are variables. Rows are constraints: lower limit <= sum of coefficient ×
    variable <= upper limit. Each method appends to the program; `solve_program` solves it.
    """

    def __init__(self) -> None:
        self.num_variables = 0
        self.num_rows = 0
        # For each quantity, the arrays that calls have appended; `model` concatenates them. There
        # are quantities of variables, of rows, and of entries of the matrix.
        names = (*_BY_VARIABLE, "row_lower", "row_upper", "row", "column", "value")
        self._pieces: dict[str, list[NDArray[Any]]] = {name: [] for name in names}

    def add_variables(
        self, count: int, *, cost: float = 0.0, lower: float = 0.0, integer: bool = False
    ) -> Int64Array:
        """Add `count` equal variables and return their numbers.

        Only integer variables without a cost have an upper limit: they are decisions, 0 or 1.
        """
        is_decision = integer and not cost
        upper = 1.0 if is_decision else np.inf
        for name, value in zip(_BY_VARIABLE, (cost, lower, upper, float(integer)), strict=True):
            self._pieces[name].append(np.full(count, value))
        self.num_variables += count
        return np.arange(self.num_variables - count, self.num_variables)

    def add_rows(self, lower: ArrayLike, upper: ArrayLike) -> Int64Array:
        """Add constraints with these limits, one for each element; return their row numbers."""
        self._pieces["row_lower"].append(np.asarray(lower, dtype=np.float64))
        self._pieces["row_upper"].append(np.asarray(upper, dtype=np.float64))
        count = len(self._pieces["row_lower"][-1])
        self.num_rows += count
        return np.arange(self.num_rows - count, self.num_rows)

    def add_entries(self, row: ArrayLike, column: ArrayLike, value: ArrayLike) -> None:
        """Add coefficients; `column` is the number of a variable.

        Several values for the same row and column add up.
        """
        rows = np.asarray(row, dtype=np.int64)
        self._pieces["row"].append(rows)
        self._pieces["column"].append(np.asarray(column, dtype=np.int64))
        self._pieces["value"].append(np.broadcast_to(np.asarray(value, np.float64), rows.shape))

    def model(self) -> Any:
        """Return the program as a model of HiGHS."""
        import highspy

        arrays = {name: np.concatenate(pieces) for name, pieces in self._pieces.items()}
        # 1. The matrix column by column, as HiGHS takes it: entries sorted by column, then by row,
        #    and `start`, where the entries of each column begin. Values that were added for the
        #    same row and column are summed up in one entry.
        key = arrays["column"] * self.num_rows + arrays["row"]
        entries, entry_of_value = np.unique(key, return_inverse=True)
        start = np.zeros(self.num_variables + 1, dtype=np.int64)
        column_size = np.bincount(entries // self.num_rows, minlength=self.num_variables)
        np.cumsum(column_size, out=start[1:])
        # 2. The model.
        lp: Any = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = self.num_variables, self.num_rows
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = (arrays[name] for name in _BY_VARIABLE[:3])
        lp.row_lower_, lp.row_upper_ = arrays["row_lower"], arrays["row_upper"]
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = start
        lp.a_matrix_.index_ = entries % self.num_rows
        lp.a_matrix_.value_ = np.bincount(entry_of_value, weights=arrays["value"])
        if arrays["integer"].any():
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[int(kind)] for kind in arrays["integer"]]
        return lp


_BY_VARIABLE = ("cost", "lower", "upper", "integer")
"""Quantities of a variable: coefficient in the minimised function, limits, and 1 for an integer."""


def solve_program(
    program: LinearProgram, seconds: float, **options: Any
) -> tuple[float, Float64Array] | None:
    """Minimise a program; return the optimum, or None if HiGHS does not find it in time.

    Parameters
    ----------
    program : LinearProgram
    seconds : float
        Time limit.
    **options
        Options of HiGHS. It uses one thread, so that the same program has the same solution.

    Returns
    -------
    objective : float
    row_dual : float64 array, shape (rows,)
        Dual value of each constraint: the change of the optimum if its limit grows by 1. So those
        of upper limits are not positive.
    """
    import highspy  # only in functions: it takes 0.1 s, and few commands need it

    highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    fixed = {"output_flag": False, "threads": 1, "time_limit": max(float(seconds), 0.0)}
    for name, value in (fixed | options).items():
        highs.setOptionValue(name, value)
    highs.passModel(program.model())
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    objective = float(highs.getInfo().objective_function_value)
    return objective, np.array(highs.getSolution().row_dual)
