"""Next-hop tables are checked before compiled code reads them, which checks nothing."""

import numpy as np
import pytest

from routelab.api import PluginError, RouteTable, build_grid

RING = build_grid("torus", (4,), wrap=True)
FORWARD = np.tile(np.flatnonzero(RING.channel_direction == 0)[:, None], 4)


def test_next_hops_are_followed_to_every_target():
    table = RouteTable.from_next_hops(RING, FORWARD)
    assert np.array_equal(
        table.path_length.reshape(4, 4), (np.arange(4)[None] - np.arange(4)[:, None]) % 4
    )


@pytest.mark.parametrize(
    ("hops", "said"),
    [
        (FORWARD[:, :3], r"has shape \(4, 3\), expected \(4, 4\)"),
        (FORWARD.reshape(-1), r"has shape \(16,\), expected \(4, 4\)"),
        (FORWARD + RING.num_channels, "names a channel that does not exist"),
        (FORWARD * 0 - 2, "names a channel that does not exist"),
    ],
)
def test_a_table_that_does_not_fit_the_network_is_refused(hops, said):
    with pytest.raises(PluginError, match=said):
        RouteTable.from_next_hops(RING, hops)
