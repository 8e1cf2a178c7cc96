"""Commands in a real terminal of 80 columns."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

REPOSITORY = Path(__file__).parents[3]


def in_terminal(*arguments: str) -> list[str]:
    """Return the lines that a command writes, without colours."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 80, 0, 0))
        os.chdir(REPOSITORY)
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        os.execve(sys.executable, [sys.executable, "-m", "routelab", "-q", *arguments], environment)
    written = b""
    try:
        while part := os.read(terminal, 65536):
            written += part
    except OSError:  # the end of the process
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0, written
    return re.sub(r"\x1b\[[\d;]*m", "", written.decode()).replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize(
    ("command", "names"),
    [
        (
            ("evaluate", "torus~dims=4x2", "dor", "angara-sssp"),
            {"routing", "status", "deadlock", "max_load", "mean_hops"},
        ),
        (("evaluate", "torus~dims=4x2", "dor"), {"fact", "value", "meaning"}),
        (("plugins", "list", "routing"), {"name", "summary"}),
        (("cluster", "list"), {"name", "title"}),
    ],
)
def test_tables_fit_and_show_what_matters(command, names) -> None:
    lines = in_terminal(*command)
    assert max(map(cell_len, lines)) <= 80
    assert "…" not in "".join(lines)
    assert names <= set(lines[0].split())
