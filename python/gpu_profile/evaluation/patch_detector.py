"""Functions that a module under test has no reason to replace: clocks, waits, comparisons, random number generators; and
hooks that it has no reason to install: they would run its code between the evaluator's own lines.

They are recorded before the module is imported; a different object afterwards was replaced. The evaluator does not
depend on them (it obtained its own before), so replacing one gains nothing. It is reported because it does not happen
by accident.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

__all__ = ["PatchDetector"]

_NAMES = """
time.time time.time_ns time.perf_counter time.perf_counter_ns time.monotonic time.monotonic_ns time.process_time
time.process_time_ns time.clock_gettime time.clock_gettime_ns time.sleep timeit.default_timer gc.collect
ctypes.CDLL socket.socket.sendall socket.socket.recv_into json.dumps struct.pack
numpy.allclose numpy.array_equal numpy.isclose numpy.copyto numpy.ascontiguousarray numpy.random.default_rng
numpy.frombuffer numpy.einsum numpy.isfinite hashlib.blake2b hashlib.shake_256
numpy.random.seed numpy.random.rand numpy.random.randn numpy.random.standard_normal
torch.allclose torch.equal torch.manual_seed torch.rand torch.randn torch.cuda.synchronize torch.cuda.current_stream
torch.cuda.Event torch.cuda.Event.record torch.cuda.Event.elapsed_time torch.cuda.Event.synchronize
torch.cuda.Stream.synchronize torch.cuda.max_memory_allocated torch.cuda.memory_allocated torch.cuda.reset_peak_memory_stats
torch.cuda.memory_reserved torch.cuda.max_memory_reserved torch.Tensor.cpu
torch.Tensor.detach torch.Tensor.contiguous torch.Tensor.numpy torch.Tensor.float cupy.asnumpy cupy.cuda.runtime.deviceSynchronize cupy.cuda.Event cupy.cuda.get_elapsed_time
cupy.random.rand cupy.get_default_memory_pool cupy.cuda.MemoryHook cupy.cuda.get_current_stream jax.block_until_ready
""".split()


class PatchDetector:
    def __init__(self) -> None:
        # Keeps the objects themselves, because the address of a freed object can be reused.
        self._before = {name: found for name in _NAMES if (found := _look(name)) is not None}
        self._hooks = _hooks()

    def replaced(self) -> list[str]:
        return [name for name, before in self._before.items() if _look(name) is not before]

    def installed(self) -> list[str]:
        """Return the hooks that were installed since, by the function that installs them."""
        return [name for name, now in _hooks().items() if now != self._hooks[name]]


def _hooks() -> dict[str, Any]:
    monitoring: Any = getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(number) for number in range(6)] if monitoring else []
    return {"sys.settrace": sys.gettrace(), "sys.setprofile": sys.getprofile(), "sys.monitoring": tools, "gc.callbacks": list(gc.callbacks)}


def _look(name: str) -> Any:
    head, *rest = name.split(".")
    found: Any = sys.modules.get(head)
    for part in rest:
        owner = vars(found) if isinstance(found, type) else None
        found = owner[part] if owner and part in owner else getattr(found, part, None)
    return found
