"""Failures in any network, named or random; `routelab.toolkit.grids` has those of grids."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

import numpy as np

from routelab.api.errors import InputError
from routelab.api.parameters import Integers, Parameters, Words, parameter
from routelab.api.topology import Topology


class FailureParameters(Parameters):
    """Failed parts of a network; see `with_failures`.

    As the first of two base classes it adds its parameters after those of the other one:
    ``class SlimFlyParameters(FailureParameters, SlimFlySize)``.
    """

    fail_switches: int = parameter(0, ge=0, description="Number of switches that fail at random")
    fail_links: int = parameter(
        0, ge=0, description="Number of links that fail at random, between live switches"
    )
    seed: int = parameter(0, ge=0, description="Seed of the random failures")
    failed_switches: Integers = parameter(
        (), description="Switches that fail before the random ones, by number, e.g. 3+7"
    )
    failed_links: Words = parameter(
        (),
        description="Links that fail before the random ones, each as the numbers of its switches, "
        "e.g. 0-1+3-7; with parallel links, all of them",
    )

    @property
    def any_failures(self) -> bool:
        """Whether any part fails."""
        return bool(
            self.fail_switches or self.fail_links or self.failed_switches or self.failed_links
        )


def with_failures(topology: Topology, failures: FailureParameters) -> Topology:
    """Let the named parts of a network fail, then random ones; see `with_random_failures`.

    Parameters
    ----------
    topology : Topology
    failures : FailureParameters
        Numbers of switches are those of `topology`.

    Raises
    ------
    InputError
        If a named part does not exist or is listed twice, more parts shall fail than exist, or no
        switch with a terminal remains.
    """
    damaged = topology
    if failures.failed_switches or failures.failed_links:
        problems: list[str] = []
        switches = _check_switches(topology, failures.failed_switches, problems)
        channels = _find_channels(topology, failures.failed_links, problems)
        if problems:
            raise InputError(f"{topology.family}: " + "; ".join(problems))
        damaged = topology.without(switches=switches, channels=channels)
    if not (failures.fail_switches or failures.fail_links):
        return damaged
    return with_random_failures(
        damaged, switches=failures.fail_switches, links=failures.fail_links, seed=failures.seed
    )


def _check_switches(topology: Topology, numbers: Sequence[int], problems: list[str]) -> list[int]:
    """Return the failed switches as a list; append what is wrong with them to `problems`."""
    for position, number in enumerate(numbers):
        if not 0 <= number < topology.num_switches:
            problems.append(
                f"failed_switches: switch {number} does not exist; there are 0 to "
                f"{topology.num_switches - 1}"
            )
        elif number in numbers[:position]:
            problems.append(f"failed_switches: switch {number} is listed twice")
    return list(numbers)


def _find_channels(topology: Topology, words: Sequence[str], problems: list[str]) -> list[int]:
    """Return the channels of the failed links; append what is wrong with them to `problems`."""
    source, target = topology.channel_source, topology.channel_target
    failed: dict[tuple[int, int], list[int]] = {}
    for word in words:
        match = re.fullmatch(r"([0-9]{1,9})-([0-9]{1,9})", word)
        if not match:
            problems.append(
                f"failed_links: {word!r} is not a link; write the numbers of its switches as 0-1"
            )
            continue
        low, high = sorted(map(int, match.groups()))
        between = np.flatnonzero(
            (source == low) & (target == high) | (source == high) & (target == low)
        )
        if not between.size:
            problems.append(f"failed_links: no link joins the switches {low} and {high}")
        elif (low, high) in failed:
            problems.append(f"failed_links: the link {word} is listed twice")
        # Parallel links between two switches fail together.
        failed[low, high] = between.tolist()
    return [channel for channels in failed.values() for channel in channels]


def with_random_failures(
    topology: Topology, *, switches: int = 0, links: int = 0, seed: int = 0
) -> Topology:
    """Let random switches fail, then random links between the remaining ones.

    With the same seed a larger number of failures includes the smaller one; for links, this holds
    if the number of failed switches is the same. A link fails with both of its channels.

    Parameters
    ----------
    topology : Topology
    switches, links : int
        Numbers of failures.
    seed : int

    Raises
    ------
    InputError
        If more parts shall fail than exist, or no switch with a terminal remains.

    Examples
    --------
    >>> from routelab.toolkit import build_grid, with_random_failures
    >>> with_random_failures(build_grid("torus", (4, 4), wrap=True), links=1, seed=2).failed_links
    ('1.0-1.1',)
    """
    # Each switch and each link has a random key, and the smallest keys fail. Keys do not depend on
    # the numbers of failures, so a larger number includes the smaller one. Raw output is the same
    # in every numpy, unlike that of Generator's methods.
    sort_key = np.random.PCG64(seed).random_raw(topology.num_switches + len(topology.links))
    failed = np.argsort(sort_key[: topology.num_switches], kind="stable")[:switches]
    alive = np.ones(topology.num_switches, dtype=np.bool_)
    alive[failed] = False
    # A link joins the same switches as its first channel. Only links that no failed switch has
    # taken along can fail.
    first_channel = topology.links[:, 0]
    source, target = topology.channel_source[first_channel], topology.channel_target[first_channel]
    candidates = np.flatnonzero(alive[source] & alive[target])
    for kind, count, available in (
        ("switches", switches, topology.num_switches),
        ("links", links, len(candidates)),
    ):
        if count > available:
            raise InputError(f"fail_{kind}: {count} {kind} cannot fail, only {available} are left")
    # Keys of links stand behind those of the switches.
    random_order = np.argsort(sort_key[topology.num_switches :][candidates], kind="stable")
    failed_links = topology.links[candidates[random_order[:links]]]
    return topology.without(switches=failed.tolist(), channels=failed_links.reshape(-1).tolist())


def failed_link_ends(topology: Topology) -> Iterator[tuple[int, int, str]]:
    """Yield both switches and the name of each failed link between remaining switches.

    Failed parallel links have one name, and are yielded once.
    """
    switch_number = {name: switch for switch, name in enumerate(topology.switch_names)}
    for name in dict.fromkeys(topology.failed_links):
        if ends := split_link_name(name, switch_number):
            yield switch_number[ends[0]], switch_number[ends[1]], name


def split_link_name(name: str, switches: Container[str]) -> tuple[str, str] | None:
    """Return the names of the switches in the name of a failed link; None if they are unknown.

    Parameters
    ----------
    name : str
        ``a-b``, or ``a>b`` for a single channel.
    switches : container of str
        Names of switches, which may contain these marks, too.
    """
    # Names may contain marks, so each mark is tried: in a-1-b the switches may be a-1 and b.
    for mark in re.finditer("[->]", name):
        ends = name[: mark.start()], name[mark.end() :]
        if ends[0] in switches and ends[1] in switches:
            return ends
    return None
