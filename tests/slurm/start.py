"""Start the private Slurm of the tests, for trying things by hand; Ctrl-C ends it.

    python tests/slurm/start.py [NODES]

prints the line that makes srun, salloc and `routelab bench` in another shell use it.
"""

from __future__ import annotations

import signal
import sys
import time

from cluster import PACKAGES, ClusterError, VirtualSlurm, missing


def main() -> int:
    """Start, tell, wait for a signal, stop."""
    if lacking := missing():
        print(f"not installed: {', '.join(lacking)}; Debian: {PACKAGES}", file=sys.stderr)
        return 2
    if len(sys.argv) > 2 or not all(word.isdecimal() for word in sys.argv[1:]):
        print(f"usage: {sys.argv[0]} [NODES]", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with VirtualSlurm(*map(int, sys.argv[1:])) as slurm:
            print(f"{len(slurm.names)} nodes are idle; Ctrl-C ends them. In another shell:\n")
            for name, value in slurm.environ.items():
                print(f"    export {name}={value}")
            sys.stdout.flush()
            while True:
                time.sleep(3600)
    except (ClusterError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main())
