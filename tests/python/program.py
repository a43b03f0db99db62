"""Runs gpu-profile as a user would and reads its JSON answer.

`Program.report` expects success and returns a `Report`; `Program.run` returns any outcome. Nothing is retried. A run
longer than 20 s is a failure of the program: no input of these tests justifies more.
"""

import csv
import io
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from patience import HANGS_S


@dataclass
class Outcome:
    status: int
    stdout: bytes
    stderr: bytes

    @property
    def errors(self):
        return [line for line in self.stderr.decode(errors="replace").split("\n") if line]


@dataclass
class Table:
    name: str
    columns: dict  # name -> type
    rows: list  # dictionaries

    def by(self, *columns):
        """Return rows by key; a duplicate key is an error."""
        out = {}
        for row in self.rows:
            key = tuple(row[c] for c in columns) if len(columns) > 1 else row[columns[0]]
            assert key not in out, f"{self.name} has two rows for {key}"
            out[key] = row
        return out


class Report:
    def __init__(self, document):
        self.document = document
        self.tables = {t["name"]: self._table(t) for t in document["tables"]}

    @staticmethod
    def _table(table):
        names = [c["name"] for c in table["columns"]]
        rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
        return Table(table["name"], {c["name"]: c.get("type") for c in table["columns"]}, rows)

    def __getitem__(self, name):
        return self.tables[name]


class Program:
    COMPARED = ("kernels", "memcpy", "memset", "devices", "ops", "gaps", "idle", "overlap", "streams", "api", "launches", "graphs")

    def __init__(self, path):
        self.path = path

    @property
    def fakes(self):
        """The folder with the fake drivers of the same build."""
        return Path(self.path).parent / "fakes"

    def run(self, *arguments, stdin=b"", seconds=HANGS_S):
        done = subprocess.run([self.path, *map(str, arguments)], input=stdin, capture_output=True,
                              timeout=seconds, check=False)
        return Outcome(done.returncode, done.stdout, done.stderr)

    def everything_said(self, *recording):
        """All of the first answer as one line of words."""
        done = self.run("report", *recording, "--verbose")
        assert done.status == 0, done.errors
        return " ".join(done.stdout.decode().split())

    def report(self, source, *arguments, stdin=b""):
        """All rows about all of a recording, not only about the part that a first answer judges."""
        return self._report("report", source, *arguments, "--whole", "--limit", "0", stdin=stdin)

    def declared(self, table):
        """What the program declares: the rows of a table of `schema --format json`, as dictionaries."""
        return self._report("schema")[table].rows

    def comparison(self, base, new, *arguments):
        return self._report("compare", base, new, *arguments, "--limit", "0")

    def _report(self, *arguments, stdin=b""):
        outcome = self.run(*arguments, "--format", "json", stdin=stdin)
        assert outcome.status == 0, f"exit {outcome.status}: {outcome.errors}"
        return Report(read_strict_json(outcome.stdout))

    def stored(self, capture, table):
        """Return the rows of a stored table as text, from the CSV export; empty if the capture lacks the table."""
        outcome = self.run("export", "csv", capture)
        assert outcome.status == 0, f"exit {outcome.status}: {outcome.errors}"
        block = re.search(rf"^# {table}\n(.*?)(?:\n\n|\Z)", outcome.stdout.decode(), re.MULTILINE | re.DOTALL)
        return list(csv.DictReader(io.StringIO(block[1]))) if block else []


def read_strict_json(raw):
    """Parse standard JSON: no NaN, no Infinity, UTF-8."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(raw.decode("utf-8"), parse_constant=refuse)
