"""Processes that Python makes, each with its own work on the GPU: workers.py spawn|forkserver|fork|underscore LAUNCHES

spawn, forkserver, fork   two workers of multiprocessing, made before CUDA is used here; they end as multiprocessing ends them
underscore                this process launches, waits, and ends by os._exit
Prints, as JSON, how many additions were launched in all. An addition of a tensor to itself is one kernel.
"""

import json
import multiprocessing
import os
import sys

WORKERS = 2


def work(launches):
    import torch

    x = torch.ones(1 << 16, device="cuda")
    torch.cuda.synchronize()
    for _ in range(launches):
        torch.add(x, x, out=x)
    torch.cuda.synchronize()


def main():
    how, launches = sys.argv[1], int(sys.argv[2])
    if how == "underscore":
        work(launches)
        print(json.dumps({"kernels": launches}), flush=True)
        os._exit(0)
    context = multiprocessing.get_context(how)
    workers = [context.Process(target=work, args=(launches,)) for _ in range(WORKERS)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    failed = [each.exitcode for each in workers if each.exitcode]
    print(json.dumps({"kernels": WORKERS * launches, "failed": failed}), flush=True)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
