"""Which clock is the figure, and what samples say against it. Pure functions of samples.

A suspicion is a sentence, or None. Other work on the machine makes some samples slow, a trick nearly all of them: so it is
the fast ones that are looked at (the tenth from below of a hundred), and session.py times again before it refuses.
"""

from __future__ import annotations

from statistics import median
from typing import Callable

from .sampler import Shot

__all__ = ["CUDA", "HOST", "cached", "clocks_apart", "elsewhere", "floor_broken", "per_call_ms", "prepared_elsewhere", "timer_of"]

CUDA, HOST = "cuda events", "host"
_MIB = 1024.0 * 1024.0


def timer_of(shots: dict[str, list[Shot]]) -> tuple[str, str | None]:
    """The timer for these samples of both sides, and why it is the host's clock. Events are the figure when every sample has
    them and they see all work of the baseline, which is right by definition."""
    without = next((shot for taken in shots.values() for shot in taken if shot.device_ns is None), None)
    if without:
        return HOST, without.reason
    strange = elsewhere(shots.get("baseline", []))
    return (HOST, f"baseline: {strange}") if strange else (CUDA, None)


def per_call_ms(shots: list[Shot], timer: str) -> list[float]:
    return [(shot.inside_ns if timer == HOST or shot.device_ns is None else shot.device_ns) / 1e6 / shot.calls for shot in shots]


def elsewhere(shots: list[Shot]) -> str | None:
    """Work that the device still does when the stream is done. 20 us, or a fiftieth of the time, is nothing."""
    seen = [shot for shot in shots if shot.device_ns is not None]
    if not seen:
        return None
    beyond, own = _fast(lambda shot: shot.beyond_ns, seen), median(shot.device_ns or 0 for shot in seen)
    if beyond <= max(3 * median(shot.idle_wait_ns for shot in seen) + 2e4, 0.02 * own):
        return None
    return f"work is done on another stream: the device is busy for {beyond / 1e6:.4f} ms after the {own / 1e6:.4f} ms of the one that was given"


def clocks_apart(shots: list[Shot]) -> str | None:
    """The worker's clock and the evaluator's: between them lies a message, and on a busy machine the wait for a processor.
    The device's and the worker's: between them lies the way to the device and back."""
    inside, outside = (median(getattr(shot, name) for shot in shots) for name in ("inside_ns", "outside_ns"))
    if _nearly_all(lambda shot: shot.outside_ns - shot.inside_ns > max(2e6, 0.5 * shot.outside_ns), shots):
        return f"clocks disagree: {inside / 1e6:.4f} ms inside the process, {outside / 1e6:.4f} ms outside"
    seen = [shot for shot in shots if shot.device_ns is not None]
    if _nearly_all(lambda shot: shot.inside_ns - (shot.device_ns or 0) - shot.beyond_ns > max(2e5, 0.5 * shot.inside_ns), seen):
        own = median(shot.device_ns or 0 for shot in seen)
        return f"clocks disagree: {own / 1e6:.4f} ms on the device, {inside / 1e6:.4f} ms until it is done"
    return None


def prepared_elsewhere(baseline: list[Shot], optimized: list[Shot]) -> str | None:
    """Inputs are made by the same code on both sides; where that takes longer, the module does work in it."""
    plain, own = (_fast(lambda shot: shot.prepare_ns / 1e6 / shot.calls, shots) for shots in (baseline, optimized))
    call_ms = min(shot.busy_ns / 1e6 / shot.calls for shot in baseline)
    if own > 2 * plain and own - plain > max(0.3, 0.5 * call_ms):
        return f"work is done outside of the call: inputs take {own:.4f} ms to make, {plain:.4f} ms beside the baseline"
    return None


def cached(new_ms: list[float], known_ms: list[float]) -> str | None:
    """Calls with inputs that were never seen, and each again."""
    new, again = min(new_ms), median(known_ms)
    if new > 5 * again and new - again > 0.05:
        return f"results are cached by the value of the inputs: new ones take {new:.4f} ms, known ones {again:.4f} ms"
    return None


def floor_broken(baseline_ms: list[float], optimized_ms: list[float], floor_ms: float | None, size: int) -> str | None:
    own = median(optimized_ms)
    if floor_ms is None or not own < floor_ms / 10 <= median(baseline_ms):
        return None
    return f"{own:.4f} ms is below the floor: moving {size / _MIB:.1f} MB takes {floor_ms:.4f} ms"


def _nearly_all(judge: Callable[[Shot], bool], shots: list[Shot]) -> bool:
    return bool(shots) and sum(map(judge, shots)) > 0.9 * len(shots) - 1


def _fast(figure: Callable[[Shot], float], shots: list[Shot]) -> float:
    return sorted(map(figure, shots))[len(shots) // 10]
