"""Folders with programs that answer as Slurm's do."""

import os

import pytest

PARTITIONS = ["virtual|up|8|infinite", "small|up|4|infinite", "off|down|9|infinite"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with programs of its own, and no others, outside of any allocation."""
    for name in [name for name in os.environ if name.startswith("SLURM_")]:
        monkeypatch.delenv(name)
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
    """Slurm's commands with the partitions that a test wants."""

    def slurm(partitions=PARTITIONS, nodes=(), mpi=""):
        listed = [
            "\n".join(f"echo '{line}'" for line in lines) or ":" for lines in (nodes, partitions)
        ]
        program("sinfo", 'case "$*" in\n*--Node*) {} ;;\n*) {} ;;\nesac'.format(*listed))
        program("srun", f"printf '{mpi}' >&2")
        for name in ("salloc", "sbatch", "squeue"):
            program(name, "exit 1")

    return slurm
