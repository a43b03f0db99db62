"""Work on two streams that wait for each other by events: order_streams.py ROUNDS.

Each round records an event on a side stream, makes the main stream wait for it, and the other way round; then another 20,000 such
calls, without work, are timed. Prints a JSON object: {"main", "side": number of waits on each stream, "timed": those that were
timed, on the main stream, "ns": mean time of an Event.record and a wait_event together}.
"""

import json
import os
import sys
import time

import torch

TIMED = 200 if "GPU_CHECKS_SMALL" in os.environ else 20_000  # small: only to see that it runs


def main():
    rounds, side, stream = int(sys.argv[1]), torch.cuda.Stream(), torch.cuda.current_stream()
    data, done = torch.ones(1 << 20, device="cuda"), torch.cuda.Event()
    done.record(stream)
    for _ in range(rounds):
        side.wait_event(done)
        with torch.cuda.stream(side):
            data.mul_(1.0)
            ready = torch.cuda.Event()
            ready.record(side)
        stream.wait_event(ready)
        data.add_(1.0)
        done = torch.cuda.Event()
        done.record(stream)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    for _ in range(TIMED):
        ready.record(side)
        stream.wait_event(ready)
    ns = (time.perf_counter() - begun) * 1e9 / TIMED
    torch.cuda.synchronize()
    print(json.dumps({"main": rounds, "side": rounds, "timed": TIMED, "ns": ns}))


if __name__ == "__main__":
    main()
