"""Compares rows of the program with rows of the oracle: integers exactly, fractions to 1e-9 of their size, unknown with
null.

Collects all differences of a table first, so that one run reports all of them.
"""

import math
from fractions import Fraction


class Differences:
    def __init__(self, what):
        self.what = what
        self.found = []

    def check(self, where, column, got, wanted):
        if not same(got, wanted):
            shown = float(wanted) if isinstance(wanted, Fraction) else wanted
            self.found.append(f"{str(where)[:120]}: {column} is {got!r}, not {shown!r}")

    def check_row(self, where, got, wanted):
        for column, value in wanted.items():
            if column not in got:
                self.found.append(f"{where}: missing column {column}")
            else:
                self.check(where, column, got[column], value)

    def check_rows(self, got, wanted):
        """Compare two dictionaries key -> row with equal keys."""
        for key in wanted.keys() - got.keys():
            self.found.append(f"missing row: {key}")
        for key in got.keys() - wanted.keys():
            self.found.append(f"unexpected row: {key}")
        for key in wanted.keys() & got.keys():
            self.check_row(key, got[key], wanted[key])

    def none(self):
        shown = "\n".join(self.found[:40])
        assert not self.found, f"{self.what}: {len(self.found)} differences\n{shown}"


def same(got, wanted):
    if wanted is None or got is None or isinstance(wanted, str):
        return got == wanted
    if isinstance(got, bool):
        return False
    if isinstance(got, int):
        return got == wanted
    if isinstance(got, float):
        return math.isclose(got, float(wanted), rel_tol=1e-9, abs_tol=1e-12)
    return got == wanted
