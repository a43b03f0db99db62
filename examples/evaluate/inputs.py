"""Many short rows. Called afresh, with a seed that nobody knows before, for every check and every timed call."""

import numpy


def inputs(seed):
    return (numpy.random.default_rng(seed).standard_normal((4096, 128), numpy.float32),)
