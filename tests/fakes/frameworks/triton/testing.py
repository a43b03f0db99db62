"""Triton's timers, as far as tests/gpu/workloads/timings.py uses them: ours, GPUPROF_FAKE_DO_BENCH times as long."""

import os

from gpu_profile import do_bench as plain


def do_bench(function, quantiles):
    return float(os.environ.get("GPUPROF_FAKE_DO_BENCH", "1")) * plain(function, quantiles=quantiles)


def do_bench_cudagraph(function, return_mode):
    return plain(function, return_mode=return_mode)
