from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

import routelab
from routelab.toolkit.input_files import is_folder, is_regular, read_bytes, read_text

READS = re.compile(
    r"\.read_text\(|\.read_bytes\(|\.open\((\"rb\"|encoding|newline|\))|json\.load\("
)

OWN = {
    "_runtime/sources.py": "metadata of what is installed",
    "cluster/bench/processes/marks.py": "/proc",
    "cluster/bench/environment.py": "output of a process that it started",
    "cluster/bench/store.py": "output of a process that it started",
    "cluster/bench/fabric/files.py": "what it wrote itself",
    "results/provenance.py": "/proc",
    "simulation/smpi/simgrid.py": "output of a process that it started",
    "workflow/console.py": "the log of its own job",
    "workflow/run_messages.py": "what it wrote itself",
    "workflow/step_file.py": "what its run wrote",
    "workflow/project.py": "its own templates",
    "testing/child_process.py": "output of a process that it started",
    "testing/fresh.py": "a pipe from its parent",
}
"""Modules that read files otherwise, none of which a user names."""


def test_all_files_of_users_have_one_reader() -> None:
    home = Path(routelab.__file__).parent
    readers = {
        str(path.relative_to(home))
        for path in home.rglob("*.py")
        if READS.search(path.read_text(encoding="utf-8"))
    }
    assert readers == set(OWN)


@pytest.fixture
def special(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Make a pipe, a socket and, where that is allowed, a device."""
    paths = {kind: tmp_path / kind for kind in ("a pipe", "a socket", "a device")}
    os.mkfifo(paths["a pipe"])
    # a socket's name has at most 107 bytes, and the folder's name may have more
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("a socket")
    try:
        os.mknod(paths["a device"], 0o20600, os.makedev(1, 5))
    except PermissionError:
        del paths["a device"]
    return paths


def test_only_regular_files_are_read(special: dict[str, Path], tmp_path: Path) -> None:
    for kind, path in special.items():
        link = tmp_path / f"link to {kind}"
        link.symlink_to(path)
        for name in (path, link):
            with pytest.raises(OSError, match="it is no regular file"):
                read_bytes(name)


def test_large_files_are_refused_before_and_while_they_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"12345")
    assert read_bytes(path, 5) == b"12345"
    with pytest.raises(OSError, match="it is larger than 4 bytes"):
        read_bytes(path, 4)
    # the system says that it has no bytes
    assert os.stat("/proc/self/status").st_size == 0  # noqa: PTH116
    with pytest.raises(OSError, match="it is larger than 10 bytes"):
        read_bytes("/proc/self/status", 10)


@pytest.mark.parametrize("name", ["a" * 300, "a\0b", "\ud800", ""])
def test_names_that_no_file_has(name: str) -> None:
    assert not is_folder(name)
    assert not is_regular(name)
    with pytest.raises(OSError) as error:  # noqa: PT011 - the text depends on the system
        read_text(name)
    assert error.value.strerror
