"""The pairs: a program of programs.py, and the changes (`gpu-profile whatif --change`) that lead from its `before` to its `after`.

A factor that nobody could know before the change is made ("kernel:gemm=?") is measured from the pair itself, so that only what follows
from it is predicted.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Pair:
    name: str
    changes: tuple
    steps: int  # in each of the timed windows, and recorded
    gpus: int = 1
    limit_s: float = 60  # of one process


PAIRS = (
    Pair("item", ("waits",), 10),
    Pair("item-tenth", ("waits",), 10),
    Pair("graph", ("cuda-graph",), 8),
    Pair("compile-small", ("fusion",), 8, limit_s=120),
    Pair("compile-memory", ("fusion",), 20, limit_s=120),
    Pair("pinned", ("pinned-copies",), 10),
    Pair("allocation", ("allocation",), 20),
    Pair("tf32", ("kernel:gemm=?",), 20),
    Pair("ddp", ("communication",), 10, gpus=2, limit_s=120),
)
SIDES = ("before", "after")
RECORDERS = ("none", "gpu-profile", "torch.profiler")
SUFFIXES = {"gpu-profile": ".gpuprof", "torch.profiler": ".json.gz"}
