"""CUPTI's fields and structures have the layout that we expect, in the headers of every version. The headers are NVIDIA's and come
from pip's index: `tools/check_cupti_layout.py` fetches them once into build/cupti-headers.
"""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEADERS = ROOT / "build" / "cupti-headers"


@pytest.mark.skipif(not (HEADERS / "nvidia-cuda-cupti-13.5.25").exists(), reason="no headers of CUPTI: run tools/check_cupti_layout.py once")
def test_the_layout_of_every_version():
    done = subprocess.run([sys.executable, ROOT / "tools/check_cupti_layout.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("all as expected") == 10
