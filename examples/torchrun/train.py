"""Data-parallel training on CPUs, with a rank whose batches arrive late: torchrun --nproc-per-node 4 train.py traces

With a folder, torch.profiler writes a trace of each rank into it. Without one, only the steps are named, for `gpu-profile record`.
"""

import os
import sys
import time

import nvtx
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

SLOW_RANK, LATE_BY = 1, 0.03  # seconds per batch
STEPS = 20


class Batches(torch.utils.data.Dataset):
    """Random samples; on the slow rank, each takes its time to arrive, as from a disk that others use, too."""

    def __len__(self):
        return STEPS

    def __getitem__(self, _):
        time.sleep(LATE_BY if dist.get_rank() == SLOW_RANK else 0)
        return torch.randn(64, 256)


def train(after_step=lambda: None):
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(torch.utils.data.DataLoader(Batches(), batch_size=None))
    for step in range(STEPS):
        with nvtx.annotate(f"step {step}"):
            with nvtx.annotate("load_batch"):
                batch = next(batches)
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(model(batch), batch).backward()
            optimizer.step()
        after_step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    if folder := sys.argv[1:]:
        write = tensorboard_trace_handler(folder[0], worker_name=f"rank{os.environ['RANK']}")
        with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=5, warmup=5, active=10), on_trace_ready=write) as profiler:
            train(profiler.step)
    else:
        train()
    dist.destroy_process_group()
