"""Columns of the results of `routelab infiniband`."""

from __future__ import annotations

from typing import Final

from routelab.api import Column

CHECK: Final = (
    Column("switches", "switches of the fabric"),
    Column(
        "hosts",
        "ports of channel adapters, and with `--routers` of routers, with a cable to a switch, "
        "without `left_out`",
    ),
    Column(
        "left_out",
        "such ports that count as no hosts in loads and lost pairs: those of aggregation nodes and "
        "routers; their traffic counts for credit loops",
    ),
    Column("routers", "ports of routers among `left_out`"),
    Column("cables", "cables between two switches"),
    Column(
        "verdict",
        "on unicast traffic: `proven`, `cycle` (a credit loop), `broken` (another fault), or `not "
        "enough input`: it depends on what the files lack",
    ),
    Column("assumed_verdict", "the verdict under `assumption`; only if it is `not enough input`"),
    Column("assumption", "what decides and the files do not say, e.g. `VL = SL`"),
    Column("loops", "different loops of forwarding entries"),
    Column("unreachable_lids", "LIDs that some switch cannot send packets to"),
    Column("foreign_lids", "LIDs in the tables that no port of the fabric has"),
    Column(
        "lost_pairs",
        "ordered pairs of hosts without a route, although cables connect them",
        unit="pairs",
    ),
    Column(
        "lost_switch_pairs",
        "missing routes from switches without hosts to switches; OpenSM's engines for trees leave "
        "some out, and this is no fault",
        unit="pairs",
    ),
    Column(
        "credit_loops",
        "groups of virtual lanes that wait for each other, if each side of a connection uses the "
        "SL of its own path record, or with all traffic on SL 0; without routes that have no SL in "
        "the file, and with VL = SL without `--sl2vl`",
    ),
    Column(
        "credit_loops_same",
        "the same if replies use the SL of the request, as RDMA-CM does; empty without SLs",
    ),
    Column(
        "service_levels",
        "`--sls`: `file`, or the SL of all unicast packets; `unknown` without it, which counts as "
        "SL 0",
    ),
    Column(
        "dropped_routes",
        "routes that are dropped, because an adapter or a switch maps their SL to VL 15, also on "
        "the last hop",
    ),
    Column(
        "unlisted_levels",
        "ordered pairs of end ports at different switches without an SL in the file, which leaves "
        "the verdict open if some service levels could close a credit loop",
        unit="pairs",
    ),
    Column(
        "unlisted_switch_levels",
        "such pairs with a switch at an end, which are left out of the verdict, because OpenSM's "
        "`nue` and `dfsssp` choose service levels for hosts only; 0 if no service levels could "
        "close a credit loop",
        unit="pairs",
    ),
    Column(
        "max_load",
        "load of the busiest cable in one direction: ordered pairs of hosts whose route uses it, "
        "times the speed of the fastest cable over its own",
        unit="routes",
    ),
    Column(
        "max_load_pairs",
        "ordered pairs of hosts whose route uses that cable in this direction",
        unit="pairs",
    ),
    Column(
        "load_bound",
        "lower bound of `max_load` for all tables of shortest routes",
        unit="routes",
    ),
    Column(
        "effective_bisection",
        "bandwidth between random halves of the hosts, as a share of that of the fastest cable: "
        "mean of 1,000 samples",
    ),
    Column(
        "effective_bisection_half_width",
        "half of the 95 % confidence interval of `effective_bisection`",
    ),
    Column("worst_cable", "cable whose failure would interrupt most pairs of hosts"),
    Column(
        "worst_cable_pairs",
        "ordered pairs of hosts that lose their route if `worst_cable` fails",
        unit="pairs",
    ),
)
"""Facts of a check."""
