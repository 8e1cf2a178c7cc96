"""Data rates of InfiniBand links.

A lane's rate is its signalling rate times the efficiency of its encoding: 8b/10b for SDR, DDR and
QDR, 64b/66b for FDR10, FDR and EDR (InfiniBand Architecture Specification, volume 2, release 1.3,
chapter 5). From HDR on, lanes use PAM4 with forward error correction, and the nominal rate of a
lane (50, 100, 200 Gbit/s) is that of its data. (InfiniBand Trade Association, *InfiniBand Roadmap*,
https://www.infinibandta.org/infiniband-roadmap/.)
"""

from __future__ import annotations

LANE_GBITS: dict[str, float] = {
    "SDR": 2.5 * 8 / 10,
    "DDR": 5.0 * 8 / 10,
    "QDR": 10.0 * 8 / 10,
    "FDR10": 10.3125 * 64 / 66,
    "FDR": 14.0625 * 64 / 66,
    "EDR": 25.78125 * 64 / 66,
    "HDR": 50.0,
    "NDR": 100.0,
    "XDR": 200.0,
}
"""Data rate of one lane by speed, in Gbit/s."""

WIDTHS = (1, 2, 4, 8, 12)
"""Numbers of lanes that a link can have."""


def link_bytes_per_second(width: int, speed: str) -> float:
    """Return the data rate of a link in one direction, in bytes per second; 0 if unknown.

    Parameters
    ----------
    width : int
        Number of lanes.
    speed : str
        Name in `LANE_GBITS`.
    """
    return width * LANE_GBITS.get(speed, 0.0) * 1e9 / 8
