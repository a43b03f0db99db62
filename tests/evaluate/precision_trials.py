"""`python3 -m tests.evaluate.precision_trials --count N --seed S`: drawn functions, each computed in every way, judged by the
rules of evaluation/accuracy.py and precision.py in this process. Prints how often an honest way is rejected and an
imprecise one accepted. Without --seed, one from the clock: fresh ones.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

import numpy

from gpu_profile.evaluation.accuracy import Tolerance
from gpu_profile.evaluation.arrays import Arrays
from gpu_profile.evaluation.compare import compare
from gpu_profile.evaluation.precision import MAX_ERROR_RATIO, Errors
from .functions import draw

__all__ = ["rejected"]

_CHECKS = 8  # as many results as are compared in full: three checks and five timed ones


def rejected(baseline: str, other: str, inputs: str, seed: int) -> tuple[bool, Any]:
    """Return whether `evaluate` would reject `other`, and the errors against float64."""
    arrays, errors, wrong = Arrays(), Errors(), False
    kernel, changed, make = _loaded(baseline, "kernel"), _loaded(other, "kernel"), _loaded(inputs, "inputs")
    for check in range(_CHECKS):
        (x,) = make(seed * _CHECKS + check)
        described = []
        for value in (kernel(x), changed(x), kernel(x.astype(numpy.float64))):
            blocks: list[bytes] = []
            described.append((arrays.describe(value, blocks), blocks))
        found = compare(*described, Tolerance())
        errors.add(0, found)
        wrong |= bool(found["problem"] or found["beyond"] or found["constant"])
    return wrong or errors.beyond(MAX_ERROR_RATIO) is not None, errors.worst()


def _loaded(source: str, name: str) -> Any:
    module: dict[str, Any] = {}
    exec(source, module)  # noqa: S102: text of this folder
    return module[name]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m tests.evaluate.precision_trials")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    seen: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for index in range(options.count):
        drawn = draw(options.seed + index)
        for kind, ways, right in (("honest", drawn.honest, False), ("imprecise", drawn.imprecise, True)):
            for name, source in ways.items():
                said, errors = rejected(drawn.baseline, source, drawn.inputs, options.seed + index)
                label = f"{kind}, {drawn.name if kind == 'honest' else name}"
                seen[label] += 1
                wrong[label] += said != right
                if options.verbose:
                    print(label, drawn.name, name, f"{drawn.scale:.1e}", said, errors)
    print(f"seed {options.seed}, {options.count} functions")
    for label in sorted(seen):
        print(f"{label:<40} {seen[label]:5}  {'rejected' if label.startswith('honest') else 'accepted'} {wrong[label]:4}  {100 * wrong[label] / seen[label]:.1f} %")


if __name__ == "__main__":
    main()
