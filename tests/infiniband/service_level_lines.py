"""Files of service levels, as ``ibdmchk`` reads them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from routelab.toolkit.infiniband import ServiceLevels


def service_level_lines(levels: ServiceLevels) -> Iterator[str]:
    """Yield lines ``0xGUID LID SL``; unknown levels are left out."""
    for guid, row in zip(levels.source_guids, levels.levels, strict=True):
        for lid in np.flatnonzero(row >= 0).tolist():
            yield f"{guid} {lid} {row[lid]}"
