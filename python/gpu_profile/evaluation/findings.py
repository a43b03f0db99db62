"""What was found wrong, as the fixed sentences of docs/commands/evaluate.md.

A violation that `voids` says that the time of the optimized side is not the time of the work: the figure is refused and
printed as nan. The others leave the figure as it is: a wrong result, or too much memory.
What the baseline does itself (writing into its input, returning a view of it) is the contract of the function and no
violation when the optimized side does the same.
"""

from __future__ import annotations

from statistics import median
from typing import Any, NamedTuple

__all__ = ["Violation", "Violations"]

_MIB = 1024.0 * 1024.0


class Violation(NamedTuple):
    text: str
    voids: bool


class Violations:
    """Each sentence once, in the order in which it was found; of differences only the largest."""

    def __init__(self) -> None:
        self.found: list[Violation] = []
        self.difference = 0.0
        self.notes: list[str] = []

    def add(self, text: str, voids: bool = False) -> None:
        if Violation(text, voids) not in self.found:
            self.found.append(Violation(text, voids))

    def all(self) -> list[Violation]:
        differ = [Violation(f"outputs differ by {self.difference:.2e}", False)] if self.difference else []
        return differ + self.found

    @property
    def void(self) -> bool:
        return any(violation.voids for violation in self.found)

    # ---- one method per kind of evidence

    def add_comparison(self, compared: dict[str, Any]) -> None:
        if compared["problem"]:
            self.add(compared["problem"])
        if compared.get("nan"):
            self.add("outputs have NaN where the baseline has none")
        if compared.get("unwritten"):
            self.add("outputs are not written completely")
        self.difference = max(self.difference, compared["beyond"])

    def add_behaviour(self, baseline: dict[str, Any], optimized: dict[str, Any]) -> None:
        """From a check() of both sides."""
        lazy = _unknown(optimized["output"])
        if lazy and not _unknown(baseline["output"]):
            self.add(f"outputs are lazy: {lazy} is no array, its contents may be computed when they are looked at", True)
        sentences = {
            "late": "outputs changed after the call had returned",
            "overwritten": "outputs of one call are overwritten by the next",
            "aliased": "outputs share memory with the inputs",
            "changed": "inputs were modified in place",
        }
        for name, sentence in sentences.items():
            if optimized[name] and not baseline[name]:
                self.add(sentence, True)

    def add_repeat(self, compared: dict[str, Any]) -> None:
        if compared["problem"] or compared["beyond"]:
            self.add(f"outputs differ by {compared['beyond']:.2e} between two calls with equal inputs")

    def add_exchanged(self, compared: dict[str, Any]) -> None:
        if compared["problem"] or compared["beyond"]:
            self.add("results are cached by the identity of the inputs", True)

    def add_value_cache(self, new_ms: float, again_ms: float) -> None:
        if new_ms > 5 * again_ms and new_ms - again_ms > 0.05:
            self.add(f"results are cached by the value of the inputs: new ones take {new_ms:.4f} ms, known ones {again_ms:.4f} ms", True)

    def add_replaced(self, names: list[str]) -> None:
        for name in names[:20]:
            self.add(f"{name[:80]} was replaced", True)

    def add_clock(self, inside_ns: list[float], outside_ns: list[float]) -> None:
        """The worker's clock and the evaluator's. Between them lies a message, and on a busy machine the wait for a
        processor; but not in nine of ten samples."""
        apart = sorted(outside - inside for inside, outside in zip(inside_ns, outside_ns))[len(inside_ns) // 10]
        if apart > max(2e6, 0.5 * median(outside_ns)):
            self.add(f"clocks disagree: {median(inside_ns) / 1e6:.4f} ms inside the process, {median(outside_ns) / 1e6:.4f} ms outside", True)

    def add_preparation(self, baseline_ns: list[float], optimized_ns: list[float], call_ns: float) -> None:
        """Inputs are made by the same code on both sides; where that takes longer, the module does work in it. The
        fast ones are compared: other work on the machine makes some slow, hidden work nearly all."""
        plain, own = (sorted(times)[len(times) // 10] for times in (baseline_ns, optimized_ns))
        if own > 2 * plain and own - plain > max(3e5, 0.5 * call_ns):
            self.add(f"work is done outside of the call: inputs take {own / 1e6:.4f} ms to make, {plain / 1e6:.4f} ms beside the baseline", True)

    def add_floor(self, baseline_ms: float, optimized_ms: float, floor_ms: float, size: int) -> None:
        if optimized_ms < floor_ms / 10 <= baseline_ms:
            self.add(f"{optimized_ms:.4f} ms is below the floor: moving {size / _MIB:.1f} MB takes {floor_ms:.4f} ms", True)

    def add_memory(self, peak_mb: float, limit_mb: float | None) -> None:
        if limit_mb is not None and peak_mb > limit_mb:
            self.add(f"peak memory {peak_mb:.0f}MB exceeds limit {limit_mb:.0f}MB")

    def add_speedup(self, speedup: float, wanted: float | None) -> None:
        if wanted is not None and not speedup >= wanted:
            self.add(f"speedup {speedup:.4f} is below {wanted:g}")


def _unknown(tree: dict[str, Any]) -> str | None:
    """The type of the first thing in a value that is no array, number or collection of them."""
    if tree["is"] == "unknown":
        return str(tree["type"])[:80]
    return next((found for part in tree.get("of", []) if (found := _unknown(part))), None)
