"""No layers."""

from __future__ import annotations

import numpy as np
from deadlock_cases import clockwise_ring_table, ring

from routelab_plugins.layers.none import NoLayers


def test_everything_is_on_channel_zero_and_flow_control_stays() -> None:
    for flow_control in ("plain", "bubble"):
        table = clockwise_ring_table(ring(4), hops=2, flow_control=flow_control)
        raised = table.with_vcs(np.arange(len(table.hop_vc)))
        result = NoLayers().assign(raised)
        assert not result.hop_vc.any()
        assert result.flow_control == flow_control
        assert np.array_equal(result.hop_channel, table.hop_channel)
        assert raised.hop_vc.any()  # the input is left alone
