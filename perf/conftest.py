"""What all measurements share."""

from __future__ import annotations

import os

# one thread each, so that times are those of one core
for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(name, "1")
