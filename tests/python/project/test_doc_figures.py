"""Figures that the documentation takes from the sources agree with them."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_buffers_of_a_recording():
    source = (ROOT / "collect/inject/spool/buffers.h").read_text()
    kib = int(re.search(r"kBytes = std::size_t\{(\d+)\} << 10", source)[1])
    most = int(re.search(r"kMaxBuffers = (\d+);", source)[1])
    assert f"buffers of {kib} KiB, at most {most} ({kib * most // 1024} MiB)" in (ROOT / "docs/guides/recording.md").read_text()


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 120
