"""Where ranks run: rooms are kept, and files are read line by line."""

import numpy as np
import pytest

from routelab.api import InputError
from routelab.simulation.flow.placement import rank_terminals, read_placement
from routelab.toolkit import build_grid


@pytest.mark.parametrize(("ranks", "each"), [(8, 1), (7, 1), (32, 4), (30, 4), (5, 2), (1, 1)])
def test_block_and_cyclic_fill_as_many_terminals_as_are_needed(ranks, each):
    network = build_grid("torus", (4, 2), wrap=True)
    for name in ("block", "cyclic"):
        terminal = rank_terminals(name, ranks, network, each)
        counts = np.bincount(terminal, minlength=8)
        assert counts.sum() == ranks
        assert counts.max() <= each
        assert (counts > 0).sum() == -(-ranks // each)
    assert (np.diff(rank_terminals("block", ranks, network, each)) >= 0).all()
    cyclic = rank_terminals("cyclic", ranks, network, each)
    used = cyclic.max() + 1
    assert (np.diff(cyclic) % used == 1 % used).all()


def test_a_file_lists_terminals(tmp_path):
    network = build_grid("torus", (4, 2), wrap=True)
    file = tmp_path / "ranks.txt"
    file.write_text("7 # the first\n\n# a line of its own\n0\n7\n3\n")
    assert read_placement(file) == [(1, 7), (4, 0), (5, 7), (6, 3)]
    assert rank_terminals(str(file), 4, network, 2).tolist() == [7, 0, 7, 3]


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("0\nx\n2\n-1\n", [":2: 'x' is not a terminal", ":4: '-1' is not a terminal"]),
        ("0\n8\n1\n2\n", [":2: terminal 8 does not exist; the network has 8"]),
        ("0\n0\n0\n1\n", [":3: terminal 0 has more than 2 ranks"]),
        ("0\n1\n", [": has 2 terminals, there are 4 ranks"]),
        ("\n", [": no line names a terminal"]),
    ],
)
def test_a_wrong_file_is_rejected_with_its_lines(tmp_path, text, starts):
    file = tmp_path / "ranks.txt"
    file.write_text(text)
    with pytest.raises(InputError) as raised:
        rank_terminals(str(file), 4, build_grid("torus", (4, 2), wrap=True), 2)
    lines = str(raised.value).splitlines()
    assert [line[: len(str(file)) + len(t)] for line, t in zip(lines, starts, strict=True)] == [
        f"{file}{t}" for t in starts
    ]
