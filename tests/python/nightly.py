"""What every run of ./test does a little of, and `./test --nightly` in full: trials of chance, and products of many cases."""

import os

NIGHTLY = "GPUPROF_NIGHTLY" in os.environ


def times(nightly, daily):
    return nightly if NIGHTLY else daily


def sample(cases, one_in):
    """Cases spread over all of them. `one_in` should share no factor with the periods in which they were listed."""
    return cases if NIGHTLY else cases[::one_in]
