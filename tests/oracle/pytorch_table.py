"""Reads the table that PyTorch prints for `key_averages()` (the `*.key_averages.txt.xz` next to a recording).

The table is rounded text: durations have three decimals in us, ms or s, memory two decimals in b, Kb, Mb or Gb, and long
names are truncated with "...". Every number therefore comes with its maximum rounding error. Rows that PyTorch prints
for the device (kernels, copies, annotations on the device) have no CPU time; `is_device_row` identifies them.
"""

import lzma
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

TIME_UNITS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
BYTE_UNITS = {"B": 1, "b": 1, "KB": 1024, "Kb": 1024, "MB": 1024**2, "Mb": 1024**2, "GB": 1024**3, "Gb": 1024**3}


@dataclass(frozen=True)
class Rounded:
    """A printed number: the true value lies within `slack` of `value`."""

    value: Decimal
    slack: Decimal

    def matches(self, exact):
        # The printed value went through binary floats, so a tie may round either way: the bound is inclusive.
        return abs(Decimal(exact) - self.value) <= self.slack


@dataclass
class Row:
    name: str
    cells: dict

    @property
    def is_cut(self):
        return self.name.endswith("...")

    @property
    def count(self):
        return int(self.cells["# of Calls"])

    def time(self, column):
        number, unit = re.fullmatch(r"(-?[\d.]+)(us|ms|s)", self.cells[column]).groups()
        return Rounded(Decimal(number) * TIME_UNITS[unit], Decimal(TIME_UNITS[unit]) / 2000)

    def bytes(self, column):
        number, unit = self.cells[column].split()
        slack = Decimal(0) if unit in ("B", "b") else Decimal(BYTE_UNITS[unit]) / 200
        return Rounded(Decimal(number) * BYTE_UNITS[unit], slack)

    def has(self, column):
        return column in self.cells


@dataclass
class Table:
    rows: list
    self_cpu_total: Rounded
    self_device_total: Rounded


def read_table(path):
    lines = lzma.decompress(Path(path).read_bytes()).decode().splitlines()
    rules = [i for i, line in enumerate(lines) if line.startswith("----")]
    width = len(lines[rules[0]].split()[0])
    header = _cells(lines[rules[0] + 1], width)[1:]
    rows = []
    for line in lines[rules[1] + 1:rules[2]]:
        name, *cells = _cells(line, width)
        rows.append(Row(name, dict(zip(header, cells, strict=True))))
    return Table(rows, *(_total(lines, label) for label in ("Self CPU time total", "Self CUDA time total")))


def _cells(line, name_width):
    """Only the name keeps to its column; the others may be wider and are told apart by their two spaces."""
    return [line[:name_width].strip(), *re.split(r"\s{2,}", line[name_width:].strip())]


def _total(lines, label):
    text = next(line.split(": ")[1] for line in lines if line.startswith(label))
    return Row("", {"total": text}).time("total")
