"""``python -m routelab``."""

from routelab.cli import main

raise SystemExit(main())
