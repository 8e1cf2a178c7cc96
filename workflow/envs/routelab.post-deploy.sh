#!/usr/bin/env bash
set -o errexit -o nounset -o pipefail
python -m pip install --no-deps --no-build-isolation .
