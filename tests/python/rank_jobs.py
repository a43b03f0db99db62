"""Simulated jobs with known truth (tests/ranks), and the tables that `ranks` makes of them."""

import json
import subprocess
import sys

import pytest
from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT))

from tests.ranks import generate  # noqa: E402

EXAMPLE = ROOT / "examples" / "ranks"


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """Return a function that writes a named job once, and returns its folder and its truth."""
    folder, made = tmp_path_factory.mktemp("jobs"), {}

    def job(name, *options, seed=1):
        key = (name, seed, *options)
        if key not in made:
            place = folder / f"job{len(made)}"
            arguments = [name, str(place), *options]
            assert generate.main(arguments if name in generate.public.SIZES else [*arguments, "--seed", str(seed)]) == 0
            made[key] = place, json.loads((place / "truth.json").read_text())
        return made[key]

    return job


@pytest.fixture
def ranks(program, tmp_path):
    """Return a function that runs `ranks` and returns its tables, as lists of dictionaries."""

    def run(place, *words, cache=None):
        # 64 files, each read by a process of its own, take longer than other runs.
        done = subprocess.run([program.path, "ranks", place, *words, "--format", "json", "--limit", "0", "--cache", cache or tmp_path / "cache"],
                              capture_output=True, timeout=120, check=True)
        return {table["name"]: rows_of(table) for table in json.loads(done.stdout)["tables"]}

    return run


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]
