"""Drawn jobs with one fault (tests/ranks/drawn.py): nobody is named wrongly, nobody is absolved, and prices are right or have low confidence.

The error rates of hundreds of them: docs/how-it-works/benchmarks/ranks.md.
"""

import pytest
from nightly import times
from rank_jobs import ROOT  # noqa: F401  (puts tests.ranks on the path)

from tests.ranks.judge import one

# A slow GPU, late data in some steps, a delay in half of them, more work; in damaged folders the straggler's own file cut and missing, later steps, halves, clocks.
DAILY = {"plain": (6, 16), "overlapped": (5, 9, 16, 21), "damaged": (5, 16, 46, 55, 66)}


@pytest.mark.parametrize(("kind", "number"), [(kind, number) for kind in DAILY for number in times(range(60), DAILY[kind])])
def test_prices_are_right_or_not_sure(program, kind, number):
    what, told, errors = one(program.path, kind, "a", number)
    assert what not in ("wrong name", "absolved"), told
    assert what != "mispriced" or max(map(abs, errors)) < 0.25, told
