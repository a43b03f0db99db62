"""A trace of one process with many GPUs: in every step a GEMM, an all-reduce during a second GEMM, and a rest of the
all-reduce behind which nothing runs. The rest is longer on GPUs of higher number, and longest in the step `worst`."""

import json
import random

STEP = 1000.0  # us


def exposed_us(gpu, step, worst):
    """Return how long the all-reduce runs alone."""
    return (20 + 10 * gpu) * (3 if step == worst else 1)


def write_many_gpus(path, gpus, steps=6, worst=4):
    """Write the trace; kernels of GPU g run on streams 7 (compute) and 20 (NCCL)."""
    chance, events, correlation = random.Random(gpus), [], 0

    def add(kind, name, pid, tid, start, dur, **args):
        events.append({"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": tid, "ts": round(start, 3), "dur": round(dur, 3), "args": args})

    for step in range(steps):
        begin = 10_000 + step * STEP
        add("user_annotation", f"ProfilerStep#{step}", 1, 1, begin, STEP - 1)
        for gpu in range(gpus):
            alone = exposed_us(gpu, step, worst)
            at = begin + 2 * gpu + chance.random()
            work = [
                ("ampere_sgemm_128x64_tn", 7, 40.0, 200.0),
                ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 20, 240.0, 150.0 + alone),
                ("void cutlass::Kernel<cutlass_80_wmma_gemm>", 7, 240.0, 150.0),
                ("void at::native::vectorized_elementwise_kernel<4>", 7, 500.0 + alone, 20.0 + 8 * (gpu % 5)),
            ]
            for i, (name, stream, after, dur) in enumerate(work):
                correlation += 1
                add("cuda_runtime", "cudaLaunchKernel", 1, 1, at + 1.5 * i, 1.0, correlation=correlation)
                add("kernel", name, gpu, stream, begin + after, dur, device=gpu, stream=stream, correlation=correlation)
    properties = [{"id": gpu, "name": "NVIDIA H100 80GB HBM3"} for gpu in range(gpus)]
    path.write_text(json.dumps({"deviceProperties": properties, "traceEvents": events}))
    return path
