"""bench/viewer/compare.py measures our viewer and prints its tables, here of the smallest recording and without speedscope."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import find_chromium

COMPARE = Path(__file__).resolve().parents[2] / "bench" / "viewer" / "compare.py"
FIGURES = ("first_paint_ms", "file_bytes")


def test_the_smallest_recording_is_measured_once(program, tmp_path):
    pytest.importorskip("playwright.sync_api")
    chromium = find_chromium()
    if chromium is None:
        pytest.skip("Chromium is not installed")
    results = tmp_path / "results.jsonl"
    command = [COMPARE, "--sizes", "10000", "--serve", "", "--repeats", "1", "--frames", "8", "--no-speedscope", "--chromium", chromium]
    done = subprocess.run([sys.executable, *command, "--program", program.path, "--json", results], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (result,) = map(json.loads, results.read_text().splitlines())
    assert (result["events"], result["viewer"]) == (10_000, "html")
    assert all(result[name] > 0 for name in FIGURES)
    assert result["range_answer_ms"]["first"] > 0
    assert result["range_answer_ms"]["next"]["count"] == 8
    assert result["frame_ms"]["count"] >= 4 * 7  # a frame per change, except one that shows the same window
    assert result["tab_mib"]["explored"] > 0
    first, second = [line for line in done.stdout.splitlines() if line.startswith("| 10,000 |")]
    assert "gpu-profile, one file" in first and " MB |" in first
    assert second.count(" ms |") == 3
