"""Launches of the stand-ins for frameworks that a profiler sees: each plays the script of GPUPROF_FAKE_CUDA_SCRIPT through the fake
libcuda (tests/fakes/cuda), which is loaded as a framework would load it. Without the variable nothing is loaded."""

import ctypes
import os

seen = "GPUPROF_FAKE_CUDA_SCRIPT" in os.environ
count = 0  # of this process
_cuda = None


def launch(script=None):
    """`script`: the name of another one in the same folder."""
    global _cuda, count
    count += 1
    if seen:
        if _cuda is None:
            _cuda = ctypes.CDLL("libcuda.so.1")
            assert _cuda.cuInit(0) == 0
        path = script and os.path.join(os.path.dirname(os.environ["GPUPROF_FAKE_CUDA_SCRIPT"]), script).encode()
        assert _cuda.fake_cuda_play(path, f"time=start live inline first={count}".encode()) == 0
