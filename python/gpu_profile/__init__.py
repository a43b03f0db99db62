"""gpu_profile: is the GPU busy, and why not?

    from gpu_profile import gpu_profile, GpuMonitor

``@gpu_profile`` and ``with GpuMonitor()`` sample a device while code runs and report how busy it was. ``report(file)``
returns the report of a recording. The package needs only Python. Without a GPU or the native library, monitored code
still runs, and the summary states why it has no figures. ``gpu_profile.torch`` provides the same names for PyTorch.

Names are loaded on first use, so that the console script, which uses none of them, starts fast.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers know the name; importing it from typing costs milliseconds
if TYPE_CHECKING:
    from . import torch as torch
    from .bench_memory import MemoryLimitError as MemoryLimitError
    from .bench_memory import MemoryUse as MemoryUse
    from .bench_memory import memory as memory
    from .bench_triton import do_bench as do_bench
    from .benchmarking import BenchComparison as BenchComparison
    from .benchmarking import bench as bench
    from .benchmarking import bench_compare as bench_compare
    from .benchmarking import benchmark as benchmark
    from .call import ProfiledResult as ProfiledResult
    from .decorator import gpu_profile as gpu_profile
    from .errors import Error as Error
    from .errors import GpuBackendError as GpuBackendError
    from .many_ranks.job import Ranks as Ranks
    from .many_ranks.job import ranks as ranks
    from .measurement import Comparison as Comparison
    from .measurement import Measurement as Measurement
    from .monitor import GpuMonitor as GpuMonitor
    from .program import binary as binary
    from .program import report as report
    from .recording import Trigger as Trigger
    from .recording import start as start
    from .recording import status as status
    from .recording import step as step
    from .recording import stop as stop
    from .recording import trigger as trigger
    from .repeats import MultiRunResult as MultiRunResult
    from .repeats import RunStats as RunStats
    from .repeats import profile_repeats as profile_repeats
    from .samples import GpuSample as GpuSample
    from .samples import SampleSeries as SampleSeries
    from .summary import GpuSummary as GpuSummary
    from .sweep import Benchmark as Benchmark
    from .sweep import perf_report as perf_report
    from .trace import Table as Table
    from .trace import Trace as Trace
    from .trace import open as open

__version__ = "0.1.0"

_HOMES = {
    "Benchmark": "sweep",
    "BenchComparison": "benchmarking",
    "Comparison": "measurement",
    "Error": "errors",
    "GpuBackendError": "errors",
    "GpuMonitor": "monitor",
    "GpuSample": "samples",
    "GpuSummary": "summary",
    "Measurement": "measurement",
    "MemoryLimitError": "bench_memory",
    "MemoryUse": "bench_memory",
    "MultiRunResult": "repeats",
    "ProfiledResult": "call",
    "Ranks": "many_ranks.job",
    "RunStats": "repeats",
    "SampleSeries": "samples",
    "Table": "trace",
    "Trace": "trace",
    "Trigger": "recording",
    "bench": "benchmarking",
    "bench_compare": "benchmarking",
    "benchmark": "benchmarking",
    "binary": "program",
    "do_bench": "bench_triton",
    "gpu_profile": "decorator",
    "memory": "bench_memory",
    "open": "trace",
    "perf_report": "sweep",
    "profile_repeats": "repeats",
    "ranks": "many_ranks.job",
    "report": "program",
    "start": "recording",
    "status": "recording",
    "step": "recording",
    "stop": "recording",
    "trigger": "recording",
}
__all__ = [*sorted(set(_HOMES) - {"open"}), "__version__"]  # `import *` does not shadow the builtin open


def __getattr__(name: str) -> object:
    import importlib

    if name == "torch":
        return importlib.import_module(".torch", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module("." + _HOMES[name], __name__), name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: object) -> None:
    """``%load_ext gpu_profile`` in IPython."""
    from . import magic

    magic.load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    from . import magic

    magic.unload_ipython_extension(shell)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES, "torch"]
