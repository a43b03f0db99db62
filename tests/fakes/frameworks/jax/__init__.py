"""A stand-in for JAX: arrays are there when they are waited for. No stream is told, as by the framework."""

import contextlib
import os
import types

from . import numpy



def jit(function):
    return function


def block_until_ready(value):
    return value.block_until_ready() if hasattr(value, "block_until_ready") else value


def devices():
    return [types.SimpleNamespace(platform="gpu")]


@contextlib.contextmanager
def trace(folder):
    """What JAX's profiler leaves, empty."""
    os.makedirs(os.path.join(folder, "plugins"))
    with open(os.path.join(folder, "plugins", "host.xplane.pb"), "wb"):
        yield


profiler = types.SimpleNamespace(trace=trace)
random = types.SimpleNamespace(PRNGKey=int, normal=lambda _key, shape: numpy.ones(shape))
__version__ = "0 (a stand-in)"
