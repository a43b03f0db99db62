"""gpu_profile for Hugging Face Transformers: ``Trainer(..., callbacks=[GpuProfileCallback()])``.

A step is an optimizer step, with all batches that it accumulates. Evaluation, checkpoints and logs between two steps are not part of
a step. The trainer does not tell its callbacks of exceptions: what was written at the end of the last epoch remains.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Callable

try:
    from transformers import TrainerCallback  # type: ignore[import-not-found, unused-ignore]
except ImportError as problem:
    raise ImportError("gpu_profile.transformers needs Transformers and PyTorch: pip install transformers torch") from problem

from .training import Options, TrainingRun

if TYPE_CHECKING:
    from .arguments import Device

__all__ = ["GpuProfileCallback"]


class GpuProfileCallback(TrainerCallback):  # type: ignore[misc, unused-ignore]
    """Monitor the training: step times, figures of the device per epoch, and steps in recordings.

    The arguments are those of gpu_profile.lightning.GpuProfileCallback; the default of ``path`` is gpu-profile-training.json in the
    output_dir of the TrainingArguments.
    """

    def __init__(self, device: Device | None = None, interval_s: float = 0.2, backend: str = "auto", warmup_steps: int = 10,
                 path: str | os.PathLike[str] | None = None, mark_steps: bool = True, report: bool | Callable[[dict[str, Any]], object] = True,
                 record_at: int | None = None, record_steps: int = 10) -> None:
        self._run = TrainingRun(Options(device, interval_s, backend, warmup_steps, path, mark_steps, report, record_at, record_steps), "transformers")
        self._epoch = 0

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.begin(args.process_index, args.world_size, str(args.output_dir or "."))
        self._epoch = int(state.epoch or 0)  # of a checkpoint that is resumed

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.epoch_begin(self._epoch)
        self._epoch += 1

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.step_begin()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.step_end()

    def on_log(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.resume()

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.resume()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.resume()

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.epoch_end()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self._run.end()
