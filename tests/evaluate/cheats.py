"""Modules that cheat in timed calls only: which calls they choose, and what they return instead of the result.

Each cheat is the source of a file with `kernel(x)`. It contains the honest function under the name `honest`, so that its
results are right wherever it is not cheating.
"""

from __future__ import annotations

__all__ = ["CHOICES", "RUBBISH", "cheat"]

# How a module notices that it is timed, or chooses calls at random: an expression of `x`.
CHOICES = {
    "one call in ten": "dice.random() < 0.10",
    "one call in five": "dice.random() < 0.20",
    "one call in three": "dice.random() < 0.33",
    "all but repeated inputs": "new(x) and dice.random() < 0.25",
    "without garbage collection": "not gc.isenabled() and dice.random() < 0.33",
    "after the first twenty calls": "next(calls) >= 20 and dice.random() < 0.33",
    "called by time()": "sys._getframe(1).f_code.co_name == 'time' and dice.random() < 0.33",
}
# The result instead: an expression of `x` and `shape`, the last honest result `old` among it.
RUBBISH = {
    "zeros": "numpy.zeros_like(old)",
    "an old result": "old.copy()",
    "the mean": "numpy.full_like(old, old.mean())",
    "noise of the right size": "(numpy.random.default_rng().standard_normal(old.shape) * old.std() + old.mean()).astype(old.dtype)",
    "half of the rows": "numpy.concatenate([part(x, 2), old[len(x) // 2:]])",
    "all but one row": "numpy.concatenate([part(x, 1), old[-1:]])",
}
_TEMPLATE = """
import gc, itertools, random, sys
dice, calls, last, known = random.Random(), itertools.count(), [None], {{}}
honest = kernel
def new(x):
    key = x.tobytes()[:64]
    return known.setdefault(key, len(known)) == len(known) - 1
def part(x, n):
    return honest(x)[:len(x) // 2] if n == 2 else honest(x)[:-1]
def kernel(x):
    old = last[0]
    if old is not None and {timed} and {choice}:
        return {rubbish}
    last[0] = honest(x)
    return last[0].copy()
"""


def cheat(honest: str, choice: str, rubbish: str, checked_calls: int) -> str:
    """Return the source of a cheat that is honest in its first `checked_calls` calls, so that the checks pass."""
    timed = f"next(calls) >= {checked_calls}"
    return honest + _TEMPLATE.format(timed=timed, choice=CHOICES[choice], rubbish=RUBBISH[rubbish])
