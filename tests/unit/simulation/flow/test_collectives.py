"""Collectives against their published costs, and whether what is asked for can reach everybody."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_programs import spread

from routelab.api import (
    ISEND,
    SEND,
    Collective,
    InputError,
    PluginError,
    UnsupportedError,
)
from routelab.simulation.flow.collectives import (
    ALGORITHMS,
    algorithm_of,
    choice_text,
    collective_block,
    parse_choice,
)
from routelab.simulation.flow.collectives.choice import POWERS_OF_TWO

RANKS = st.integers(1, 20)
ALL_ALGORITHMS = [(name, each) for name, them in ALGORITHMS.items() for each in them]


def sends(block):
    """Source, target and bytes of all messages."""
    is_send = (block.kind == SEND) | (block.kind == ISEND)
    return block.rank_of()[is_send], block.peer[is_send], block.amount[is_send].astype(np.int64)


def block_of(name, algorithm, ranks, bytes_=0, root=0, matrix=None):
    call = Collective(name, bytes_, root, matrix)
    return collective_block(call, ranks, {name: algorithm})


def fits(name, algorithm, ranks):
    return (name, algorithm) not in POWERS_OF_TWO or ranks & (ranks - 1) == 0


def rounds(ranks):
    return ceil(log2(ranks))


def ones(number):
    return number.bit_count()


@pytest.mark.parametrize(("name", "algorithm"), ALL_ALGORITHMS)
@settings(max_examples=30)
@given(ranks=RANKS, bytes_=st.integers(0, 5000), data=st.data())
def test_every_rank_receives_its_result(name, algorithm, ranks, bytes_, data):
    if not fits(name, algorithm, ranks):
        with pytest.raises(UnsupportedError, match="power of two"):
            block_of(name, algorithm, ranks, bytes_)
        return
    root = data.draw(st.integers(0, ranks - 1)) if name in ("bcast", "reduce") else 0
    if name == "bcast" and algorithm != "binomial":
        bytes_ = max(bytes_, 1)
    matrix = np.full((ranks, ranks), 3, dtype=np.int64) if name == "alltoallv" else None
    block = block_of(name, algorithm, ranks, bytes_, root, matrix)
    everybody = set(range(ranks))
    for synchronous in (False, True):
        known, _ = spread([block], synchronous=synchronous)
        if name == "bcast":
            assert all(root in pieces for pieces in known)
        elif name == "reduce":
            assert known[root] == everybody
        else:
            assert all(pieces == everybody for pieces in known)


def expected(name, algorithm, ranks, size):
    """Messages, bytes and rounds by the published formulas; vectors of `size` bytes."""
    power = 1 << (ranks.bit_length() - 1)
    extra, steps = ranks - power, power.bit_length() - 1
    fold = 2 * (extra > 0)
    direct = ranks * (ranks - 1)
    parts = [
        max(0, min(size, (i + 1) * ceil(size / ranks)) - i * ceil(size / ranks))
        for i in range(ranks)
    ]
    hops = sum(part * ones(i) for i, part in enumerate(parts))
    scattered = sum(_subtree(parts, i) > 0 for i in range(1, ranks))
    return {
        ("alltoall", "pairwise"): (direct, direct * size, ranks - 1),
        ("alltoall", "linear"): (direct, direct * size, min(1, ranks - 1)),
        ("alltoall", "scattered"): (direct, direct * size, min(1, ranks - 1)),
        ("alltoall", "bruck"): (
            ranks * rounds(ranks),
            ranks * size * sum(map(ones, range(ranks))),
            rounds(ranks),
        ),
        ("allreduce", "recursive-doubling"): (
            2 * extra + power * steps,
            (2 * extra + power * steps) * size,
            steps + fold,
        ),
        ("allreduce", "rabenseifner"): (
            2 * extra + 2 * power * steps,
            2 * size * (extra + power - 1),
            2 * steps + fold,
        ),
        ("reduce", "binomial"): (ranks - 1, (ranks - 1) * size, rounds(ranks)),
        ("bcast", "binomial"): (ranks - 1, (ranks - 1) * size, rounds(ranks)),
        ("bcast", "scatter-ring"): (scattered + direct, hops + (ranks - 1) * size, None),
        ("bcast", "scatter-recursive-doubling"): (
            scattered + power * steps,
            hops + (ranks - 1) * size,
            None,
        ),
        ("allgather", "recursive-doubling"): (power * steps, direct * size, steps),
        ("allgather", "bruck"): (ranks * rounds(ranks), direct * size, rounds(ranks)),
        ("allgather", "ring"): (direct, direct * size, ranks - 1),
        ("barrier", "dissemination"): (ranks * rounds(ranks), 0, rounds(ranks)),
    }.get((name, algorithm))


def _subtree(parts, place):
    """Bytes that a place of the binomial tree gets for itself and those below it."""
    return sum(parts[place : place + (place & -place)])


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [case for case in ALL_ALGORITHMS if expected(*case, 4, 8) is not None],
)
@settings(max_examples=30)
@given(ranks=RANKS, size=st.integers(0, 5000), data=st.data())
def test_costs_are_the_published_ones(name, algorithm, ranks, size, data):
    if not fits(name, algorithm, ranks):
        return
    size = 0 if name == "barrier" else size
    root = data.draw(st.integers(0, ranks - 1)) if name in ("bcast", "reduce") else 0
    block = block_of(name, algorithm, ranks, size, root)
    messages, total, longest = expected(name, algorithm, ranks, size)
    assert len(sends(block)[2]) == messages
    assert sends(block)[2].sum() == total
    if longest is not None:
        assert spread([block], synchronous=True)[1] == longest


@given(power=st.integers(0, 4), extra=st.integers(0, 15), chunk=st.integers(1, 50), data=st.data())
def test_rabenseifner_reduce_moves_each_chunk_as_often_as_its_bits_differ(
    power, extra, chunk, data
):
    places = 1 << power
    ranks = places + extra % places
    root = data.draw(st.integers(0, ranks - 1))
    size, extra = chunk * places, ranks - places
    block = block_of("reduce", "rabenseifner", ranks, size, root)
    outside = root < 2 * extra and root % 2 == 1
    gathered = chunk * sum(ones(place) for place in range(places))
    assert sends(block)[2].sum() == size * (extra + places - 1) + gathered + outside * chunk
    assert len(sends(block)[2]) == extra + places * power + places - 1 + outside


@given(ranks=RANKS, algorithm=st.sampled_from(["pairwise", "linear", "scattered"]), data=st.data())
def test_direct_algorithms_send_the_bytes_of_every_pair(ranks, algorithm, data):
    values = data.draw(st.lists(st.integers(0, 3), min_size=ranks**2, max_size=ranks**2))
    matrix = np.array(values, dtype=np.int64).reshape(ranks, ranks)
    sent = np.zeros_like(matrix)
    source, target, bytes_ = sends(block_of("alltoallv", algorithm, ranks, matrix=matrix))
    np.add.at(sent, (source, target), bytes_)
    np.fill_diagonal(matrix, 0)
    assert np.array_equal(sent, matrix)
    pairs = ranks * (ranks - 1) if algorithm == "pairwise" else np.count_nonzero(matrix)
    assert len(bytes_) == pairs


def test_pairwise_goes_by_xor_or_by_shift():
    def partners(ranks):
        block = block_of("alltoall", "pairwise", ranks, 1)
        is_send = (block.kind == ISEND) & (block.rank_of() == 2)
        return block.peer[is_send].tolist()

    assert partners(8) == [2 ^ i for i in range(1, 8)]
    assert partners(6) == [(2 + i) % 6 for i in range(1, 6)]


def test_linear_receives_upwards_and_sends_downwards():
    block = block_of("alltoall", "linear", 5, 7)
    first = block.peer[block.start[1] : block.start[2]].tolist()
    assert first == [2, 3, 4, 0, 0, 4, 3, 2, -1]


def test_scattered_talks_to_a_window_at_a_time():
    ranks = 70
    block = block_of("alltoall", "scattered", ranks, 1)
    kinds = block.kind[block.start[3] : block.start[4]].tolist()
    waits = [place for place, kind in enumerate(kinds) if kind == 5]
    assert np.diff([-1, *waits]).tolist() == [2 * 31 + 1, 2 * 32 + 1, 2 * 6 + 1]


@pytest.mark.parametrize(("name", "algorithm"), ALL_ALGORITHMS)
def test_groups_keep_to_themselves(name, algorithm):
    groups = (np.array([6, 1, 3, 0], np.int32), np.array([5, 2], np.int32))
    matrix = np.arange(49).reshape(7, 7) if name == "alltoallv" else None
    call = Collective(name, 0 if name in ("barrier", "alltoallv") else 1000, 1, matrix, groups)
    source, target, bytes_ = sends(collective_block(call, 7, {name: algorithm}))
    group_of = np.array([0, 0, 1, 0, -1, 1, 0])
    assert np.array_equal(group_of[source], group_of[target])
    assert (group_of[source] >= 0).all()
    for group in groups:
        alone = Collective(
            name, call.bytes, 1, None if matrix is None else matrix[np.ix_(group, group)]
        )
        alone_source, alone_target, alone_bytes = sends(
            collective_block(alone, len(group), {name: algorithm})
        )
        expected = sorted(zip(group[alone_source], group[alone_target], alone_bytes, strict=True))
        here = np.isin(source, group)
        assert sorted(zip(source[here], target[here], bytes_[here], strict=True)) == expected


@pytest.mark.parametrize(
    ("name", "bytes_", "ranks", "algorithm"),
    [
        ("alltoall", 256, 8, "bruck"),
        ("alltoall", 256, 7, "scattered"),
        ("alltoall", 257, 8, "scattered"),
        ("alltoall", 32768, 32, "scattered"),
        ("alltoall", 1 << 20, 32, "pairwise"),
        ("allreduce", 2048, 32, "recursive-doubling"),
        ("allreduce", 2049, 32, "rabenseifner"),
        ("allreduce", 2049, 4096, "recursive-doubling"),
        ("reduce", 2048, 32, "binomial"),
        ("reduce", 2049, 32, "rabenseifner"),
        ("bcast", 12287, 32, "binomial"),
        ("bcast", 12288, 7, "binomial"),
        ("bcast", 12288, 8, "scatter-recursive-doubling"),
        ("bcast", 12288, 9, "scatter-ring"),
        ("bcast", 524288, 8, "scatter-ring"),
        ("allgather", 65535, 8, "recursive-doubling"),
        ("allgather", 65536, 8, "ring"),
        ("allgather", 8192, 10, "ring"),
        ("allgather", 8191, 10, "bruck"),
        ("alltoallv", 0, 32, "scattered"),
        ("barrier", 0, 32, "dissemination"),
    ],
)
def test_defaults_are_those_of_mpich(name, bytes_, ranks, algorithm):
    assert algorithm_of(name, bytes_, ranks) == algorithm


def test_the_study_goes_before_the_call_and_the_call_before_mpich():
    call = Collective("alltoall", 1 << 20, algorithm="linear")
    assert len(sends(collective_block(call, 4))[0]) == 12
    assert np.count_nonzero(collective_block(call, 4).kind == 5) == 4
    chosen = collective_block(call, 4, {"alltoall": "bruck"})
    assert sends(chosen)[2].tolist() == [2 << 20] * 8
    with pytest.raises(InputError, match="no algorithm 'rings', it has bruck"):
        collective_block(Collective("alltoall", 8, algorithm="rings"), 4)


def test_a_choice_is_read_and_written():
    text = "alltoall=pairwise+bcast=binomial"
    assert parse_choice(text) == {"alltoall": "pairwise", "bcast": "binomial"}
    assert choice_text(parse_choice("bcast=binomial+alltoall=pairwise")) == text
    for nothing in ("", "mpich", "alltoall=mpich"):
        assert parse_choice(nothing) == {}
    assert choice_text({}) == "mpich"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alltoal=pairwise", "no collective 'alltoal'.*alltoall"),
        ("alltoall=ring", "alltoall has no algorithm 'ring', it has bruck, linear"),
        ("alltoall", "'alltoall' is not valid; write collective=algorithm"),
        ("bcast=binomial+bcast=binomial", "bcast is chosen twice"),
        ("x=1+bcast=2", "no collective 'x'.*bcast has no algorithm '2'"),
    ],
)
def test_a_wrong_choice_is_rejected(text, message):
    with pytest.raises(InputError, match=message):
        parse_choice(text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (Collective("bcast", 8, 4), "root 4 is outside"),
        (Collective("barrier", groups=(np.array([0, 1]), np.array([1]))), "a rank twice"),
        (Collective("barrier", groups=(np.array([0, 4]),)), "does not exist"),
        (Collective("alltoallv"), "matrix"),
        (Collective("alltoallv", matrix=np.zeros((3, 3), np.int64)), "not of 4 x 4"),
    ],
)
def test_an_impossible_call_is_rejected(call, message):
    with pytest.raises(PluginError, match=message):
        collective_block(call, 4)
