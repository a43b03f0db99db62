"""A stand-in for Triton: a kernel is launched on the stand-in's PyTorch stream and takes what the script says of kernel 400."""

import simulated
import torch


class jit:
    def __init__(self, function):
        self.function = function

    def __getitem__(self, _grid):
        return lambda *_arguments, **_constants: simulated.launch(400, torch.cuda.now.cuda_stream)


def cdiv(one, other):
    return -(-one // other)


__version__ = "0 (a stand-in)"
