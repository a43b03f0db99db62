"""What tests with a real Dask cluster and a real S3 server share. They run with the packages of tools/requirements-engines.txt."""

import sys

import pytest
from job_engines import cache, expected  # noqa: F401


@pytest.fixture
def own_python(monkeypatch):
    """The command becomes the Python of these tests, with the package of this checkout."""
    monkeypatch.setenv("GPUPROF_PYTHON", sys.executable)
