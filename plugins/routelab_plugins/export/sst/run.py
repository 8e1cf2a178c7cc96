"""run.py: the script that SST runs, with the speeds of a machine.

| property of the machine | in SST |
| --- | --- |
| `link_bandwidth` × capacity of the links | `link_bw` of routers; crossbars are twice as fast |
| `injection_bandwidth`, if limited | `link_bw` of endpoints, in both directions |
| `hop_latency` | in three equal parts: on the link, at the input and at the output of a router |

Sizes, loads and times of the run are plain numbers.
"""

from __future__ import annotations

from routelab.api import MachineSpeeds, RouteTable


def run_script(table: RouteTable, machine: MachineSpeeds) -> str:
    """Return a script of at most 30 lines, which offers uniform traffic on the routes."""
    link = machine.link_bandwidth * float(table.topology.channel_capacity[0])
    # A hop is a link and a router's input and output, each with a third of its latency. Links of
    # SST take time, so a machine without latencies gets the least that SST can count, 1 ps.
    latency = f"{max(round(machine.hop_latency / 3 * 1e12), 1)}ps"
    return _SCRIPT.format(
        vcs=int(table.path_length.max()) + 1,  # 0 to H: SST uses 1 for the first of H hops
        latency=latency,
        link=_bits(link),
        crossbar=_bits(2 * link),
        endpoint=_bits(machine.injection_bandwidth or link),
    )


def _bits(bandwidth: float) -> str:
    """Return bytes per second in the units of SST, without an exponent."""
    gigabits = f"{max(bandwidth * 8 / 1e9, 1e-9):.9f}"  # at least 1 bit per second
    return f"{gigabits.rstrip('0').rstrip('.')}Gb/s"


_SCRIPT = '''\
"""Uniform traffic on the routes of this folder: `sst run.py`. Hop k of a packet, from 1, is on
virtual channel k, whatever the table says: that is free of deadlock, and needs hops + 1 of them."""
import json, pathlib, sst
from sst.merlin.base import *
from sst.merlin.endpoint import *
from sst.merlin.interface import *
from sst.merlin.targetgen import *
from sst.merlin.topology import *
here = pathlib.Path(__file__).resolve().parent
rows = json.loads((here / "routes.json").read_text()).items()
routes = {{int(source): {{int(target): [tuple(path) for path in paths]
    for target, paths in row.items()}} for source, row in rows}}
topo, router = topoAny(), hr_router()
topo.routing_mode, topo.topo_name, topo.vcs_per_vn = "source_routing", "routelab", {vcs}
topo.import_graph(str(here / "network.graphml"))
router.link_bw, router.xbar_bw, router.flit_size = "{link}", "{crossbar}", "32B"
router.input_buf_size, router.output_buf_size, router.num_vns = "32kB", "32kB", 1
topo.link_latency = router.input_latency = router.output_latency = "{latency}"
router.xbar_arb, topo.host_link_latency, topo.router = "merlin.xbar_arb_lru", "{latency}", router
nic = EndpointNIC(use_reorderLinkControl=True, topo=topo)
nic.addPlugin("sourceRoutingPlugin", routing_table=routes)
nic.input_buf_size, nic.output_buf_size, nic.vn_remap = "32kB", "32kB", [0]
job, system = OfferedLoadJob(0, topo.getNumNodes()), System()
job.link_bw = nic.link_bw = "{endpoint}"
job.setEndpointNIC(nic)
job.pattern, job.offered_load, job.message_size = UniformTarget(), 0.5, "32B"
job.warmup_time, job.collect_time, job.drain_time = "20us", "100us", "200us"
system.setTopology(topo)
system.allocateNodes(job, "linear")
system.build()
'''
