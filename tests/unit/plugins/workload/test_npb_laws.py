"""Laws that the NPB models keep on any legal class and number of ranks."""

from collections import Counter
from itertools import pairwise
from math import isclose

import numpy as np
import pytest
from naive_programs import spread

from routelab.api import COMPUTE, Block, Collective, Job
from routelab.api.workload import Program
from routelab_plugins.npb_problems import lu_grid, mg_grid
from routelab_plugins.workload import npb_cg, npb_ft, npb_is, npb_lu, npb_mg
from routelab_plugins.workload.npb_is import keys as is_keys

MODELS = [npb_lu.NpbLu, npb_mg.NpbMg, npb_cg.NpbCg, npb_ft.NpbFt, npb_is.NpbIs]
RANKS = [1, 2, 4, 8, 16, 32, 64, 128]


def legal(models=MODELS, classes="SWABC", ranks=RANKS):
    for model in models:
        for class_ in classes:
            for count in ranks:
                if model is npb_is.NpbIs and class_ not in "SW":
                    continue  # the others draw many keys
                if model(class_=class_).supports(Job(count)) is None:
                    yield model(class_=class_), count


def computed(steps):
    part = Program(ranks=steps[0], timed=steps[1], convention="")
    return sum(
        times * step.amount[step.kind == COMPUTE].sum()
        for step, times in part.walk()
        if isinstance(step, Block)
    )


def test_ranks_compute_the_operations_of_the_benchmark():
    for model, ranks in legal():
        program = model.program(Job(ranks))
        work = computed((ranks, program.timed))
        # each row of ranks has all of CG's vectors, and the benchmark counts one of them
        if isinstance(model, npb_cg.NpbCg) and ranks >= 4:
            assert 1.0 < work / program.operations < 1.8
        else:
            assert isclose(work, program.operations, rel_tol=1e-9)


def test_cg_exchanges_and_never_only_sends():
    for instance, ranks in legal([npb_cg.NpbCg], "SA"):
        sent = instance.program(Job(ranks)).point_to_point()
        pairs = zip(sent.source.tolist(), sent.target.tolist(), strict=True)
        messages = dict(zip(pairs, sent.messages.tolist(), strict=True))
        assert all(messages[b, a] == count for (a, b), count in messages.items())


def test_no_model_needs_buffers_to_get_through():
    for model, ranks in legal(classes="SA", ranks=[1, 2, 8, 16, 64]):
        for block in {id(step): step for step, _ in model.program(Job(ranks)).walk()}.values():
            if isinstance(block, Block):
                spread([block], synchronous=True)


def lu_bytes(points, columns, rows, iterations):
    """What LU sends: borders of planes, two layers a neighbour, and borders of three faces."""
    borders = columns + rows - 2
    sweeps = (iterations + 1) * 2 * 40 * (points - 2) ** 2 * borders
    layers = (iterations + 4) * 2 * 80 * points**2 * borders
    faces = 16 * points * (rows - 1) + 16 * (points + 2 * rows) * (columns - 1)
    return sweeps + layers + faces + 2 * 8 * points * borders


def lu_messages(points, columns, rows, iterations):
    pairs = (columns - 1) * rows + (rows - 1) * columns
    sweeps = (iterations + 1) * 2 * (points - 2) * pairs
    faces = pairs + 2 * (columns - 1) + 2 * (rows - 1)
    return sweeps + (iterations + 4) * 2 * pairs + faces


@pytest.mark.parametrize(
    ("class_", "ranks", "columns"),
    [
        ("S", 2, 2),
        ("S", 12, 4),
        ("S", 16, 4),
        ("W", 6, 3),
        ("W", 72, 9),
        ("A", 128, 16),
        ("B", 20, 5),
        ("C", 128, 16),
        ("C", 1, 1),
    ],
)
def test_lu_sends_the_borders_of_its_parts(class_, ranks, columns):
    points, iterations = npb_lu.PROBLEMS[class_]
    assert npb_lu.NpbLu(class_=class_).supports(Job(ranks)) is None
    sent = npb_lu.NpbLu(class_=class_).program(Job(ranks)).point_to_point()
    shape = points, columns, ranks // columns, iterations
    assert sent.bytes.sum() == lu_bytes(*shape)
    assert sent.messages.sum() == lu_messages(*shape)
    apart = np.abs(sent.source - sent.target)
    assert set(apart.tolist()) <= {1, columns}


@pytest.mark.parametrize("points", [32, 256])
@pytest.mark.parametrize("ranks", [2, 8, 32, 128, 512])
def test_mg_borders_come_from_whoever_has_the_next_point(points, ranks):
    parts = mg_grid(ranks)
    assert np.prod(parts) == ranks
    place = np.unravel_index(np.arange(ranks), parts[::-1])[::-1]
    for level, grid in enumerate(npb_mg.hierarchy(points, ranks)):
        size = 2 << level
        assert grid.points.sum() == size**3
        for axis, count in enumerate(parts):
            # point p belongs to the part in whose range it is
            edges = np.arange(count + 1) * size // count
            owner = np.searchsorted(edges, np.arange(size), side="right") - 1
            stride = int(np.prod(parts[:axis]))
            for rank in grid.ranks_with_points:
                here = place[axis][rank]
                for way, point in ((1, edges[here + 1] % size), (-1, (edges[here] - 1) % size)):
                    expected = rank + (owner[point] - here) * stride
                    assert grid.neighbour[way][axis][rank] == expected


@pytest.mark.parametrize("ranks", [2, 8, 32, 128, 512])
def test_mg_gives_borders_to_just_those_that_had_no_points(ranks):
    levels = npb_mg.hierarchy(32, ranks)
    for coarse, fine in pairwise(levels):
        idle = (coarse.size == 2) & (fine.size > 2)
        assert np.array_equal(fine.takes, idle)
        for axis in range(3):
            sources = Counter()
            for way in (-1, 1):
                sources.update(fine.neighbour[way][axis][idle[axis]].tolist())
            givers = np.flatnonzero(fine.gives[axis])
            assert sources == Counter(dict.fromkeys(givers.tolist(), 2))


@pytest.mark.parametrize("class_", npb_cg.PROBLEMS)
@pytest.mark.parametrize("ranks", [1, 2, 4, 8, 16, 32, 64, 128, 512])
def test_cg_pieces_are_the_columns_of_whom_they_go_to(class_, ranks):
    order = npb_cg.PROBLEMS[class_][0]
    part = npb_cg.MatrixDivision.of(order, ranks)
    grid = np.arange(ranks).reshape(part.rows, part.columns)
    # columns of the matrix: one after the other along a row of ranks, the same in all rows
    last_column = np.cumsum(part.width[grid], axis=1)
    assert (last_column[:, -1] == order).all()
    first_column = (last_column - part.width[grid]).reshape(-1)
    rows_before = np.concatenate(([0], np.cumsum(part.height[grid[:, 0]])))
    assert rows_before[-1] == order
    # of a row's sums a rank ends with all, or with the first or the second half
    odd = np.arange(ranks) % 2 if part.columns != part.rows else np.zeros(ranks, dtype=np.int64)
    first_piece = rows_before[np.arange(ranks) // part.columns] + odd * (
        part.height - part.result_length
    )
    assert np.array_equal(first_piece, first_column[part.transposed])
    assert np.array_equal(part.result_length, part.width[part.transposed])
    assert np.array_equal(part.transposed[part.transposed], np.arange(ranks))


@pytest.mark.parametrize("ranks", [2, 8, 64, 128])
def test_cg_sums_reach_all_of_a_row(ranks):
    part = npb_cg.MatrixDivision.of(1400, ranks)
    known = np.eye(ranks, dtype=bool)
    for step in range(part.steps):
        known |= known[part.partner(step)]
    row = np.arange(ranks) // part.columns
    assert np.array_equal(known, row[:, None] == row[None, :])


@pytest.mark.parametrize("class_", npb_ft.PROBLEMS)
@pytest.mark.parametrize("ranks", [2, 32, 64, 128, 512])
def test_ft_exchanges_move_all_points(class_, ranks):
    model = npb_ft.NpbFt(class_=class_)
    assert model.supports(Job(ranks)) is None
    sizes, iterations = npb_ft.PROBLEMS[class_]
    calls = Counter()
    for step, times in model.program(Job(ranks)).walk():
        if isinstance(step, Collective) and step.name == "alltoall":
            groups = step.members(ranks)
            assert sorted(np.concatenate(groups).tolist()) == list(range(ranks))
            moved = sum(step.bytes * len(group) ** 2 for group in groups)
            assert moved == 16 * np.prod(sizes, dtype=np.int64)
            calls[len(groups)] += times
    # one all-to-all a transform, two where there are more ranks than planes
    planes = sizes[2]
    if ranks <= planes:
        assert calls == {1: iterations + 2}
    else:
        assert calls == {planes: iterations + 2, ranks // planes: iterations + 2}


def test_ft_of_64_ranks_on_32_planes_has_rows_of_neighbours():
    steps = dict.fromkeys(step for step, _ in npb_ft.NpbFt(class_="W").program(Job(64)).walk())
    exchanges = [s for s in steps if isinstance(s, Collective) and s.name == "alltoall"]
    first, second = exchanges[:2]
    assert (len(first.groups), first.groups[0].tolist()) == (2, list(range(0, 64, 2)))
    assert (len(second.groups), second.groups[0].tolist()) == (32, [0, 1])
    assert (first.bytes, second.bytes) == (16 * 8192 // 32, 16 * 8192 // 2)


def drawn(problem, count):
    """Buckets of the first keys, one random number after the other."""
    x, modulus = 314_159_265, 1 << 46
    for _ in range(count):
        total = 0.0
        for _ in range(4):
            x = x * 5**13 % modulus
            total += x / modulus
        yield problem.bucket_of(int((1 << problem.values_log2) / 4 * total))


@pytest.mark.parametrize("class_", ["S", "W"])
def test_is_keys_are_drawn_as_specified(class_):
    problem = npb_is.PROBLEMS[class_]
    count = 1 << 16
    ranks = problem.keys // count
    iteration_1 = is_keys.real_counts(problem, ranks, 1)[0]
    by_hand = list(drawn(problem, count))
    by_hand[1] = problem.bucket_of(1)
    by_hand[11] = problem.bucket_of((1 << problem.values_log2) - 1)
    assert np.array_equal(iteration_1[0], np.bincount(by_hand, minlength=problem.buckets))


@pytest.mark.parametrize("class_", ["S", "W", "A"])
def test_is_expected_keys_are_those_drawn_but_for_chance(class_):
    problem = npb_is.PROBLEMS[class_]
    real = is_keys.real_counts(problem, 4, 1)[0].sum(axis=0)
    expected = is_keys.expected_counts(problem, 4).sum(axis=0)
    assert real.sum() == expected.sum() == problem.keys
    # five standard deviations, the keys that are set, and rounding
    assert (np.abs(real - expected) <= 5 * np.sqrt(expected) + 6).all()


@pytest.mark.parametrize(("class_", "ranks"), [("S", 128), ("W", 1024), ("D", 4), ("D", 1024)])
def test_is_sends_every_key_once(class_, ranks):
    model = npb_is.NpbIs(class_=class_)
    problem = npb_is.PROBLEMS[class_]
    for step, _ in model.program(Job(ranks)).walk():
        if isinstance(step, Collective) and step.matrix is not None:
            assert (step.matrix.sum(axis=1) == 4 * problem.keys // ranks).all()


@pytest.mark.parametrize(
    ("model", "class_", "ranks", "reason"),
    [
        (npb_lu.NpbLu, "A", 3, "needs n1 x n2 processes with n1 / 2 <= n2 <= n1, and 3 are not"),
        (npb_lu.NpbLu, "S", 32, "12 points on 8 of the 8x4 processes leave 1 to some"),
        (npb_lu.NpbLu, "W", 128, "leave 2 to some, and 3 are needed"),
        (npb_mg.NpbMg, "A", 3, "needs a power of two of processes (such as 2), not 3"),
        (npb_mg.NpbMg, "S", 1 << 16, "has 32 points along an axis"),
        (npb_mg.NpbMg, "D", 1 << 18, "131072 processes at most"),
        (npb_ft.NpbFt, "A", 12, "such as 8"),
        (npb_ft.NpbFt, "W", 2048, "128x128x32 points cannot be divided so"),
        (npb_is.NpbIs, "S", 256, "runs on 1 to 128 processes"),
        (npb_is.NpbIs, "D", 2, "runs on 4 to 1024 processes"),
    ],
)
def test_illegal_numbers_of_processes_are_refused(model, class_, ranks, reason):
    said = model(class_=class_).supports(Job(ranks))
    assert said is not None
    assert said.startswith(f"NPB 3.4 {model.name[4:].upper()} class {class_}")
    assert reason in said


@pytest.mark.parametrize("ranks", [1, 2, 4, 6, 9, 12, 15, 20, 72])
def test_lu_runs_on_grids_of_up_to_one_to_two(ranks):
    columns, rows = lu_grid(ranks)
    assert columns * rows == ranks
    assert rows <= columns <= 2 * rows
    assert npb_lu.NpbLu(class_="C", version="3.3").supports(Job(ranks)) is None


def test_fewer_iterations_are_timed_as_asked_for():
    full, two = (npb_cg.NpbCg(class_="S", iterations=n).program(Job(4)) for n in (None, 2))
    assert two.operations == full.operations * 2 / 15
    assert two.point_to_point().messages.sum() * 16 == full.point_to_point().messages.sum() * 3


def test_is_has_no_more_iterations_than_keys_to_change():
    model = npb_is.NpbIs(class_="S", iterations=600)
    assert model.supports(Job(64)) is None
    assert "changes a key" in model.supports(Job(128))
    assert len(model.program(Job(4)).timed) == 5 * 600
