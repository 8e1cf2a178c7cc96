"""``routelab workload`` prints what the program has, in the columns that are promised."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from routelab.cli import main
from routelab.toolkit import read_trace

SHARED = ("--format", "csv")


@pytest.fixture
def output_of(capsys):
    """Run a command that has to succeed; what it printed."""

    def run(*arguments) -> str:
        assert main(["workload", *map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def refused(capsys):
    """Run a command that has to fail; its code and its one message."""

    def run(*arguments) -> tuple[int, str]:
        code = main(["workload", *map(str, arguments)])
        printed = capsys.readouterr()
        assert printed.out == ""
        assert "Traceback" not in printed.err
        assert printed.err.startswith("routelab: error: ")
        return code, printed.err

    return run


def test_pairs_as_csv(output_of):
    assert output_of("neighbor~ways=two,size=10", "--ranks", 3, *SHARED) == (
        "src,dst,messages,bytes\n0,1,1,10\n0,2,1,10\n1,0,1,10\n1,2,1,10\n2,0,1,10\n2,1,1,10\n"
    )


def test_calls_as_csv(output_of):
    printed = output_of("osu-alltoall~iterations=3", "--ranks", 4, "--collectives", *SHARED)
    assert printed == "name,bytes,ranks,calls\nalltoall,1048576,4,3\nbarrier,0,4,2\n"


def test_a_network_says_how_many_ranks_there_are_and_where(output_of):
    text = "neighbor~by=coordinate,digits=longest"
    alone = list(csv.reader(StringIO(output_of(text, "--topology", "torus~dims=3x2", *SHARED))))[1:]
    assert [(int(source), int(target)) for source, target, *_ in alone] == [
        (rank, (rank + 2) % 6) for rank in range(6)
    ]
    pairs = output_of(text, "--topology", "torus~dims=3x2", "--ranks-per-node", 2, *SHARED)
    two = list(csv.reader(StringIO(pairs)))[1:]
    assert [(int(source), int(target)) for source, target, *_ in two] == [
        (rank, (rank + 4) % 12) for rank in range(12)
    ]


def test_a_trace_is_written_and_comes_back(output_of, tmp_path):
    folder = tmp_path / "trace"
    assert output_of("npb-is~class=S", "--ranks", 4, "-o", folder) == ""
    output_of("npb-is~class=S", "--ranks", 4, "-o", folder)
    assert read_trace(folder / "trace.txt").ranks == 4
    for more in ((), ("--collectives",)):
        shown = (
            output_of(name, "--ranks", 4, *more, *SHARED)
            for name in ("npb-is~class=S", f"trace~file=[{folder / 'trace.txt'}]")
        )
        assert next(shown) == next(shown)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("neighbor",), 2, "give --ranks, or a network with --topology"),
        (("neighbor", "--ranks", "0"), 2, "--ranks must be 1 or more, got 0"),
        (
            ("neighbor", "--topology", "torus~dims=4", "--ranks-per-node", "-1"),
            2,
            "--ranks-per-node must be 1 or more",
        ),
        (("neighbr", "--ranks", "4"), 2, "called 'neighbr'; did you mean 'neighbor'?"),
        (("neighbor~sise=4", "--ranks", "4"), 2, "unknown parameter 'sise'; did you mean 'size'?"),
        (("neighbor~size=1M", "--ranks", "4"), 2, "size=1M: '1M' is not a size; write 4096"),
        (("neighbr", "--ranks", "0"), 2, "--ranks must be 1 or more"),
        (("neighbor", "--ranks", "9", "--topology", "torus~dims=4"), 2, "raise --ranks-per-node"),
        (("neighbor", "--topology", "nowhere"), 2, "nowhere"),
        (("neighbor~by=coordinate", "--ranks", "4"), 1, "give a network (--topology)"),
        (("npb-cg", "--ranks", "12"), 1, "npb-cg: "),
        (("matrix~file=none.csv", "--ranks", "4"), 2, "none.csv: cannot be read"),
        (("matrix", "--ranks", "4"), 2, "parameter 'file' is required"),
    ],
)
def test_wrong_arguments_are_rejected_in_one_message(refused, arguments, code, message):
    exit_code, text = refused(*arguments)
    assert (exit_code, message in text) == (code, True), text


def test_other_things_in_a_folder_are_not_lost(refused, tmp_path):
    (tmp_path / "thesis.tex").write_text("important")
    code, text = refused("neighbor", "--ranks", 4, "-o", tmp_path)
    assert code == 2
    assert "has files that are not this trace (thesis.tex)" in text
    assert (tmp_path / "thesis.tex").read_text() == "important"


def test_a_trace_that_would_fill_the_disk_is_refused(refused, tmp_path):
    code, text = refused("npb-lu~class=D", "--ranks", 1024, "-o", tmp_path / "trace")
    assert code == 1
    assert "actions, the limit is 50000000" in text
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "osu-alltoall~size=99999999999999999999999",
            "must be less than or equal to 1099511627776",
        ),
        ("neighbor~size=1025GiB", "must be less than or equal to 1099511627776"),
        ("neighbor~iterations=1000001", "must be less than or equal to 1000000"),
        (
            "neighbor~size=1024GiB,iterations=1000000",
            "bytes are too many to count; use fewer",
        ),
        ("matrix~file={file}", "from rank 0 to rank 1 there are more than 9007199254740992 bytes"),
    ],
)
def test_numbers_that_nothing_can_count(refused, tmp_path, name, message):
    file = tmp_path / "matrix.csv"
    file.write_text("src,dst,messages,bytes\n0,1,1,99999999999999999999999\n", "utf-8")
    # 16 pairs x 2^40 bytes x 10^6 rounds are 1.8e19 bytes, above 2^63
    code, error = refused(name.format(file=file), "--ranks", 16)
    assert code == 2
    assert message in error
