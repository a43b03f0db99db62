"""What a program says to ``gpu-profile record``, when it runs under it: when to record, and where its iterations begin.

``start()`` and ``stop()`` begin and end recording in this process (with ``--capture-range start-stop`` nothing is
recorded before the first ``start()``); ``step()`` says that an iteration begins (``--capture-range iteration:A-B``).
Each returns whether the process is being recorded; outside of ``record`` they do nothing and return False.
"""

from __future__ import annotations

import ctypes
import os
from functools import lru_cache

_LIBRARY = "libgpuprof_inject.so"


@lru_cache(maxsize=1)
def _library() -> ctypes.CDLL | None:
    if "GPUPROF_RECORD_DIR" not in os.environ:
        return None
    for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"):
        path = os.environ.get(name, "")
        if os.path.basename(path) == _LIBRARY:
            try:
                return ctypes.CDLL(path)
            except OSError:
                return None
    return None


def _call(name: str) -> bool:
    library = _library()
    return library is not None and bool(getattr(library, name)())


def start() -> bool:
    """Begin recording in this process, now."""
    return _call("gpuprof_record_start")


def stop() -> bool:
    """End recording in this process, now; ``start()`` begins it again."""
    return _call("gpuprof_record_stop")


def step() -> bool:
    """Say that the next iteration begins. The first one is number 1."""
    return _call("gpuprof_record_step")
