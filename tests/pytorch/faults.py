"""Jobs of four processes with one fault each, or none: python3 faults.py TRACES

The same processes run one job after the other, and all are forked from one, because the import of PyTorch takes longer than all jobs. The
traces of each are in TRACES/FAULT/RUN, and how long the fault really took in each step, in ms, in delay.json.

    slow_host   rank 2 works 20 ms longer on its host, in each step
    pause       rank 3 stops for 100 ms in two of the ten recorded steps
    buckets     none; gradients are averaged in several pieces, which are under way at the same time
    sharded     none; parameters are sharded, so that a step has several kinds of collectives
    subgroups   none; all collectives are of two ranks, which the traces do not say
"""

import json
import multiprocessing
import sys
import time
from pathlib import Path

import torch
import torch._dynamo  # which the first DistributedDataParallel imports, and that takes longer than PyTorch itself
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

RANKS = 4
STEPS, SKIPPED = 14, 4
RUNS = {"slow_host": 5, "pause": 5, "buckets": 3, "sharded": 3, "subgroups": 1}
WIDTH = 256


def model_of(fault):
    layers = torch.nn.Sequential(*[torch.nn.Linear(WIDTH, WIDTH) for _ in range(6 if fault in ("buckets", "sharded") else 1)])
    if fault == "subgroups":
        return layers
    if fault != "sharded":
        return DistributedDataParallel(layers, bucket_cap_mb=0.25)
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(layers, mesh=mesh)


def delay_of(fault, rank, step):
    if fault == "slow_host" and rank == 2:
        return 0.02
    if fault == "pause" and rank == 3 and step in (SKIPPED + 2, SKIPPED + 5):
        return 0.1
    return 0


def job(folder, fault):
    rank = dist.get_rank()
    delayed = 0.0
    model = model_of(fault)
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])] if fault == "subgroups" else []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    write = tensorboard_trace_handler(folder, worker_name=f"rank{rank}")
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=2, warmup=2, active=10), on_trace_ready=write) as profiler:
        for step in range(STEPS):
            if delay := delay_of(fault, rank, step):
                begun = time.perf_counter()
                time.sleep(delay)
                delayed += time.perf_counter() - begun if step >= SKIPPED else 0
            optimizer.zero_grad()
            model(torch.randn(64, WIDTH)).sum().backward()
            if pairs:
                for parameter in model.parameters():
                    dist.all_reduce(parameter.grad, group=pairs[rank // 2])
                time.sleep(0.005 * (rank // 2))
            optimizer.step()
            profiler.step()
    if delayed:
        Path(folder, "delay.json").write_text(json.dumps(1000 * delayed / (STEPS - SKIPPED)))


def run_rank(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{Path(folder).resolve()}/meeting", rank=rank, world_size=RANKS)
    for fault, runs in RUNS.items():
        for run in range(runs):
            job(f"{folder}/{fault}/{run}", fault)
            dist.barrier()
    dist.destroy_process_group()


def main(folder):
    Path(folder).mkdir()
    fork = multiprocessing.get_context("fork")
    ranks = [fork.Process(target=run_rank, args=(rank, folder)) for rank in range(RANKS)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    sys.exit(any(each.exitcode for each in ranks))


if __name__ == "__main__":
    main(*sys.argv[1:])
