"""Whatever a kill leaves of a store's file, whole rows are found and others can be added."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routelab.api import InputError
from routelab.results.row_store import RowStore


def key(text):
    return hashlib.sha256(str(text).encode()).hexdigest()


def fill(store, name, rows):
    with store.writer(name) as writer:
        for number, status in rows:
            writer.append(key(number), status, {"number": number, "text": "a\tb\nc", "x": None})


def numbers(store, wanted):
    rows = store.rows({key(number) for number in wanted})
    return {row["number"] for row in rows.values()}


def test_rows_come_back_from_all_files(tmp_path):
    store = RowStore(tmp_path / "new")
    assert store.statuses() == {}
    fill(store, "a", [(1, "ok"), (2, "unsupported")])
    fill(store, "b", [(3, "ok")])
    assert store.statuses() == {key(1): "ok", key(2): "unsupported", key(3): "ok"}
    assert store.rows({key(1), key(9)}) == {key(1): {"number": 1, "text": "a\tb\nc", "x": None}}


@given(cut=st.data())
def test_a_file_cut_anywhere_keeps_its_whole_rows_and_takes_more(tmp_path_factory, cut):
    store = RowStore(tmp_path_factory.mktemp("store"))
    fill(store, "a", [(number, "ok") for number in range(4)])
    path = store.folder / "a.rows"
    content = path.read_bytes()
    at = cut.draw(st.integers(0, len(content)))
    path.write_bytes(content[:at])
    # a row without its line's end is whole already
    ends = [newline.start() for newline in re.finditer(b"\n", content)]
    whole = {n for n, end in enumerate(ends) if end <= at}
    assert numbers(store, range(9)) == whole
    fill(store, "a", [(8, "ok")])
    assert numbers(store, range(9)) == {*whole, 8}


def test_a_better_row_replaces_a_failed_one_and_not_the_reverse(tmp_path):
    store = RowStore(tmp_path, replaceable=("failed",))
    fill(store, "a", [(1, "ok"), (2, "failed"), (3, "ok"), (3, "failed")])
    fill(store, "b", [(1, "failed"), (2, "ok")])
    assert store.statuses() == {key(1): "ok", key(2): "ok", key(3): "ok"}


def test_an_unwritable_store_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        RowStore(tmp_path / "file").writer("a")


def test_a_changed_row_does_not_count(tmp_path):
    store = RowStore(tmp_path)
    fill(store, "a", [(1, "ok"), (2, "ok")])
    path = tmp_path / "a.rows"
    path.write_bytes(path.read_bytes().replace(b'"number":1', b'"number":7'))
    assert store.statuses() == {key(2): "ok"}
