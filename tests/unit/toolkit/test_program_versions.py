from __future__ import annotations

import pytest

from routelab.toolkit.program_versions import program_version


@pytest.fixture
def program(tmp_path):
    """Make a program that does what the lines of a shell script say."""

    def make(*lines):
        path = tmp_path / f"program{len(list(tmp_path.iterdir()))}"
        path.write_text("\n".join(["#!/bin/sh", *lines]))
        path.chmod(0o755)
        return str(path)

    return make


@pytest.mark.parametrize(
    ("lines", "version"),
    [
        (["echo 'OpenSM 3.3.23'"], "3.3.23"),
        (["echo 2 lines", "echo 'SimGrid version 3.32' >&2"], "3.32"),
        (["echo unknown option; exit 1"], ""),
        (["cat"], ""),
    ],
)
def test_the_first_number_with_a_dot_is_the_version(program, lines, version):
    assert program_version(program(*lines)) == version


def test_a_program_is_asked_once(program, tmp_path):
    path = program(f"echo x >> '{tmp_path}/calls'; echo 1.0")
    assert [program_version(path), program_version(path)] == ["1.0", "1.0"]
    assert (tmp_path / "calls").read_text() == "x\n"
