"""The lock of a results folder, also on file systems without locks."""

from __future__ import annotations

import errno
import fcntl
import os

import pytest

from routelab.api import InputError
from routelab.workflow.results_lock import lock_results


def test_a_folder_is_locked_once(tmp_path):
    lock = lock_results(tmp_path / "results", 0)
    os.write(lock, b"process 7 on n01\n")
    with pytest.raises(InputError, match=r"^another run \(process 7 on n01\) is working in"):
        lock_results(tmp_path / "results", 0)
    os.close(lock)
    os.close(lock_results(tmp_path / "results", 0))


def test_a_file_system_without_locks_is_used_without(tmp_path, monkeypatch):
    def flock(file, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", flock)
    os.close(lock_results(tmp_path, 0))


def test_another_error_of_the_lock_is_raised(tmp_path, monkeypatch):
    def flock(file, operation):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(OSError, match="Input/output error"):
        lock_results(tmp_path, 0)
