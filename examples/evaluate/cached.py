"""Caches results, which is not an optimisation; `evaluate` refuses it."""

import numpy

_known = {}


def kernel(x):
    key = x.tobytes()
    if key not in _known:
        e = numpy.exp(x - x.max(axis=1, keepdims=True))
        for _ in range(30):  # slow enough to be worth caching
            out = e / e.sum(axis=1, keepdims=True)
        _known[key] = out
    return _known[key].copy()
