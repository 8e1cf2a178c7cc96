from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routelab.api import InputError
from routelab.results.atomic import (
    atomic_directory,
    atomic_file,
    check_file_writable,
    check_folder_writable,
)


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_file_appears_when_the_block_is_done(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "x.npz"
    with atomic_file(target) as new:
        assert new.suffix == ".npz"
        new.write_text("content")
        assert not target.exists()
    assert target.read_text() == "content"
    assert names(target.parent) == {"x.npz"}


def fail_halfway(file: Path, error: type[BaseException]) -> None:
    file.write_text("half")
    raise error


@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_error_leaves_the_old_file(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "x"
    target.write_text("old")
    with pytest.raises(error), atomic_file(target) as new:
        fail_halfway(new, error)
    assert target.read_text() == "old"
    assert names(tmp_path) == {"x"}


def test_link_is_kept(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "x").write_text("old")
    (tmp_path / "x").symlink_to("there/x")
    with atomic_file(tmp_path / "x") as new:
        new.write_text("new")
    assert (tmp_path / "x").is_symlink()
    assert (tmp_path / "there" / "x").read_text() == "new"


def test_file_gets_the_usual_permissions(tmp_path: Path) -> None:
    with atomic_file(tmp_path / "x") as new:
        new.write_text("")
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_directory_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    for content in ("first", "second"):
        with atomic_directory(target) as new:
            (new / content).mkdir()
            (new / content / "file").write_text(content)
        assert names(target) == {content}
    assert (target / "second" / "file").read_text() == "second"
    assert names(tmp_path) == {"out"}


def test_error_leaves_the_old_directory(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("")
    with pytest.raises(ZeroDivisionError), atomic_directory(target) as new:
        fail_halfway(new / "half", ZeroDivisionError)
    assert names(target) == {"old"}
    assert names(tmp_path) == {"out"}


def test_old_directory_comes_back_if_the_new_one_cannot_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("")
    rename = Path.rename

    def refuse_new(self: Path, to: Path) -> Any:
        if to == target and (self / "new").exists():
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(InputError, match="No space left"), atomic_directory(target) as new:
        (new / "new").write_text("")
    assert names(target) == {"old"}
    assert names(tmp_path) == {"out"}


@pytest.mark.parametrize("context", [atomic_file, atomic_directory])
@pytest.mark.parametrize(
    ("number", "mend"),
    [
        (errno.ENOSPC, "No space left"),
        (errno.EDQUOT, "quota"),
        (errno.EROFS, "Read-only"),
        (errno.EACCES, "Permission denied"),
    ],
)
def test_errors_of_the_system_are_explained(
    tmp_path: Path, context: Callable[[Path], Any], number: int, mend: str
) -> None:
    target = tmp_path / "out"
    with pytest.raises(InputError, match=mend) as caught, context(target):
        raise OSError(number, os.strerror(number))
    assert str(target) in str(caught.value)
    assert names(tmp_path) == set()


@pytest.mark.parametrize("context", [atomic_file, atomic_directory])
def test_file_in_the_way_is_explained(tmp_path: Path, context: Callable[[Path], Any]) -> None:
    (tmp_path / "file").write_text("precious")
    with (
        pytest.raises(InputError, match="Not a directory"),
        context(tmp_path / "file" / "deep" / "out"),
    ):
        pytest.fail("the block must not run")
    assert (tmp_path / "file").read_text() == "precious"


def test_directory_never_replaces_a_file_nor_a_file_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(InputError, match="Not a directory"), atomic_directory(tmp_path / "file"):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="Is a directory"), atomic_file(tmp_path / "folder") as new:
        new.write_text("")
    assert names(tmp_path) == {"file", "folder"}


def test_file_size_limit_is_explained(tmp_path: Path) -> None:
    code = f"""
import resource
from routelab.api.errors import InputError
from routelab.results.atomic import atomic_file
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with atomic_file({str(tmp_path / "x")!r}) as new:
        new.write_bytes(bytes(5000))
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "File too large" in done.stdout
    assert names(tmp_path) == set()


def test_trouble_with_another_file_is_not_blamed_on_the_target(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), atomic_file(tmp_path / "x"):
        raise PermissionError(errno.EACCES, "Permission denied", "/etc/some-input")


def test_kill_leaves_the_old_directory(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("")
    code = f"""
import time
from routelab.results.atomic import atomic_directory
with atomic_directory({str(target)!r}) as new:
    (new / "half").write_text("")
    print("ready", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert names(target) == {"old"}
    assert all(name == "out" or name.startswith(".") for name in names(tmp_path))


@pytest.mark.parametrize("write", [atomic_file, atomic_directory, check_folder_writable])
@pytest.mark.parametrize("linked", [False, True])
def test_only_regular_files_and_folders_are_replaced(
    tmp_path: Path, write: Callable[..., Any], linked: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    name = pipe
    if linked:
        name = tmp_path / "link"
        name.symlink_to(pipe)
    before = names(tmp_path)
    with pytest.raises(InputError, match="it is no regular file"):  # noqa: SIM117
        with write(name):
            pytest.fail("the block ran")
    assert pipe.is_fifo()
    assert names(tmp_path) == before


def test_the_output_of_the_process_is_not_replaced() -> None:
    with pytest.raises(InputError, match="cannot write /dev/stdout: it is"):
        check_file_writable("/dev/stdout")


@pytest.mark.parametrize("check", [check_folder_writable, check_file_writable])
@pytest.mark.parametrize(("name", "cause"), [("a" * 300, "too long"), ("a\0", "character")])
def test_names_that_no_file_has_get_a_message(
    tmp_path: Path, check: Callable[..., Any], name: str, cause: str
) -> None:
    with pytest.raises(InputError, match=cause):
        check(tmp_path / name)
    assert names(tmp_path) == set()


def test_a_file_that_could_be_written_is_not_there_after_the_check(tmp_path: Path) -> None:
    check_file_writable(tmp_path / "deep" / "x")
    assert names(tmp_path / "deep") == set()
    with pytest.raises(InputError, match="Is a directory"):
        check_file_writable(tmp_path / "deep")
