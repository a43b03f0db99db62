"""What tests with a real Dask cluster and a real S3 server share. They run with the packages of tools/requirements-engines.txt."""

import sys

import pytest
from job_engines import EXAMPLE, tables

import gpu_profile


@pytest.fixture(scope="session")
def expected(tmp_path_factory):
    """The tables by the program's own engine."""
    return tables(gpu_profile.ranks(EXAMPLE, cache=tmp_path_factory.mktemp("cache")))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def own_python(monkeypatch):
    """The command becomes the Python of these tests, with the package of this checkout."""
    monkeypatch.setenv("GPUPROF_PYTHON", sys.executable)
