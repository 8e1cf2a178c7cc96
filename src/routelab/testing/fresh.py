"""One run in a process of its own: ``python -m routelab.testing.fresh``.

Standard input: JSON ``[kind, name, topologies, input]``. Standard output: the fingerprint of what
the plugin made of the input.
"""

from __future__ import annotations

import json
import sys

from routelab.registry.catalogue import installed_catalogue
from routelab.testing.fingerprints import fingerprint
from routelab.testing.inputs.examples import completed
from routelab.testing.inputs.inputs import inputs
from routelab.testing.subjects import instance, run


def main() -> None:
    """Run, and print the fingerprint."""
    kind, text, topologies, name = json.load(sys.stdin)
    catalogue = installed_catalogue()
    made = inputs(kind, text, topologies, catalogue)[name]()
    plugin = instance(kind, completed(kind, text, catalogue), catalogue)
    print(json.dumps(fingerprint(run(plugin, made))))


if __name__ == "__main__":
    main()
