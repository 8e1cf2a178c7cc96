"""Flow problems: a network, the traffic between its nodes, and what limits both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from routelab.api import Demand, Topology
from routelab.api.topology import Float64Array, Int32Array, Int64Array
from routelab.metrics import as_fraction, channel_factors
from routelab.metrics.bounds.throughput.kernels.pairs import DemandArrays, add_demand, part_sizes
from routelab.metrics.bounds.throughput.kernels.trees import NetworkArrays, lightest_costs

ROUNDING = 1e-9
"""Excess over the capacity of a terminal that counts as a rounding error."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """A demand on a network, with sums that several bounds need.

    A part of a demand is the share of a terminal's traffic that goes to one set of terminals.

    Attributes
    ----------
    topology : Topology
    demand : Demand
    """

    topology: Topology
    demand: Demand

    @cached_property
    def arrays(self) -> DemandArrays:
        """The parts of the demand and their destinations, for kernels."""
        demand = self.demand
        return DemandArrays(
            demand.part_start, demand.part_set, demand.set_start, demand.members, demand.to_self
        )

    @cached_property
    def _part_terminal(self) -> Int64Array:
        """Terminal that each part of the demand belongs to; int64, shape (K,)."""
        return np.repeat(np.arange(len(self.demand.rate)), np.diff(self.demand.part_start))

    @cached_property
    def _amount_classes(self) -> tuple[tuple[Fraction, ...], Int64Array]:
        """Return `amounts` and `part_class`: a class has the parts with equal rate, share and size.

        Fractions are slow, so they are computed once for each class and not for each part.
        """
        part_rate = self.demand.rate[self._part_terminal]
        keys = np.stack([part_rate, self.demand.part_share, part_sizes(self.arrays).astype(float)])
        class_keys, part_class = np.unique(keys, axis=1, return_inverse=True)
        # a part without destinations (size 0) sends nothing
        amounts = tuple(
            as_fraction(rate) * as_fraction(share) / int(size) if size else Fraction(0)
            for rate, share, size in class_keys.T.tolist()
        )
        return amounts, part_class.reshape(-1).astype(np.int64)

    @property
    def amounts(self) -> tuple[Fraction, ...]:
        """Demand of a pair of terminals at load 1, for each class of parts."""
        return self._amount_classes[0]

    @property
    def part_class(self) -> Int64Array:
        """Class of each part; int64, shape (K,)."""
        return self._amount_classes[1]

    @cached_property
    def senders(self) -> int:
        """Terminals that send."""
        return int((self.demand.rate > 0).sum())

    def between(
        self, source_node: Int32Array, target_node: Int32Array, nodes: int
    ) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Return flits per cycle at load 1 between nodes, and those of each terminal.

        Flow problems need the former. Pairs without a route do not count.

        Parameters
        ----------
        source_node, target_node : int32 array, shape (T,)
            Nodes at which the traffic of each terminal starts and ends.
        nodes : int
            Number of nodes.

        Returns
        -------
        total : float64 array, shape (nodes, nodes)
            From row to column.
        sent, received : float64 array, shape (T,)
            Total of each terminal.
        """
        total = np.zeros((nodes, nodes))
        sent, received = np.zeros((2, len(self.demand.rate)))
        part_amount = np.array([float(amount) for amount in self.amounts])[self.part_class]
        # adds to the last three arguments
        add_demand(
            self.arrays,
            part_amount,
            switch=self.topology.terminal_switch,
            hops=self._hops,
            source_node=source_node,
            target_node=target_node,
            total=total,
            sent=sent,
            received=received,
        )
        return total, sent, received

    @cached_property
    def _hops(self) -> Int64Array:
        """Hops between switches, −1 without a route."""
        equal = np.ones(self.topology.num_channels, dtype=np.int64)
        hops: Int64Array = lightest_costs(network_arrays(self.topology), equal)
        return hops

    @cached_property
    def switch_demand(self) -> Float64Array:
        """Flits per cycle at load 1 between switches; float64, shape (S, S)."""
        return self._by_switch[0]

    @cached_property
    def _by_switch(self) -> tuple[Float64Array, Float64Array, Float64Array]:
        """Results of `between` with the switches as nodes."""
        switch = self.topology.terminal_switch
        return self.between(switch, switch, self.topology.num_switches)

    @property
    def sent(self) -> Float64Array:
        """Flits per cycle that each terminal sends at load 1; float64, shape (T,)."""
        return self._by_switch[1]

    @property
    def received(self) -> Float64Array:
        """Flits per cycle that are sent to each terminal at load 1; float64, shape (T,)."""
        return self._by_switch[2]


def network_arrays(topology: Topology) -> NetworkArrays:
    """Return a network as arrays for kernels."""
    start, channel = topology.outgoing
    return NetworkArrays(start, channel, topology.channel_source, topology.channel_target)


@dataclass(frozen=True, eq=False)
class FlowProblem:
    """Traffic between the nodes of a network, and the capacities of its channels.

    Nodes are the switches and, for a given load, terminals that would send or receive more than
    one flit per cycle: no other terminal can be a limit. Channels are those of the network, then
    those from and to these terminals::

        nodes       switches               senders           receivers
        channels    of the network         from senders      to receivers

    Attributes
    ----------
    network : NetworkArrays
        All nodes and channels: its switches are the nodes.
    capacity : float64 array, shape (C,)
        Flits per cycle; 1 for the fastest channels.
    demand : float64 array, shape (N, N)
        Flits per cycle between nodes; 0 on the diagonal.
    local : float
        Flits per cycle between terminals of one switch, which no channel limits.
    senders, receivers : int64 array
        Terminals with a separate node, in the order of their channels.
    num_channels : int
        Number of channels of the network: the first ones.
    """

    network: NetworkArrays
    capacity: Float64Array
    demand: Float64Array
    local: float
    senders: Int64Array
    receivers: Int64Array
    num_channels: int

    @cached_property
    def routed(self) -> float:
        """Total demand between different nodes."""
        return float(self.demand.sum())

    @cached_property
    def pairs(self) -> tuple[Int64Array, Int64Array]:
        """Nodes of every pair with a demand, ascending."""
        source, target = np.nonzero(self.demand)
        return source, target


def flow_problem(traffic: Traffic, load: float | None = None) -> FlowProblem:
    """Return the flow problem of a traffic.

    Parameters
    ----------
    traffic : Traffic
    load : float, optional
        Offered load. Without it, the demand is that of load 1, and terminals are no limit: only
        switches are nodes.
    """
    # 1. Terminals that would send or receive more than their channel carries, 1 flit per cycle.
    topology = traffic.topology
    factor, terminal_limit = (1.0, np.inf) if load is None else (load, 1 + ROUNDING)
    senders = np.flatnonzero(traffic.sent * factor > terminal_limit)
    receivers = np.flatnonzero(traffic.received * factor > terminal_limit)
    # 2. Each becomes a node, behind the switches, with a channel from or to its switch. A terminal
    #    that is a sender and a receiver becomes two nodes. Channels are in the order of the table.
    num_switches, num_terminal_nodes = topology.num_switches, len(senders) + len(receivers)
    switch = topology.terminal_switch
    source_node, target_node = switch.copy(), switch.copy()
    source_node[senders] = num_switches + np.arange(len(senders))
    target_node[receivers] = num_switches + len(senders) + np.arange(len(receivers))
    source = np.concatenate([topology.channel_source, source_node[senders], switch[receivers]])
    target = np.concatenate([topology.channel_target, switch[senders], target_node[receivers]])
    num_nodes = num_switches + num_terminal_nodes
    by_source = np.argsort(source, kind="stable").astype(np.int32)
    start = np.searchsorted(source[by_source], np.arange(num_nodes + 1)).astype(np.int32)
    network = NetworkArrays(
        out_start=start,
        out_channel=by_source,
        channel_source=source.astype(np.int32),
        channel_target=target.astype(np.int32),
    )
    # 3. The demand between nodes. What stays at a switch takes no channel.
    demand = traffic.switch_demand
    if num_terminal_nodes:
        demand, _, _ = traffic.between(source_node, target_node, num_nodes)
    demand = demand * factor
    local = float(np.trace(demand))
    np.fill_diagonal(demand, 0.0)
    return FlowProblem(
        network=network,
        capacity=np.concatenate([1 / channel_factors(topology), np.ones(num_terminal_nodes)]),
        demand=demand,
        local=local,
        senders=senders,
        receivers=receivers,
        num_channels=topology.num_channels,
    )
