"""Times of a few PyTorch functions by several timers, as JSON: timings.py ours|processes|nvbench|triton

ours       bench() cold, with nvbench's stopping rule, hot, as a graph, without the blocking kernel
processes  bench() cold only, for a spread over processes
nvbench    NVIDIA's own (the package cuda-bench), its isolated measurement: blocking kernel, L2 flush, one call a sample
triton     triton.testing.do_bench and do_bench_cudagraph
Each says {"NAME": {"WAY": nanoseconds, ...}, ...}; nothing is judged here. Outputs are written into tensors that exist, so that no
timer meets an allocation.
"""

import importlib
import json
import os
import sys
import tempfile
import time

import torch

QUICK = {"min_time_s": 0.01} if "GPU_CHECKS_SMALL" in os.environ else {}  # only to see that it runs


def tensor(*shape, dtype=torch.float32):
    return torch.randn(*shape, device="cuda", dtype=dtype)


def functions():
    """By name. `tiny` takes a few us and `chain` is bound by its launches; `reread` fits the L2 cache."""
    small, large, square = tensor(1 << 16), tensor(1 << 24), tensor(2048, 2048, dtype=torch.bfloat16)
    cached, rows = tensor(1 << 20), tensor(4096, 4096)
    outputs = {id(each): torch.empty_like(each) for each in (small, large, square, cached, rows)}

    torch.cuda.synchronize()

    def out(each):
        return outputs[id(each)]

    def chain():
        for _ in range(100):
            torch.add(small, small, out=out(small))

    return {
        "tiny": lambda: torch.add(small, small, out=out(small)),
        "reread": lambda: torch.add(cached, cached, out=out(cached)),
        "add": lambda: torch.add(large, large, out=out(large)),
        "softmax": lambda: torch.softmax(rows, -1, out=out(rows)),
        "matmul": lambda: torch.mm(square, square, out=out(square)),
        "chain": chain,
    }


def ours():
    from gpu_profile import bench

    found = {}
    for name, function in functions().items():
        begun = time.monotonic()
        cold = bench(function, name=name, **QUICK)
        took = time.monotonic() - begun
        rest = {
            "entropy": bench(function, stop="entropy", **QUICK), "hot": bench(function, cold=False, **QUICK),
            "graph": bench(function, cold=False, graph=True, **QUICK), "gaps": bench(function, cold=False, blocking=False, **QUICK),
        }
        found[name] = {"cold": cold.median_ns, **{way: each.median_ns for way, each in rest.items()}}
        found[name] |= {"host": cold.host_ns, "settled_s": took, "blocking": cold.blocking, "timer": cold.timer,
                        "energy_j": rest["hot"].energy_per_call_j, "notes": [*cold.notes]}
    return found


def processes():
    from gpu_profile import bench

    return {name: {"cold": bench(function, **QUICK).median_ns} for name, function in functions().items()}


def nvbench():
    package = next(filter(None, map(module, ("cuda.bench", "cuda.nvbench"))))
    for name, function in functions().items():
        package.register(_benchmark(name, function))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "result.json")
        package.run_all_benchmarks(["--quiet", "--devices", "0", "--json", path])
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    return {benchmark["name"]: _summaries(benchmark["states"][0]) for benchmark in found["benchmarks"]}


def _benchmark(name, function):
    def benchmark(state):
        def launch(given):
            with torch.cuda.stream(torch.cuda.ExternalStream(given.get_stream().addressof())):
                function()

        state.exec(launch, batched=False)

    benchmark.__name__ = benchmark.__qualname__ = name
    return benchmark


def _summaries(state):
    """Seconds by tag to nanoseconds; older ones have no median."""
    values = {summary["tag"]: summary["data"] for summary in state.get("summaries") or []}
    found = {}
    for way in ("median", "mean"):
        for each in values.get(f"nv/cold/time/gpu/{way}", []):
            if each["name"] == "value":
                found[way] = float(each["value"]) * 1e9
    return found


def triton():
    testing = importlib.import_module("triton.testing")
    return {
        name: {
            "do_bench": testing.do_bench(function, quantiles=[0.5]) * 1e6,
            "do_bench_cudagraph": testing.do_bench_cudagraph(function, return_mode="median") * 1e6,
        }
        for name, function in functions().items()
    }


def module(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


if __name__ == "__main__":
    way = {"ours": ours, "processes": processes, "nvbench": nvbench, "triton": triton}[sys.argv[1]]
    # do_bench_cudagraph warms up on the stream that is current, which must be one that can be captured
    with torch.cuda.stream(torch.cuda.Stream()):
        answer = way()
    print(json.dumps(answer))
