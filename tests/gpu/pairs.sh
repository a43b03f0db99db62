#!/bin/sh
# Measures programs with and without a change, for predictions to be compared with: tests/gpu/pairs.sh [--out FOLDER].
# See tests/gpu/pairs/make.py, and bench/whatif/pairs.py, which reads the folder.
exec "${PYTHON:-python3}" "$(dirname "$0")/pairs/make.py" "$@"
