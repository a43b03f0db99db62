"""Controls for a program running under ``gpu-profile record``: when to record, and where its iterations start.

``start()`` and ``stop()`` start and stop recording in this process (with ``--capture-range start-stop`` nothing is
recorded before the first ``start()``); ``step()`` marks the start of an iteration (``--capture-range iteration:A-B``).
Each returns whether the process is being recorded; outside ``record`` they do nothing and return False.
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
    """Start recording in this process."""
    return _call("gpuprof_record_start")


def stop() -> bool:
    """Stop recording in this process; ``start()`` resumes it."""
    return _call("gpuprof_record_stop")


def step() -> bool:
    """Mark the start of the next iteration. The first one is number 1."""
    return _call("gpuprof_record_step")
