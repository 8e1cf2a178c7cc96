"""One run in a separate process: ``python -m routelab.testing.fresh``.

Standard input: JSON ``[kind, name, topologies, input]``. Standard output: the digests of the
plugin's result.
"""

from __future__ import annotations

import json
import sys

from routelab.registry.catalogue import installed_catalogue
from routelab.testing.fingerprints import field_digests
from routelab.testing.inputs.by_kind import inputs
from routelab.testing.inputs.examples import complete_name
from routelab.testing.subjects import load_instance, run_plugin


def main() -> None:
    """Run the plugin and print the digests of its result."""
    kind, text, topologies, name = json.load(sys.stdin)
    catalogue = installed_catalogue()
    value = inputs(kind, text, topologies, catalogue)[name]()
    plugin = load_instance(kind, complete_name(kind, text, catalogue), catalogue)
    print(json.dumps(field_digests(run_plugin(plugin, value))))


if __name__ == "__main__":
    main()
