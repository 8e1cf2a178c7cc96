"""uniform, alltoall, hotspot and matrix: what terminals send adds up to what was said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from routelab.api import InputError, Topology, UnsupportedError
from routelab_plugins.traffic import alltoall
from routelab_plugins.traffic.alltoall import AllToAll
from routelab_plugins.traffic.hotspot import Hotspot
from routelab_plugins.traffic.matrix import MatrixTraffic
from routelab_plugins.traffic.uniform import Uniform


def switches(count):
    return Topology.create(num_switches=count, channel_source=[], channel_target=[])


def between(pattern, count):
    assert pattern.supports(switches(count)) is None
    return pattern.demand(switches(count), 0).between_terminals()


@pytest.mark.parametrize("count", [2, 5])
def test_uniform_is_all_others_alike(count):
    others = (1 - np.eye(count)) / (count - 1)
    assert np.allclose(between(Uniform(), count), others)
    assert np.allclose(between(AllToAll(), count), others)
    assert np.allclose(between(Uniform(self_=True), count), 1 / count)


def test_one_terminal_can_only_send_to_itself():
    for pattern in (Uniform(), AllToAll(), Hotspot()):
        reason = pattern.supports(switches(1))
        assert reason == "needs two terminals or more; this network has 1"
    assert between(Uniform(self_=True), 1).tolist() == [[1]]


@pytest.mark.parametrize("count", [2, 3, 8])
def test_an_all_to_all_exchange_never_meets_while_all_keep_step(count):
    messages = AllToAll().messages(switches(count), 0)
    rounds = messages.target.reshape(count, count - 1)
    assert np.array_equal(np.diff(messages.start), np.full(count, count - 1))
    for number, targets in enumerate(rounds.T, start=1):
        assert targets.tolist() == [(rank + number) % count for rank in range(count)]


def test_too_many_messages_are_refused_with_a_reason(monkeypatch):
    monkeypatch.setattr(alltoall, "MAX_TERMINALS", 3)
    with pytest.raises(
        UnsupportedError, match="of 4 terminals are too many to list; the limit is 3"
    ):
        AllToAll().messages(switches(4), 0)


@given(
    count=st.integers(2, 9),
    share=st.floats(0.01, 1),
    spots=st.sets(st.integers(0, 8), min_size=1, max_size=4),
)
def test_hot_spots_get_their_share_and_the_remainder(count, share, spots):
    pattern = Hotspot(share=share, spots=tuple(spots))
    if max(spots) >= count:
        with pytest.raises(InputError, match=r"terminals are 0\.\."):
            pattern.demand(switches(count), 0)
        return
    expected = np.zeros((count, count))
    for source in range(count):
        others = [to for to in range(count) if to != source]
        hot = [to for to in spots if to != source]
        cold = 1 - share if hot else 1.0
        expected[source, others] += cold / len(others)
        if hot:
            expected[source, hot] += share / len(hot)
    assert np.allclose(between(pattern, count), expected)


@pytest.mark.parametrize("spots", [(), (1, 1), (-1,)])
def test_spots_are_named_once(spots):
    with pytest.raises(ValidationError, match="name at least one rank, each once, as 0"):
        Hotspot(spots=spots)


def written(folder, text):
    file = folder / "traffic.csv"
    file.write_text(text)
    return file


@given(matrix=st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4))
def test_traffic_is_in_proportion_to_its_matrix(matrix, tmp_path_factory):
    file = written(
        tmp_path_factory.getbasetemp(), "\n".join(",".join(map(str, row)) for row in matrix)
    )
    pattern, given_ = MatrixTraffic(file=file), np.array(matrix) * (1 - np.eye(4))
    if not given_.any():
        assert "no rank sends to another" in pattern.supports(switches(4))
        return
    assert np.allclose(between(pattern, 4) * given_.sum(axis=1).max(), given_)


def test_a_matrix_has_to_fit_in(tmp_path):
    file = written(tmp_path, "source,target,bytes\n0,4,1\n")
    assert (
        "traffic of 5 ranks, and the network has 4 terminals; choose a network with 5 or more"
        in (MatrixTraffic(file=file).supports(switches(4)))
    )
    assert MatrixTraffic(file=file).supports(switches(6)) is None
    assert MatrixTraffic(file=file).input_files() == [file]
    with pytest.raises(InputError, match="cannot be read"):
        MatrixTraffic(file=tmp_path / "absent.csv").supports(switches(4))
