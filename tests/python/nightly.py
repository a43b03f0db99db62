"""Tests that ./test runs in part and `./test --nightly` in full: random trials, and combinations of many cases."""

import os

NIGHTLY = "GPUPROF_NIGHTLY" in os.environ


def times(nightly, daily):
    return nightly if NIGHTLY else daily


def sample(cases, one_in):
    """Return an even selection of the cases. `one_in` should be coprime to the periods of their order."""
    return cases if NIGHTLY else cases[::one_in]
