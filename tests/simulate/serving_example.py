#!/usr/bin/env python3
"""The recordings that the guides of servers show: a worker's steps, and the captures of the graphs that it launches.

    tests/simulate/serving_example.py FOLDER [--dialect context|sglang]

Writes rank0.trace.json.gz and capture_traces/bs_4_rank0.json.gz, always the same bytes. `examples/serving` is what it writes for vLLM. The
engine is that of serving.py, small: five layers, four requests whose prompts take two steps, then 18 decode steps of one CUDA graph.
"""

import argparse
import gzip
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from serving import US, Engine, document

DECODED = 18
# (operator, module, shapes) of the kernels of a layer, in the order in which they are launched.
OPERATORS = (("aten::mm", "QKVParallelLinear", [[4, 4096], [4096, 6144]]), ("aten::mm", "RowParallelLinear", [[4, 4096], [4096, 4096]]),
             ("aten::mm", "MergedColumnParallelLinear", [[4, 4096], [4096, 28672]]), ("vllm::rms_norm", "RMSNorm", [[4, 4096]]),
             ("_C_cache_ops::reshape_and_cache_flash", "Attention", [[4, 8, 128]]), ("vllm::unified_attention", "Attention", [[4, 32, 128]]))


class Example(Engine):
    def __init__(self, dialect):
        super().__init__("example")
        self.dialect, self.mode, self.layers, self.width = dialect, "full", 5, 8
        self.ahead = self.host_sampling = self.dummies = self.collectives = False
        self.drafted, self.node_gap = 0, 700
        self.scheduling, self.launching, self.gemm, self.attention = 400 * US, 5 * US, 60 * US, 12 * US

    def run(self):
        for batch in [(3, 1100, 0, 0), (1, 700, 3, 3), *[(0, 0, 4, 4)] * DECODED]:
            self.step(*batch)
        return self

    def step(self, *batch):
        """With the Python functions of vLLM's engine, which say what the host does before the forward pass."""
        start = self.host
        super().step(*batch)
        if self.dialect == "context":
            self.function("vllm/v1/engine/core.py(391): step", start, self.host)
            self.function("vllm/v1/core/sched/scheduler.py(207): schedule", start + 2 * US, start + 150 * US)
            self.function("vllm/v1/worker/gpu_model_runner.py(1190): _prepare_inputs", start + 160 * US, start + 395 * US)

    def function(self, name, start, end):
        self.span("python_function", name, start, end)


def capture(engine):
    """The launches that made the graph: host records only, with their operators, shapes and modules."""
    made = Engine("capture")
    made.host = begun = 1_000_000
    external = 0
    made.call("cudaStreamBeginCapture", 5 * US)
    for layer in range(engine.layers):
        layer_start = made.host
        for operator, module, shapes in OPERATORS:
            start, external = made.host, external + 1
            made.host += 2 * US
            made.call("cudaLaunchKernel", 4 * US)
            made.events[-1]["args"]["External id"] = external
            made.span("cpu_op", operator, start + US, made.host, {"External id": external, "Input Dims": shapes})
            made.span("python_function", f"nn.Module: {module}_{layer}", start, made.host + US)
            made.host += 2 * US
        made.span("python_function", f"nn.Module: LlamaDecoderLayer_{layer}", layer_start, made.host)
    made.call("cudaStreamEndCapture", 5 * US)
    made.span("user_annotation", "capture_4_FULL" if engine.dialect == "context" else "capture_4_DECODE", begun, made.host)
    return made


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description="Writes the recordings of the guides of servers.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--dialect", choices=("context", "sglang"), default="context")
    options = parser.parse_args()
    engine = Example(options.dialect).run()
    write(options.folder / "rank0.trace.json.gz", document(engine, True))
    write(options.folder / "capture_traces" / "bs_4_rank0.json.gz", document(capture(engine), True))


if __name__ == "__main__":
    main()
