"""The journal of a fabric: written before each switch, so that later sessions can restore it."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from routelab.api import InputError
from routelab.results.atomic import explain_write_errors
from routelab.results.json_files import read_json, write_json

FORMAT = "fabric-journal/1"


class Journal:
    """The record of the routing to which a cluster's fabric is switched, and the fabric's lock.

    A session locks the fabric, writes the record before each switch, and removes it after the
    fabric is restored. If a session ends before that, the next one finds the record.

    Parameters
    ----------
    folder : path
        Folder with the journals of all fabrics.
    cluster : str
        Name of the cluster's file.
    """

    def __init__(self, folder: Path, cluster: str) -> None:
        self.folder = folder / re.sub(r"[^\w.-]", "_", cluster)
        self._lock_file: int | None = None  # file descriptor; None while it is not locked

    @property
    def path(self) -> Path:
        """File that exists while the fabric is switched."""
        return self.folder / "applied.json"

    @property
    def log(self) -> Path:
        """Log of all actions on the fabric, of all sessions in order."""
        return self.folder / "fabric.log"

    def lock(self) -> None:
        """Keep other sessions from using this fabric, until `release` or the end of this process.

        Raises
        ------
        InputError
            If another session uses the fabric, or the folder cannot be written.
        """
        with explain_write_errors(self.folder, self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock_file = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT, 0o666)
            # The umask may have removed the right of other users to lock this fabric.
            with suppress(PermissionError):  # another user owns it and has set its mode
                os.fchmod(self._lock_file, 0o666)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._lock_file, 100).decode(errors="replace").strip()
            raise InputError(
                f"another session ({holder}) measures on this cluster and has locked its fabric; "
                "wait until it ends, or stop it ('squeue --me' lists your Slurm jobs)"
            ) from None
        # The file names the session that has the lock, for the message above in another session.
        os.truncate(self._lock_file, 0)
        os.pwrite(self._lock_file, f"process {os.getpid()} on {os.uname().nodename}\n".encode(), 0)

    def release(self) -> None:
        """Release the fabric for other sessions."""
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    def read_entry(self) -> Mapping[str, Any] | None:
        """Return what an earlier session wrote if it did not restore the fabric, otherwise None.

        It has the texts ``topology``, ``routing`` and ``folder``, and the list ``hosts``.

        Raises
        ------
        InputError
            If the file is damaged. Do not remove it before the fabric is restored.
        """
        if not self.path.exists():
            return None
        try:
            record = read_json(self.path, FORMAT)
            texts = [record.get(name) for name in ("topology", "routing", "folder")]
            hosts = record.get("hosts")
            are_hosts = isinstance(hosts, list) and all(isinstance(host, str) for host in hosts)
            if not (are_hosts and all(isinstance(text, str) for text in texts)):
                raise InputError("expected texts topology, routing and folder, and a list of hosts")
        except InputError as error:
            # `error` may begin with the file's name and end with advice ("; ..."). The message
            # below names the file itself, and its advice is different.
            reason = str(error).partition(";")[0].removeprefix(f"{self.path}").lstrip(": ")
            raise InputError(
                "an earlier session did not restore the fabric, and its journal cannot be read, "
                f"so nothing is measured: {self.path}: {reason}; restore the fabric by hand, and "
                "only then remove that file"
            ) from error
        return record

    def write(self, entry: Mapping[str, Any]) -> None:
        """Record the routing that will be applied next.

        Raises
        ------
        InputError
            If the disk is full.
        """
        write_json(self.path, {"format": FORMAT, **entry})

    def clear(self) -> None:
        """Record that the fabric was restored."""
        self.path.unlink(missing_ok=True)
