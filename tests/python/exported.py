"""The tables of a trace as rows, from `gpu-profile export csv`."""

import csv
import io

from program import Outcome


def tables_of(program, source):
    """Map table names to their rows as dictionaries of texts; absent values are missing keys."""
    outcome: Outcome = program.run("export", "csv", source)
    assert outcome.status == 0, outcome.errors
    tables, names, rows = {}, None, None
    for line in csv.reader(io.StringIO(outcome.stdout.decode())):
        if not line:
            names = rows = None
        elif rows is None:
            rows = tables.setdefault(line[0].removeprefix("# "), [])
        elif names is None:
            names = line
        else:
            rows.append({name: value for name, value in zip(names, line, strict=True) if value != ""})
    return tables
