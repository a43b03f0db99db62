"""Violations, as the fixed messages of docs/reference/commands/evaluate.md.

A violation with `voids` means that the time of the optimized side is not the time of the work: the figure is refused
and printed as nan. Others keep the figure: a wrong or imprecise result, or too much memory. Behaviour that the baseline shares
(writing to its input, returning a view of it) is the contract of the function and not a violation of the optimized
side. timing.py judges the samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .precision import Precision

__all__ = ["Violation", "Violations"]


class Violation(NamedTuple):
    text: str
    voids: bool


class Violations:
    """The distinct violations in order of detection; only the largest difference is kept."""

    def __init__(self) -> None:
        self.found: list[Violation] = []
        self.difference = 0.0
        self.relative = 0.0  # largest relative error of an output, rms

    def add(self, text: str, voids: bool = False) -> None:
        if Violation(text, voids) not in self.found:
            self.found.append(Violation(text, voids))

    def all(self) -> list[Violation]:
        relative = f" (relative error {self.relative:.1e})" if self.relative else ""
        differ = [Violation(f"outputs differ by {self.difference:.2e}{relative}", False)] if self.difference else []
        return differ + self.found

    @property
    def void(self) -> bool:
        return any(violation.voids for violation in self.found)

    # ---- one method per kind of evidence

    def add_comparison(self, compared: dict[str, Any]) -> None:
        if compared["problem"]:
            self.add(compared["problem"])
        if compared["constant"]:
            self.add(compared["constant"], True)
        if compared.get("nan"):
            self.add("outputs have NaN where the baseline has none")
        if compared.get("unwritten"):
            self.add("outputs are not fully written")
        self.difference = max(self.difference, compared["beyond"])
        self.relative = max(self.relative, compared["relative"])

    def add_precision(self, found: Precision | None, where: str = "") -> None:
        """Add errors against float64 that are beyond the limit."""
        if found is None or self.difference:
            return
        more = f"{found.ratio:.3g} times the baseline's" if found.ratio is not None else "where the baseline has none"
        self.add(f"errors against float64 are {more}{where}: {found.optimized:.1e} instead of {found.baseline:.1e} of the outputs' rms", bool(where))

    def add_behaviour(self, baseline: dict[str, Any], optimized: dict[str, Any]) -> None:
        """Add the violations that check() found on both sides."""
        lazy = _unknown(optimized["output"])
        if lazy and not _unknown(baseline["output"]):
            self.add(f"outputs are lazy: {lazy} is not an array and may compute its contents on access", True)
        sentences = {
            "late": "outputs changed after the call returned",
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

    def add_replaced(self, names: list[str]) -> None:
        for name in names[:20]:
            self.add(f"{name[:80]} was replaced", True)

    def add_hooks(self, names: list[str]) -> None:
        for name in names[:20]:
            self.add(f"code runs between the evaluator's own: a hook was installed with {name[:80]}", True)

    def add_memory(self, peak_mb: float, limit_mb: float | None) -> None:
        if limit_mb is not None and peak_mb > limit_mb:
            self.add(f"peak memory {peak_mb:.0f}MB exceeds limit {limit_mb:.0f}MB")

    def add_speedup(self, speedup: float, wanted: float | None) -> None:
        if wanted is not None and not speedup >= wanted:
            self.add(f"speedup {speedup:.4f} is below {wanted:g}")


def _unknown(tree: dict[str, Any]) -> str | None:
    """Return the type of the first item in a value that is not an array, a number or a collection of them."""
    if tree["is"] == "unknown":
        return str(tree["type"])[:80]
    return next((found for part in tree.get("of", []) if (found := _unknown(part))), None)
