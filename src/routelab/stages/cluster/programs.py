"""Checks whether launcher and benchmarks exist and use the same MPI."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from routelab.api import BenchmarkPlugin, InputError
from routelab.bench.launchers import find_program
from routelab.config.cluster.file import Cluster, ClusterFile
from routelab.stages.cluster.answers import ClusterCheck, checks_of_error, query_system
from routelab.toolkit.input_files import is_folder

Flavour: TypeAlias = Literal["MPICH", "Open MPI"]

_LIBRARY = re.compile(r"^\s*(lib(?:mpi|mpich|open-pal|open-rte)\.so\.(\d+)\S*)(.*)$", re.MULTILINE)
_ABSENT = re.compile(r"^\s*(\S+) => not found", re.MULTILINE)
_OPEN_MPI = ("20", "40", "80")
"""Versions of Open MPI's libmpi.so; MPICH and compatible libraries have 12."""

_MPI4PY = """
import ctypes, os, mpi4py
mpi4py.rc.initialize = False
try:
    from mpi4py import MPI
    print(MPI.Get_library_version())
except (ImportError, RuntimeError) as error:
    try:
        assert os.environ.get("MPI4PY_MPIABI") != "openmpi"
        library = ctypes.CDLL("libmpich.so.12")
    except (AssertionError, OSError):
        raise error from None
    text = ctypes.create_string_buffer(8192)
    library.MPI_Get_library_version(text, ctypes.byref(ctypes.c_int()))
    print(text.value.decode())
"""
"""Asks mpi4py for its MPI. Of MPICH it may not know Debian's name, which mpi-patterns does."""

_ABI: Mapping[Flavour, str] = {"MPICH": "mpich", "Open MPI": "openmpi"}
"""Library that mpi-patterns requests from mpi4py under a launcher of that MPI."""

_FOLDER = "add its folder to environment: LD_LIBRARY_PATH"

_MPICH_LINK = (
    f"{_FOLDER}; Debian calls MPICH's libmpich.so.12: make a folder with a link libmpi.so.12 to it"
)

_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}
"""Variables that Open MPI's launcher needs to work for root."""

_GOES_WITH: Mapping[str, Flavour] = {
    "mpiexec": "MPICH",
    "openmpi": "Open MPI",
    "pmi2": "MPICH",
    "pmix": "Open MPI",
}
"""MPI that a launcher, or a kind of MPI of srun, certainly starts."""


@dataclass(frozen=True)
class MpiLibrary:
    """The MPI library that a program loads.

    Attributes
    ----------
    flavour : {"MPICH", "Open MPI"} or None
        None: unknown.
    text : str
        The library, or why it is unknown.
    fix : str
        Not empty: the program cannot start, and this is the fix.
    """

    flavour: Flavour | None
    text: str
    fix: str = ""


def check_launcher(cluster: Cluster) -> list[ClusterCheck]:
    """Check the launcher, its version, and whether it is the one in the file."""
    what = f"launcher {cluster.launcher}"
    try:
        program = find_program(cluster)
    except InputError as error:
        text, _, fix = str(error).removeprefix(f"{what}: ").partition("; ")
        return [ClusterCheck(what, "missing", text, fix)]
    answer = query_system([program, "--version"])
    if answer.code != 0:
        return [ClusterCheck(what, "cannot tell", f"{program} --version: {answer.reason}")]
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    version = next((line for line in lines if re.search(r"\d+\.\d+", line)), "unknown version")
    found = f"{program} ({version})"
    flavour = _flavour_of_launcher(answer.stdout)
    if cluster.launcher != "srun" and flavour not in (None, _GOES_WITH[cluster.launcher]):
        other = "openmpi" if flavour == "Open MPI" else "mpiexec"
        fix = f"set launcher: {other}, or the path of the launcher: program: /path/to/it"
        return [ClusterCheck(what, "missing", f"{found} is that of {flavour}", fix)]
    known = {**os.environ, **cluster.environment}
    if cluster.launcher == "openmpi" and os.geteuid() == 0 and not known.keys() >= _AS_ROOT:
        given = ", ".join(f'{name}: "1"' for name in sorted(_AS_ROOT))
        fix = f"use another account, or set environment: {{{given}}}"
        return [ClusterCheck(what, "missing", f"{found} starts nothing for root", fix)]
    return [ClusterCheck(what, "ok", found)]


def _flavour_of_launcher(output: str) -> Flavour | None:
    if re.search(r"Open ?MPI|OpenRTE|PRTE", output):
        return "Open MPI"
    return "MPICH" if re.search(r"HYDRA|Intel\(R\) MPI", output, re.IGNORECASE) else None


def check_benchmark(
    file: ClusterFile, text: str, plugin: BenchmarkPlugin, nodes: int
) -> list[ClusterCheck]:
    """Check whether a benchmark can run on so many nodes, and its program and MPI."""
    cluster, what = file.cluster, f"benchmark {text}"
    each = cluster.ranks_per_node
    checks = []
    reason = plugin.supports(nodes * each, each)
    if reason:
        fix = "choose another network (--topology) or ranks_per_node"
        found = f"{reason} ({nodes} nodes with {each} ranks each)"
        checks.append(ClusterCheck(what, "missing", found, fix))
    try:
        program = cluster.executable(plugin.name, plugin.executables(nodes * each))
    except InputError as error:
        return [*checks, *_no_program(file, what, plugin.name, error)]
    return [*checks, ClusterCheck(what, "ok", str(program)), check_mpi(cluster, what, program)]


def check_configured(file: ClusterFile, name: str) -> list[ClusterCheck]:
    """Check the file's entry of a benchmark, as far as possible without a run."""
    cluster, what = file.cluster, f"benchmarks: {name}"
    setting = cluster.benchmarks[name]
    folder = Path(setting)
    if "/" in setting and is_folder(folder):
        note = f"add --benchmark {name}: the required files depend on its parameters"
        return [ClusterCheck(what, "cannot tell", f"folder {folder}", note)]
    try:
        program = cluster.executable(name, ())
    except InputError as error:
        return _no_program(file, what, name, error)
    return [ClusterCheck(what, "ok", str(program)), check_mpi(cluster, what, program)]


def _no_program(file: ClusterFile, what: str, name: str, error: InputError) -> list[ClusterCheck]:
    return checks_of_error(what, error, f"{file.path}: ", "benchmarks: ", f"{name}: ")


def check_mpi(cluster: Cluster, what: str, program: Path) -> ClusterCheck:
    """Check whether a program and the launcher use the same MPI; otherwise each rank is alone."""
    what = f"{what}: MPI"
    key = cluster.launcher if cluster.launcher != "srun" else (cluster.mpi or "").split("_v")[0]
    wanted = _GOES_WITH.get(key)
    linked = linked_mpi(program, cluster.environment, wanted)
    if linked.fix:
        return ClusterCheck(what, "missing", linked.text, linked.fix)
    if linked.flavour is None or wanted is None:
        return ClusterCheck(what, "cannot tell", linked.text)
    if linked.flavour == wanted:
        return ClusterCheck(what, "ok", linked.text)
    if cluster.launcher == "srun":
        # each launcher can be built for either MPI
        found = f"{linked.text}; --mpi={cluster.mpi} is sure to start {wanted}"
        return ClusterCheck(what, "cannot tell", found, "test with two nodes how many ranks start")
    other = "openmpi" if linked.flavour == "Open MPI" else "mpiexec"
    found = f"{linked.text}, and {cluster.launcher} starts {wanted}: each rank would run alone"
    return ClusterCheck(
        what, "missing", found, f"set launcher: {other}, or build the benchmark with {wanted}"
    )


def linked_mpi(
    program: Path, environment: Mapping[str, str], wanted: Flavour | None = None
) -> MpiLibrary:
    """Return the MPI that a program loads; for a Python interpreter, the one of its mpi4py.

    Parameters
    ----------
    program : Path
    environment : mapping
        Variables in addition to the present ones.
    wanted : {"MPICH", "Open MPI"}, optional
        The launcher's MPI: if several are installed, mpi4py takes this one.
    """
    if re.fullmatch(r"python[0-9.]*", program.name):
        abi = {"MPI4PY_MPIABI": _ABI[wanted]} if wanted is not None else {}
        return _mpi4py(program, abi | dict(environment))
    answer = query_system(["ldd", str(program)], environment)
    if answer.code != 0:
        return MpiLibrary(None, f"ldd: {answer.reason}")
    libraries = _LIBRARY.findall(answer.stdout)
    absent = _ABSENT.findall(answer.stdout)
    if absent:
        fix = _MPICH_LINK if "libmpi.so.12" in absent else _FOLDER
        return MpiLibrary(None, f"{', '.join(absent)} not found", fix)
    if not libraries:
        return MpiLibrary(None, "it is not linked with a known MPI library")
    shown = next((name for name, *_ in libraries if name.startswith("libmpi")), libraries[0][0])
    own = any(
        name.startswith("libopen") or (name.startswith("libmpi.") and version in _OPEN_MPI)
        for name, version, _ in libraries
    )
    flavour: Flavour = "Open MPI" if own else "MPICH"
    return MpiLibrary(flavour, f"{shown} ({flavour})")


def _mpi4py(program: Path, environment: Mapping[str, str]) -> MpiLibrary:
    answer = query_system([str(program), "-c", _MPI4PY], environment)
    if answer.code is None:
        return MpiLibrary(None, answer.reason)
    if answer.code != 0:
        lines = [line.strip() for line in answer.stderr.splitlines() if line.strip()]
        text = f"mpi4py: {lines[-1] if lines else f'exit code {answer.code}'}"
        if "No module named" in text:
            return MpiLibrary(None, text, f"install mpi4py for {program}, or name another python")
        return MpiLibrary(None, text, f"install the launcher's MPI; if it is there, {_FOLDER}")
    text = f"mpi4py with {answer.reason}".replace("MPICH Version:", "MPICH").replace("\t", " ")
    if "Open MPI" in answer.stdout:
        return MpiLibrary("Open MPI", text)
    return MpiLibrary("MPICH" if re.search(r"MPICH|Intel", answer.stdout) else None, text)
