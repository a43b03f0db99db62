"""A Triton kernel `add`, launched 200 times after compiling: add_triton.py [--proton FILE]; prints how many times.

With --proton, Triton's own profiler records the last hundred and writes FILE.hatchet.
"""

import json
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, size, block: tl.constexpr):
    place = tl.program_id(0) * block + tl.arange(0, block)
    inside = place < size
    tl.store(out + place, tl.load(x + place, mask=inside) + tl.load(y + place, mask=inside), mask=inside)


x = torch.randn(1 << 22, device="cuda")
out = torch.empty_like(x)
for number in range(200):
    if number == 100 and sys.argv[1:2] == ["--proton"]:
        import triton.profiler as proton

        torch.cuda.synchronize()
        proton.start(sys.argv[2])
    add[(triton.cdiv(x.numel(), 1024),)](x, x, out, x.numel(), 1024)
torch.cuda.synchronize()
if sys.argv[1:2] == ["--proton"]:
    proton.finalize()
print(json.dumps({"launches": 200}))
