"""The summary at the end of the output of a NAS Parallel Benchmark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from routelab.api import BenchmarkError, BenchmarkTask
from routelab_plugins.benchmark_output import (
    DECIMAL,
    WHOLE,
    check_one,
    check_processes,
)
from routelab_plugins.npb_operations import operations
from routelab_plugins.npb_problems import NpbKernel, size_and_iterations
from routelab_plugins.quotes import quote_line

KERNELS = ("lu", "mg", "cg", "ft", "is")

BEGIN = re.compile(r" *(?P<kernel>[A-Z]+) Benchmark Completed\.? *")

FIELDS = (
    ("class", "Class", "[A-Z]"),
    ("size", "Size", rf"{WHOLE}|{WHOLE}x *{WHOLE}x *{WHOLE}"),
    ("iterations", "Iterations", WHOLE),
    ("seconds", "Time in seconds", DECIMAL),
    ("total", "Total processes", WHOLE),
    ("active", "(?:Active processes|Compiled procs)", WHOLE),
    ("mops", "Mop/s total", DECIMAL),
    ("mops_per_process", "Mop/s/process", DECIMAL),
    ("operations", "Operation type", r"[\w ]+"),
    ("verification", "Verification", "SUCCESSFUL|UNSUCCESSFUL|NOT PERFORMED"),
    ("version", "Version", rf"{WHOLE}(?:\.{WHOLE})*"),
)
"""Lines of the summary in order: field, printed name, and pattern of the value."""

SINGLE_FIELDS = ("seconds", "total", "active", "mops", "mops_per_process")
"""Fields that the output of one run has only once."""

LIKE_FIELD = re.compile(r"\s=\s|=\s\s|\s\s[0-9][0-9.]*$")
"""A line of the summary, or a part of one: an equals sign, or a number at the end after a gap."""

ROUNDING = 0.005
"""Largest rounding error of a printed number with two decimals."""

TOLERANCE = 0.01
"""Largest relative difference between a time and that computed from speed and operations."""


@dataclass(frozen=True)
class Summary:
    """The content of a summary.

    Attributes
    ----------
    kernel : str
    class_ : str
    size : tuple of int
    iterations : int
    seconds : float
    total, active : int
        Processes that were started, and those that did the work.
    mops, mops_per_process : float
        Million operations per second, of all processes and of one.
    verification : str
    version : str
    """

    kernel: NpbKernel
    class_: str
    size: tuple[int, ...]
    iterations: int
    seconds: float
    total: int
    active: int
    mops: float
    mops_per_process: float
    verification: str
    version: str

    @property
    def name(self) -> str:
        """Kernel and class, for messages."""
        return _name(self.kernel, self.class_)

    def facts(self) -> dict[str, Any]:
        """Return the values that are not figures of merit."""
        return {
            "kernel": self.kernel,
            "class": self.class_,
            "size": "x".join(map(str, self.size)),
            "iterations": self.iterations,
            "processes": self.total,
        }

    def check_processes(self, task: BenchmarkTask | None) -> None:
        """Raise unless all processes worked, in the requested number."""
        if self.active != self.total:
            raise BenchmarkError(
                "wrong-processes",
                f"{self.active} processes did the work of {self.total}",
            )
        check_processes(self.total, task)

    def check_request(self, kernel: str, class_: str, version: str) -> None:
        """Raise unless the requested program ran."""
        if (self.kernel, self.class_) != (kernel, class_):
            raise BenchmarkError(
                "wrong-benchmark", f"{self.name} ran, {_name(kernel, class_)} was requested"
            )
        # dots at the end: 3.4.1 is a version 3.4, but 3.41 is not
        if not f"{self.version}.".startswith(f"{version}."):
            raise BenchmarkError(
                "wrong-benchmark", f"version {self.version} ran, {version} was requested"
            )

    def check_verification(self) -> None:
        """Raise unless the program verified its result."""
        if self.verification != "SUCCESSFUL":
            raise BenchmarkError(
                "verification-failed", f"the program says: Verification = {self.verification}"
            )

    def check_consistent(self) -> None:
        """Raise if numbers contradict each other or the class."""
        expected = size_and_iterations(self.kernel, self.class_)
        if (self.size, self.iterations) != expected:
            size, iterations = expected
            raise BenchmarkError(
                "wrong-benchmark",
                f"{self.name} has size {'x'.join(map(str, size))} and "
                f"{iterations} iterations, not {'x'.join(map(str, self.size))} and "
                f"{self.iterations}",
            )
        if not self.mops:
            raise BenchmarkError(
                "no-result", "its speed is 0: the run was too short to be measured"
            )
        # Both speeds are rounded: the total by up to ROUNDING, and the speed of one process, which
        # is multiplied by their number, too. The last term allows for floating-point errors.
        difference = abs(self.mops - self.mops_per_process * self.total)
        if difference > ROUNDING * (self.total + 1) + 1e-9 * self.mops:
            raise BenchmarkError(
                "unreadable",
                f"{self.mops} Mop/s in all are not {self.total} times {self.mops_per_process}",
            )
        # The program divides the operations of the class by its time, and prints the result as its
        # speed. So the operations divided by the speed must give that time again.
        million_operations = operations(self.kernel, self.class_) / 1e6
        seconds = million_operations / self.mops
        if abs(seconds - self.seconds) > ROUNDING + TOLERANCE * self.seconds:
            raise BenchmarkError(
                "unreadable",
                f"{self.mops} Mop/s take {seconds:.2f} s for {self.name}, not {self.seconds} s",
            )


def read_summary(lines: Sequence[str]) -> tuple[Summary, list[str]]:
    """Return the summary in a complete output, and the lines of other programs in it.

    Raises
    ------
    BenchmarkError
        Unless there is exactly one summary, and it is valid, complete and consistent.
    """
    # 1. The first line of the summary, with the name of the kernel.
    begins = [
        (number, match) for number, line in enumerate(lines) if (match := BEGIN.fullmatch(line))
    ]
    check_one(len(begins), "line '... Benchmark Completed'")
    begin_number, begin = begins[0]
    # 2. The fields, which must come in their order. Lines of other programs may be among them.
    values: dict[str, str] = {}
    other_lines: list[str] = []
    missing_fields = list(FIELDS)
    for line in lines[begin_number + 1 :]:
        if not missing_fields:
            break
        field, name, form = missing_fields[0]
        if match := re.fullmatch(rf" *{name} *= *(?P<value>{form}) *", line):
            values[field] = match["value"]
            del missing_fields[0]
        # a line that looks like a field is damaged, or in the wrong order
        elif LIKE_FIELD.search(line):
            raise BenchmarkError(
                "unreadable", f"expected {name!r} in the summary, found {quote_line(line)}"
            )
        elif line.strip():
            other_lines.append(line)
    if missing_fields:
        _, name, _ = missing_fields[0]
        raise BenchmarkError("incomplete", f"the summary ends before {name!r}")
    # 3. If the output has a second line of one of these fields anywhere, it is that of another run,
    #    whose results would be mixed with those of this one.
    for field, name, _ in FIELDS:
        if field in SINGLE_FIELDS:
            count = sum(bool(re.match(rf" *{name} *=", line)) for line in lines)
            check_one(count, f"line {name!r}")
    return _parse_summary(begin["kernel"], values), other_lines


def _parse_summary(kernel: str, values: dict[str, str]) -> Summary:
    """Convert the texts of a summary's fields, `values` by field, and check that they agree.

    Raises
    ------
    BenchmarkError
        If kernel or class are unknown, or numbers contradict each other.
    """
    if kernel.lower() not in KERNELS:
        raise BenchmarkError(
            "wrong-benchmark", f"{kernel} ran, expected one of {', '.join(KERNELS)}"
        )
    name = cast(NpbKernel, kernel.lower())
    if values["class"] not in "SWABCDE":
        raise BenchmarkError("wrong-benchmark", f"class {values['class']} is not known")
    summary = Summary(
        kernel=name,
        class_=values["class"],
        size=tuple(int(part) for part in values["size"].split("x")),
        iterations=int(values["iterations"]),
        seconds=float(values["seconds"]),
        total=int(values["total"]),
        active=int(values["active"]),
        mops=float(values["mops"]),
        mops_per_process=float(values["mops_per_process"]),
        verification=values["verification"],
        version=values["version"],
    )
    summary.check_consistent()
    return summary


def _name(kernel: str, class_: str) -> str:
    return f"{kernel.upper()} class {class_}"
