"""The NPB models send what NPB 3.4.1 was seen to send: class W on 32 ranks, number by number."""

import csv
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from routelab.api import Collective, Job
from routelab_plugins.workload.npb_cg import NpbCg
from routelab_plugins.workload.npb_ft import NpbFt
from routelab_plugins.workload.npb_is import NpbIs
from routelab_plugins.workload.npb_lu import NpbLu
from routelab_plugins.workload.npb_mg import NpbMg

COUNTED = Path(__file__).parents[3] / "data" / "npb_comm"
MODELS = {"lu": NpbLu, "mg": NpbMg, "cg": NpbCg, "ft": NpbFt, "is": NpbIs}
SIZES = {"int": 4, "logical(4)": 4, "double": 8, "double complex": 16, "-": 0}


def table(name):
    with (COUNTED / name).open() as file:
        next(file)
        return sorted(tuple(map(int, row)) for row in csv.reader(file))


def counted_calls(name):
    """Calls by name and bytes; those of alltoallv by the bytes of all ranks in one call."""
    text = (COUNTED / f"{name}_W_32_collectives.txt").read_text()
    calls = Counter()
    call = r"^  (\w+) count (\d+) type (.+): (\d+) calls per rank"
    for kind, count, type_, times in re.findall(call, text, re.MULTILINE):
        calls[kind, int(count) * SIZES[type_]] += int(times)
    every = r"^  alltoallv type int: (\d+) calls per rank, .* incl. self (\d+),"
    for times, total in re.findall(every, text, re.MULTILINE):
        calls["alltoallv", int(total) // int(times)] += int(times)
    return calls


@pytest.fixture(params=MODELS)
def measured(request):
    return request.param


def program(name, version="3.4"):
    return MODELS[name](class_="W", version=version).program(Job(32))


@pytest.mark.parametrize("version", ["3.3", "3.4"])
def test_messages_are_those_that_were_counted(measured, version):
    sent = program(measured, version).point_to_point()
    columns = (sent.source, sent.target, sent.messages, sent.bytes)
    assert list(zip(*map(np.ndarray.tolist, columns), strict=True)) == table(f"{measured}_W_32.csv")


def test_calls_are_those_that_were_counted(measured):
    counts = Counter()
    for call in program(measured).calls():
        assert call.ranks == 32
        counts[call.name, call.bytes] += call.calls
    assert counts == counted_calls(measured)


def test_keys_of_is_go_where_they_were_seen_to_go():
    total = np.zeros((32, 32), dtype=np.int64)
    for step, times in program("is").walk():
        if isinstance(step, Collective) and step.matrix is not None:
            total += times * step.matrix
    seen = np.zeros((32, 32), dtype=np.int64)
    for source, target, size in table("is_W_32_alltoallv.csv"):
        seen[source, target] = size
    assert np.array_equal(total, seen)
