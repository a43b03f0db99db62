"""gpu_profile for Lightning: ``Trainer(callbacks=[GpuProfileCallback()])``, of `lightning` as of `pytorch_lightning`.

A step is a batch; with gradient accumulation, a part of an optimizer step. A step after a validation or a checkpoint does not count,
because Lightning does not tell when it asks for the next batch.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, Callable

from .training import Options, TrainingRun

if TYPE_CHECKING:
    from .arguments import Device

__all__ = ["GpuProfileCallback"]

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _bases() -> tuple[type, ...]:
    """The class Callback of every Lightning that is loaded, otherwise of the one that is installed."""
    loaded = [sys.modules[name] for name in _PACKAGES if name in sys.modules]
    if not loaded:
        for name in _PACKAGES:
            try:
                loaded = [importlib.import_module(name)]
                break
            except ImportError:
                continue
    if not loaded:
        raise ImportError("gpu_profile.lightning needs Lightning: pip install lightning")
    return tuple(module.Callback for module in loaded)


class GpuProfileCallback(*_bases()):  # type: ignore[misc]
    """Monitor the training: step times, figures of the device per epoch, and steps in recordings.

    ``device``, ``interval_s``, ``backend``: as for gpu_profile.torch.GpuMonitor (default: this rank's current device, 0.2 s, auto).
    ``warmup_steps``: steps at the start of the training that no figure includes (default 10).
    ``path``: JSON file of the summary (default: gpu-profile-training.json in the trainer's default_root_dir). With several ranks,
    each writes its own: NAME.rankN.json.
    ``mark_steps``: give steps a range "step" of NVTX and torch.profiler (default True).
    ``report``: True prints the summary of rank 0 to standard error at the end, False nothing; a callable receives the dictionary of
    every rank.
    ``record_at``, ``record_steps``: under ``gpu-profile record --standby``, rank 0 triggers a recording of that many steps of all
    ranks when this step begins (default: never, 10). It opens two seconds later; ``gpu-profile trigger`` asks from outside.
    """

    def __init__(self, device: Device | None = None, interval_s: float = 0.2, backend: str = "auto", warmup_steps: int = 10,
                 path: str | os.PathLike[str] | None = None, mark_steps: bool = True, report: bool | Callable[[dict[str, Any]], object] = True,
                 record_at: int | None = None, record_steps: int = 10) -> None:
        super().__init__()
        self._run = TrainingRun(Options(device, interval_s, backend, warmup_steps, path, mark_steps, report, record_at, record_steps), "lightning")

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._run.begin(trainer.global_rank, trainer.world_size, str(trainer.default_root_dir))

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        self._run.epoch_begin(trainer.current_epoch)

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        self._run.step_begin()

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        self._run.step_end()

    def on_validation_start(self, trainer: Any, pl_module: Any) -> None:
        self._run.interrupt()

    def on_save_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: Any) -> None:
        self._run.interrupt()

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._run.epoch_end()

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._run.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._run.end(exception)
