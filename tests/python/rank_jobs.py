"""Simulated jobs with known truth (tests/ranks), and the tables that `ranks` makes of them."""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
sys.path.insert(0, str(ROOT))

from patience import HANGS_S  # noqa: E402
from tests.ranks import generate  # noqa: E402

EXAMPLE = ROOT / "examples" / "ranks"


def shared(tmp_path_factory):
    """Return a folder that the processes of pytest-xdist share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "rank-jobs"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def jobs(tmp_path_factory):
    """Return a function that writes a named job once for all tests, and returns its folder and its truth. They must not change it."""
    folder = shared(tmp_path_factory)

    def job(name, *options, seed=1):
        arguments = [name, *options, "--level", "1", *([] if name in generate.public.SIZES else ["--seed", str(seed)])]
        place = folder / f"{name}-{hashlib.blake2b(repr(arguments).encode(), digest_size=5).hexdigest()}"
        with open(place.with_suffix(".lock"), "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not place.exists():
                assert generate.main([name, f"{place}.part", *arguments[1:]]) == 0
                os.rename(f"{place}.part", place)
        return place, json.loads((place / "truth.json").read_text())

    return job


@pytest.fixture
def job_cache(tmp_path_factory):
    """For summaries of what `jobs` wrote."""
    return shared(tmp_path_factory) / "cache"


@pytest.fixture
def ranks(program, tmp_path, tmp_path_factory):
    """Return a function that runs `ranks` and returns its tables, as lists of dictionaries."""
    folder = shared(tmp_path_factory)

    def run(place, *words, cache=None):
        if cache is None:
            cache = folder / "cache" if folder in Path(place).parents else tmp_path / "cache"
        # 64 files, each read by a process of its own, take longer than other runs.
        done = subprocess.run([program.path, "ranks", place, *words, "--format", "json", "--limit", "0", "--cache", cache],
                              capture_output=True, timeout=HANGS_S, check=True)
        return {table["name"]: rows_of(table) for table in json.loads(done.stdout)["tables"]}

    return run


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]]
