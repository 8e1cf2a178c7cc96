"""permutation: the permutation of terminals that a file lists."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from typing_extensions import override

from routelab.api import Demand, Parameters, Topology, TrafficPlugin, parameter
from routelab.toolkit.input_files import read_user_text, refuse


class PermutationTrafficParameters(Parameters):
    """File of the permutation."""

    file: Path = parameter(
        description="Text file with a line 'source target' for each terminal that sends, by rank; "
        "a comma may separate them, text after # is ignored"
    )


class PermutationTraffic(TrafficPlugin):
    """Terminals that are not listed as sources, or that are their own target, are silent."""

    name = "permutation"
    summary = "Every terminal sends to the one that a file names"
    Parameters = PermutationTrafficParameters

    @override
    def input_files(self) -> list[Path]:
        return [self.parameters.file]

    def supports(self, topology: Topology) -> str | None:
        """Return why terminals of the file are missing, or none sends to another; else None.

        Raises
        ------
        InputError
            If the file cannot be read or is not a permutation; names the file and the lines.
        """
        target_of, count = read_permutation(self.parameters.file), topology.num_terminals
        # terminals are numbered from 0
        num_named = 1 + max(*target_of.keys(), *target_of.values()) if target_of else 0
        if num_named > count:
            return (
                f"{self.parameters.file} is for {num_named} terminals or more, and the network has "
                f"{count}"
            )
        if all(source == target for source, target in target_of.items()):
            return f"in {self.parameters.file} no terminal sends to another"
        return None

    def demand(self, topology: Topology, seed: int) -> Demand:
        """Return the permutation; the seed has no effect.

        Raises
        ------
        InputError
            If the file cannot be read or is not a permutation; names the file and the lines.
        """
        targets = np.full(topology.num_terminals, -1)  # silent
        for source, target in read_permutation(self.parameters.file).items():
            targets[source] = target
        return Demand.permutation(
            targets,
            f"as {self.parameters.file.name} lists; terminals that are not listed are silent",
        )


def read_permutation(path: Path) -> dict[int, int]:
    """Return the target of each terminal that sends, by its rank.

    Raises
    ------
    InputError
        If the file cannot be read, a line does not name two terminals, or two lines have the same
        source or target; names the file and up to five lines.
    """
    target_of: dict[int, int] = {}
    # first line in which a terminal sends, and in which it receives
    sender_line: dict[int, int] = {}
    receiver_line: dict[int, int] = {}
    problems = []
    for line, content in enumerate(read_user_text(path).splitlines(), start=1):
        words = content.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        # no network has terminals with numbers of ten digits
        is_number = [word.isascii() and word.isdigit() and len(word) < 10 for word in words]
        if len(words) != 2 or not all(is_number):
            problems.append(
                f"line {line}: {content.strip()!r} does not name two terminals; write source and "
                "target as 0 7"
            )
            continue
        source, target = map(int, words)
        if source in sender_line:
            problems.append(
                f"line {line}: terminal {source} already sends in line {sender_line[source]}"
            )
        if target in receiver_line:
            problems.append(
                f"line {line}: terminal {target} already receives in line {receiver_line[target]}"
            )
        sender_line.setdefault(source, line)
        receiver_line.setdefault(target, line)
        target_of[source] = target
    refuse(path, problems)
    return target_of
