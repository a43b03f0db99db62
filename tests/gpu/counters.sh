#!/bin/sh
# Records what kernel counters do on a GPU, so that the rest can be tested without one: tests/gpu/counters.sh [--out FOLDER].
# See tests/gpu/counters/make.py.
exec "${PYTHON:-python3}" "$(dirname "$0")/counters/make.py" "$@"
