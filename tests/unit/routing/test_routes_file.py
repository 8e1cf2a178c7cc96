from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_tables import tables

from routelab.api import InputError, RouteTable, Topology
from routelab.results.array_files import narrow_integers, read_arrays, write_arrays
from routelab.routing.routes_file import load_routes, save_routes

ARRAYS = ("pair_start", "path_start", "path_weight", "hop_channel", "hop_vc")


def test_routes_come_back_in_canonical_types(tmp_path: Path, table: RouteTable) -> None:
    save_routes(table, tmp_path / "r.npz", {"seed": 5})
    loaded = load_routes(tmp_path / "r.npz", table.topology)
    assert loaded.flow_control == "bubble"
    for name in ARRAYS:
        first, second = getattr(table, name), getattr(loaded, name)
        assert first.dtype == second.dtype, name
        assert not second.flags.writeable
        np.testing.assert_array_equal(first, second, err_msg=name)
    assert read_arrays(tmp_path / "r.npz", "routes/1", ())[0]["provenance"] == {"seed": 5}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tables")


@given(table=tables())
def test_random_tables_come_back(folder: Path, table: RouteTable) -> None:
    save_routes(table, folder / "r.npz")
    loaded = load_routes(folder / "r.npz", table.topology)
    assert loaded.per_terminal == table.per_terminal
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(loaded, name), getattr(table, name), name)


def test_tables_to_switches_are_stored_as_ever(tmp_path: Path, table: RouteTable) -> None:
    save_routes(table, tmp_path / "r.npz")
    assert "per_terminal" not in read_arrays(tmp_path / "r.npz", "routes/1", ())[0]


def test_empty_table_comes_back(tmp_path: Path) -> None:
    lonely = Topology.create(
        num_switches=1, channel_source=[], channel_target=[], terminal_switch=[]
    )
    empty = RouteTable.create(lonely, pair_start=[0], path_start=[0], hop_channel=[])
    save_routes(empty, tmp_path / "r.npz")
    assert load_routes(tmp_path / "r.npz", lonely).num_paths == 0


def test_file_holds_small_unsigned_types(tmp_path: Path, table: RouteTable) -> None:
    save_routes(table, tmp_path / "r.npz")
    arrays = read_arrays(tmp_path / "r.npz", "routes/1", ())[1]
    assert {arrays[name].dtype for name in arrays if name != "path_weight"} == {np.dtype(np.uint8)}


@given(st.lists(st.integers(0, 2**40), max_size=5))
def test_narrowest_keeps_values_in_the_smallest_type(values: list[int]) -> None:
    array = narrow_integers(np.array(values, dtype=np.int64))
    assert array.tolist() == values
    bits = max(values, default=0).bit_length()
    assert array.dtype == next(
        kind for kind in (np.uint8, np.uint16, np.uint32, np.uint64) if bits <= np.iinfo(kind).bits
    )


def test_equal_tables_make_equal_files(tmp_path: Path, table: RouteTable) -> None:
    save_routes(table, tmp_path / "a.npz")
    save_routes(load_routes(tmp_path / "a.npz", table.topology), tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_routes_of_another_topology_are_refused(tmp_path: Path, table: RouteTable) -> None:
    save_routes(table, tmp_path / "r.npz")
    topology = table.topology
    values = {field.name: getattr(topology, field.name) for field in dataclasses.fields(Topology)}
    # the routes would be well formed on it: only the digest tells
    slower = Topology.create(**(values | {"channel_latency": topology.channel_latency * 2}))
    with pytest.raises(InputError, match=r"r\.npz belongs to another topology.*ring with 4 sw"):
        load_routes(tmp_path / "r.npz", slower)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("hop_channel", np.full(1, 99)),
        ("path_hops", np.zeros(1, np.uint8)),
        ("pair_paths", np.ones(2, np.uint8)),
        ("path_weight", np.zeros(1)),
        ("hop_vc", np.zeros((2, 2))),
    ],
)
def test_arrays_that_do_not_fit_are_reported(
    tmp_path: Path, table: RouteTable, name: str, values: np.ndarray
) -> None:
    save_routes(table, tmp_path / "r.npz")
    metadata, arrays = read_arrays(tmp_path / "r.npz", "routes/1", ())
    write_arrays(tmp_path / "r.npz", metadata, arrays | {name: values})
    with pytest.raises(InputError, match=r"r\.npz is damaged: expected a route table"):
        load_routes(tmp_path / "r.npz", table.topology)


def test_file_of_another_kind_is_reported(tmp_path: Path, table: RouteTable) -> None:
    write_arrays(tmp_path / "t.npz", {"format": "topology/1"}, {})
    with pytest.raises(InputError, match="expected format routes/1, found topology/1"):
        load_routes(tmp_path / "t.npz", table.topology)
