"""A rank is reduced from a part of its recording's columns: the same bytes as from all of them, for simulated jobs in several forms."""

import os
import subprocess
from pathlib import Path

import pytest
from patience import HANGS_S
from rank_jobs import jobs  # noqa: F401

FORMS = {"whole": (), "without numbers": ("--no-seq", "--shared-names"), "without metadata": ("--no-metadata", "--no-flows"), "losses": ("--lost", "1"),
         "cut": ("--cut", "1,2"), "Nsight Systems": ("--format", "nsys")}


@pytest.mark.parametrize("form", FORMS)
def test_summaries_do_not_depend_on_the_columns_read(program, jobs, form):  # noqa: F811
    tests = Path(program.path).parent / "unit_tests"
    if not tests.exists():
        pytest.skip("the unit tests are not built with the program")
    place, _ = jobs("clean-8", "--steps", "4", *FORMS[form])
    done = subprocess.run([tests, "--gtest_filter=BoundedReading.OtherRecordings*"], env=os.environ | {"GPUPROF_RECORDINGS": str(place)},
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
