#!/usr/bin/env bash
# Installs routelab from the current folder, which must be a clone of it.
set -o errexit -o nounset -o pipefail
if ! grep -qs '^name = "routelab"$' pyproject.toml; then
    echo "routelab: --sdm conda works in a clone of routelab only; install routelab and run without it" >&2
    exit 1
fi
python -m pip install --no-deps --no-build-isolation .
