"""The README is short."""

from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 120
