"""The reader of traffic matrices."""

from pathlib import Path

import numpy as np
import pytest

from routelab.api import InputError, Job
from routelab.toolkit import build_grid, read_traffic_matrix, unread_columns
from routelab_plugins.traffic.matrix import MatrixTraffic
from routelab_plugins.workload.matrix import MatrixWorkload


def written(folder, text):
    file = folder / "matrix.csv"
    file.write_text(text, encoding="utf-8", newline="")
    return file


@pytest.mark.parametrize("name", ["cg", "lu"])
def test_the_benchmarks_that_come_along_are_read(name):
    file = Path(__file__).parents[4] / f"config/traffic/npb-{name}-w-32.csv"
    matrix = read_traffic_matrix(file)
    # 32 ranks; bytes of all pairs as the trace's own summary gives them
    totals = {"cg": 373399552, "lu": 761109856}
    assert matrix.shape == (32, 32)
    assert matrix.sum() == totals[name]


def test_a_list_s_other_columns_and_both_spellings(tmp_path):
    file = written(tmp_path, "dst,messages,src,bytes\n1,7,0,5\n")
    assert read_traffic_matrix(file).tolist() == [[0, 5], [0, 0]]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("Source,dst,Bytes,tag,delay\n0,1,5,a,1\n", "not read: columns tag, delay"),
        ("source,target,bytes,tag\n0,1,5,a\n", "not read: column tag"),
        ("src,target,bytes,messages,\n0,1,5,2,\n", ""),
        ("0,1\n1,0\n", ""),
    ],
)
def test_columns_that_are_not_read_are_named_once(tmp_path, caplog, text, note):
    file = written(tmp_path, text)
    for _ in range(2):
        read_traffic_matrix(file)
    warnings = [record.getMessage() for record in caplog.records]
    assert warnings == ([f"{file}: {note}"] if note else [])
    assert unread_columns(file) == note
    network = build_grid("torus", (2,), wrap=True)
    for description in (
        MatrixTraffic(file=file).demand(network, seed=0).convention,
        MatrixWorkload(file=file).program(Job(ranks=2)).convention,
    ):
        assert description.endswith(f"; {note}" if note else " itself")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("# nothing\n\n", "no line with traffic in it"),
        ("0 1 2\n3 0 4\n5 6 0\n", "line 1: the cells of '0 1 2' are separated by blanks"),
        ("0;1,5\n2;0\n", "line 1: '0;1,5' has a comma and a semicolon"),
        ("source;target;bytes\n0;1;1,5\n", "line 2: '1,5' has a comma"),
        ("1,2\n3\n", "line 2: 1 numbers, but there are 2 lines; a matrix has as many"),
        ("0,1,5\n1,0,5\n", "a list needs the header source,target,bytes"),
        ("1,-2\n3,nan\n", "line 1: '-2' is not a number of bytes (0 or more)\n    line 2: 'nan'"),
        ("source,target\n0,1\n", "line 1: expected a header with source, target and bytes"),
        ("source,source,target,bytes\n0,1,1,1\n", "expected a header with source, target"),
        ("source,target,bytes\n", "no line below the header"),
        ("source,target,bytes\n0,1\n", "line 2: 2 cells under a header of 3"),
        ("source,target,bytes\n0,x,1\n0,-1,1\n", "line 2: 'x' is not a rank"),
        ("source,target,bytes\n0,99999999999,1\n", "is not a rank (0, 1, ... up to 19999)"),
        ('source,target,bytes\n0,"1,2\n', "line 2: '0,\"1,2' has a quotation mark"),
        ("source,target,bytes\n" + "0,x,1\n" * 7, "and 2 more"),
    ],
)
def test_bad_matrices_are_rejected(tmp_path, text, message):
    file = written(tmp_path, text)
    with pytest.raises(InputError) as error:
        read_traffic_matrix(file)
    assert str(error.value).startswith(str(file))
    assert message in str(error.value)


def test_matrices_are_read_exactly(tmp_path):
    matrix = np.random.default_rng(1).uniform(0, 1e9, (5, 5))
    file = written(tmp_path, "\n".join(",".join(map(repr, row)) for row in matrix.tolist()))
    assert np.array_equal(read_traffic_matrix(file), matrix)


@pytest.mark.parametrize(
    "text",
    [
        "source;target;bytes\n0;1;5\n",
        'source\ttarget\tbytes\n "0"\t 1\t"5" \n',
        '\ufeff"source" , "target" ,bytes\r\n# by hand\r\n0 ,1,5\r\n',
        "0;5\n0;0\n",
    ],
)
def test_separators_quotes_and_blanks_as_people_write_them(tmp_path, text):
    assert read_traffic_matrix(written(tmp_path, text)).tolist() == [[0, 5], [0, 0]]
