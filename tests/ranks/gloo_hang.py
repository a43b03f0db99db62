"""A job of four processes that hangs: rank 3 skips one all-reduce. Each process writes its flight recorder's dump."""
import os
import threading
import time

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import _dump_fr_trace, _dump_fr_trace_json


def dump(rank, folder):
    time.sleep(3)
    with open(f"{folder}/nccl_trace_rank_{rank}", "wb") as file:
        file.write(_dump_fr_trace())
    os._exit(0)


def train(rank, pair, steps=6):
    weights, batch = torch.ones(256), torch.ones(64)
    for step in range(steps):
        dist.all_reduce(batch, group=pair)
        if rank == 3 and step == 4:
            time.sleep(60)  # an evaluation that only this rank runs
        dist.all_reduce(weights)
        dist.broadcast(batch, 0)


if __name__ == "__main__":
    rank = int(os.environ["RANK"])
    dist.init_process_group("gloo")
    pairs = [dist.new_group([0, 1], group_desc="tensor_parallel"), dist.new_group([2, 3], group_desc="tensor_parallel")]
    threading.Thread(target=dump, args=(rank, os.environ["FOLDER"])).start()
    train(rank, pairs[rank // 2])
