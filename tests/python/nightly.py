"""Tests that ./test runs in part and `./test --nightly` in full: random trials, and combinations of many cases."""

import os
from itertools import cycle, islice

NIGHTLY = "GPUPROF_NIGHTLY" in os.environ


def times(nightly, daily):
    return nightly if NIGHTLY else daily


def sample(cases, one_in):
    """Return an even selection of the cases. `one_in` should be coprime to the periods of their order."""
    return cases if NIGHTLY else cases[::one_in]


def pairs(functions, *groups):
    """Return (function, code): every function with a code of each group, and every code with a function. At night all combinations."""
    if NIGHTLY:
        return [(function, code) for function in functions for codes in groups for code in codes]
    return [pair for codes in groups for pair in islice(zip(cycle(functions), cycle(codes), strict=False), max(len(functions), len(codes)))]
