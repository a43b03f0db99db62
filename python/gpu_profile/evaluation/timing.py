"""Chooses the clock for the figure, and judges the samples. Pure functions of samples.

A suspicion is a message, or None. Other work on the machine slows some samples, a trick slows nearly all of them. The
tests therefore use the fast samples (the 10th percentile), and session.py repeats the timing before it refuses. Waits for a CPU
are subtracted, now and then too much of them, so that a fast sample of the module is compared with the baseline's median.
"""

from __future__ import annotations

from statistics import median
from typing import Callable

from .sampler import TimedSample

__all__ = ["CUDA", "HOST", "answers_late", "cached", "cached_undecided", "clocks_apart", "elsewhere", "floor_broken", "per_call_ms", "prepared_elsewhere", "timer_of"]

CUDA, HOST = "cuda events", "host"
_MIB = 1024.0 * 1024.0
_LATE_MS = 0.15  # answers of both sides take 0.1 to 0.2 ms


def timer_of(shots: dict[str, list[TimedSample]]) -> tuple[str, str | None]:
    """Return the timer for the samples of both sides, and the reason for the host's clock. Events are used if every
    sample has them and they cover all work of the baseline, which is correct by definition."""
    without = next((shot for taken in shots.values() for shot in taken if shot.device_ns is None), None)
    if without:
        return HOST, without.reason
    strange = elsewhere(shots.get("baseline", []))
    return (HOST, f"baseline: {strange}") if strange else (CUDA, None)


def per_call_ms(shots: list[TimedSample], timer: str) -> list[float]:
    return [(shot.inside_ns if timer == HOST or shot.device_ns is None else shot.device_ns) / 1e6 / shot.calls for shot in shots]


def elsewhere(shots: list[TimedSample]) -> str | None:
    """Detect device work after the end of the stream. Ignores up to 20 us or 2 % of the time."""
    seen = [shot for shot in shots if shot.device_ns is not None]
    if not seen:
        return None
    beyond, own = _fast(lambda shot: shot.beyond_ns, seen), median(shot.device_ns or 0 for shot in seen)
    if beyond <= max(3 * median(shot.idle_wait_ns for shot in seen) + 2e4, 0.02 * own):
        return None
    return f"work is done on another stream: the device is busy for {beyond / 1e6:.4f} ms after the {own / 1e6:.4f} ms of the given stream"


def clocks_apart(shots: list[TimedSample]) -> str | None:
    """Compare the worker's clock with the evaluator's less the wait for a CPU, which adds a message; and the device's clock
    with the worker's, which adds the way to the device and back."""
    inside, outside = (median(getattr(shot, name) for shot in shots) for name in ("inside_ns", "busy_ns"))
    if _nearly_all(lambda shot: shot.busy_ns - shot.inside_ns > max(2e6, 0.5 * shot.busy_ns), shots):
        return f"clocks disagree: {inside / 1e6:.4f} ms inside the process, {outside / 1e6:.4f} ms outside"
    seen = [shot for shot in shots if shot.device_ns is not None]
    if _nearly_all(lambda shot: shot.inside_ns - (shot.device_ns or 0) - shot.beyond_ns > max(2e5, 0.5 * shot.inside_ns), seen):
        own = median(shot.device_ns or 0 for shot in seen)
        return f"clocks disagree: {own / 1e6:.4f} ms on the device, {inside / 1e6:.4f} ms until completion"
    return None


def answers_late(baseline: list[TimedSample], optimized: list[TimedSample]) -> str | None:
    """Compare the times from the end of the calls to the answer. The code is the same on both sides, so a longer time is
    work that the module does after the calls."""
    plain, own = _usual_and_fast(lambda shot: (shot.busy_ns - shot.inside_ns) / 1e6, baseline, optimized)
    if own > max(0.0, 2 * plain) and own - max(0.0, plain) > max(_LATE_MS, 0.1 * median(shot.inside_ns / 1e6 for shot in optimized)):
        return f"clocks disagree: the answer comes {own:.4f} ms after the calls, {plain:.4f} ms for the baseline"
    return None


def prepared_elsewhere(baseline: list[TimedSample], optimized: list[TimedSample]) -> str | None:
    """Compare the times for generating inputs. The code is the same on both sides, so a longer time is work of the
    module."""
    plain, own = _usual_and_fast(lambda shot: shot.prepare_ns / 1e6 / shot.calls, baseline, optimized)
    call_ms = min(shot.busy_ns / 1e6 / shot.calls for shot in baseline)
    if own > 2 * plain and own - plain > max(0.3, 0.5 * call_ms):
        return f"work is done outside the call: generating inputs takes {own:.4f} ms, {plain:.4f} ms for the baseline"
    return None


def cached_undecided(new_ms: list[float], known_ms: list[float]) -> bool:
    """Whether repeated inputs are faster, but not by as much as a cache makes them: other work may have slowed all of those calls, and
    more of them tell."""
    new, again = min(new_ms), min(known_ms)
    return cached(new_ms, known_ms) is None and new > 1.5 * again and new - again > 0.05


def cached(new_ms: list[float], known_ms: list[float]) -> str | None:
    """Compare the fastest call with new inputs and the fastest with repeated inputs: other work only slows samples."""
    new, again = min(new_ms), min(known_ms)
    if new > 5 * again and new - again > 0.05:
        return f"results are cached by the value of the inputs: new inputs take {new:.4f} ms, repeated inputs {again:.4f} ms"
    return None


def floor_broken(baseline_ms: list[float], optimized_ms: list[float], floor_ms: float | None, size: int) -> str | None:
    own = median(optimized_ms)
    if floor_ms is None or not own < floor_ms / 10 <= median(baseline_ms):
        return None
    return f"{own:.4f} ms is below the floor: moving {size / _MIB:.1f} MB takes {floor_ms:.4f} ms"


def _nearly_all(judge: Callable[[TimedSample], bool], shots: list[TimedSample]) -> bool:
    return bool(shots) and sum(map(judge, shots)) > 0.9 * len(shots) - 1


def _usual_and_fast(figure: Callable[[TimedSample], float], baseline: list[TimedSample], optimized: list[TimedSample]) -> tuple[float, float]:
    return median(map(figure, baseline)), _fast(figure, optimized)


def _fast(figure: Callable[[TimedSample], float], shots: list[TimedSample]) -> float:
    return sorted(map(figure, shots))[len(shots) // 10]
