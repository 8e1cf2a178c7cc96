"""Random programs on random networks and machines, for the flow engine and its naive twin."""

from hypothesis import strategies as st
from random_programs import reachable_tables, schedules

from routelab.simulation.flow.engine import FlowSimulation
from routelab.simulation.flow.paths import Paths
from routelab.toolkit.machine import Machine

machines = st.builds(
    Machine,
    link_bandwidth=st.sampled_from([1000.0, 3e9]),
    injection_bandwidth=st.sampled_from([0.0, 700.0, 1000.0, 5e9]),
    ejection_bandwidth=st.sampled_from([0.0, 900.0, 4e9]),
    memory_bandwidth=st.sampled_from([0.0, 2000.0]),
    latency=st.sampled_from([0.0, 1e-6, 0.25]),
    hop_latency=st.sampled_from([0.0, 1e-7, 0.125]),
    memory_latency=st.sampled_from([0.0, 1e-7]),
    overhead=st.sampled_from([0.0, 1e-6, 0.0625]),
    eager_bytes=st.sampled_from([0.0, 999.0, 1e6]),
    handshake=st.booleans(),
    compute_rate=st.sampled_from([0.0, 1000.0]),
)


@st.composite
def cases(draw, may_stick=False):
    """A table, ranks on its terminals, a schedule and a machine."""
    table = draw(reachable_tables())
    ranks = draw(st.sampled_from([8, 6, 4, 3, 2, 1]))
    terminal = draw(
        st.lists(st.integers(0, table.topology.num_terminals - 1), min_size=ranks, max_size=ranks)
    )
    schedule = draw(schedules(ranks, may_stick=may_stick))
    return table, terminal, schedule, draw(machines), draw(st.integers(0, 3))


def simulation(case, **more):
    """The engine on a case."""
    table, terminal, schedule, machine, seed = case
    return FlowSimulation(schedule, Paths.create(table, terminal), machine, seed, **more)
