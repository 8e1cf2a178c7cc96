"""Folders with programs that answer as Slurm's do."""

import pytest

SRUN = """\
case "$1" in
--version) echo "slurm-wlm 22.05.8" ;;
--mpi=list) printf 'MPI plugin types are...\\n\\tpmix\\n\\tnone\\n\\tpmi2\\n'
    echo "specific pmix plugin versions available: pmix_v4" ;;
esac
"""
PARTITIONS = ["virtual|virtual*|up|infinite|1-infinite|8", "small|small|up|30:00|1-2|8"]
STATES = [f"n{number}|virtual|idle|none" for number in range(1, 9)]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with programs of its own, and no others."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def program(here):
    def program(name, script, folder="bin"):
        path = here / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    return program


@pytest.fixture
def slurm(program):
    """Slurm's commands with the answers that a test wants."""

    def slurm(partitions=PARTITIONS, states=STATES, srun=SRUN, config="MpiDefault = none"):
        lines = "\n".join(f"echo '{line}'" for line in partitions)
        nodes = "\n".join(f"echo '{line}'" for line in states)
        program("sinfo", f'case "$*" in *--Node*)\n{nodes}\n;; *)\n{lines}\n;; esac')
        program("srun", srun)
        program("scontrol", f"echo '{config}'")

    return slurm
