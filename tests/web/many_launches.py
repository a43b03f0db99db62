"""A trace of many kernels on one stream, each after its launch."""

import json
import random


def write_many_launches(path, kernels):
    chance, events, time = random.Random(1), [], 1000.0
    for i in range(kernels):
        dur = round(chance.choice([1.5, 3.25, 12.0, 40.125]) * chance.random() + 0.5, 3)
        name = f'kernel_{chance.randrange(40)}<float, "{i % 7}">(float*, int)'
        launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": round(time, 3), "dur": 1.2, "args": {"correlation": i + 1}}
        args = {"device": 0, "stream": 7, "correlation": i + 1, "grid": [i % 64 + 1, 1, 1], "block": [128, 1, 1]}
        kernel = {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": round(time + 4, 3), "dur": dur, "args": args}
        events += [launch, kernel]
        time += dur + 5 + chance.random() * 10
    path.write_text(json.dumps({"deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "traceEvents": events}))
    return path
