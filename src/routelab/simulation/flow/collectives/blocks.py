"""Blocks of messages from collective calls."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from routelab.api.blocks import Block
from routelab.api.errors import InputError, PluginError, UnsupportedError
from routelab.api.workload import Collective
from routelab.simulation.flow.collectives.choice import (
    ALGORITHMS,
    POWERS_OF_TWO,
    algorithm_of,
)
from routelab.simulation.flow.collectives.group import Group, is_power_of_two
from routelab.toolkit.workloads.block_builder import BlockBuilder


def collective_block(
    call: Collective, ranks: int, choice: Mapping[str, str] = MappingProxyType({})
) -> Block:
    """Return the messages of a call, for all its groups.

    Parameters
    ----------
    call : Collective
    ranks : int
        Ranks of the program.
    choice : mapping of str to str
        Algorithm by collective; others use MPICH's choice.

    Raises
    ------
    InputError
        If the algorithm does not exist.
    UnsupportedError
        If the algorithm is for powers of two and the size of a group is not.
    PluginError
        If a rank is in two groups, a root is outside of one, or the matrix does not fit.
    """
    _require_fit(call, ranks)
    builder = BlockBuilder(ranks)
    algorithms = ALGORITHMS[call.name]
    for members in call.members(ranks):
        size = len(members)
        # The study's choice comes before that of the workload, and both before MPICH's.
        name = (
            choice.get(call.name)
            or call.algorithm
            or algorithm_of(call.name, bytes_=call.bytes, ranks=size)
        )
        if name not in algorithms:
            raise InputError(
                f"{call.name} has no algorithm {name!r}, it has {', '.join(algorithms)}"
            )
        if (call.name, name) in POWERS_OF_TWO and not is_power_of_two(size):
            raise UnsupportedError(f"{call.name}={name} needs a power of two of ranks, not {size}")
        matrix = None if call.matrix is None else call.matrix[np.ix_(members, members)]
        if size > 1:  # one rank alone sends no messages
            group = Group(
                builder,
                rank=members.astype(np.int64),
                bytes=call.bytes,
                root=call.root,
                matrix=matrix,
            )
            add_messages = algorithms[name]
            add_messages(group)
    return builder.build()


def _require_fit(call: Collective, ranks: int) -> None:
    """Raise an error if the groups, the root or the matrix of a call do not fit the ranks."""
    groups = call.members(ranks)
    members = np.concatenate(groups)
    all_exist = len(members) == 0 or (members.min() >= 0 and members.max() < ranks)
    if not all_exist or len(np.unique(members)) < len(members):
        raise PluginError(f"{call.name}: groups name a rank twice, or one that does not exist")
    if not all(0 <= call.root < len(group) for group in groups):
        raise PluginError(f"{call.name}: root {call.root} is outside of a group")
    if (call.name == "alltoallv") != (call.matrix is not None):
        raise PluginError(f"{call.name}: only alltoallv has a matrix")
    if call.matrix is not None and call.matrix.shape != (ranks, ranks):
        raise PluginError(f"{call.name}: the matrix is not of {ranks} x {ranks} ranks")
