"""The README is short, and the front page shows the program as it is."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text().count("\n") <= 120


def test_the_terminal_of_the_front_page_shows_what_the_program_prints(program):
    done = subprocess.run([sys.executable, ROOT / "tools/draw_terminal.py", program.path, "--check"], check=False)
    assert done.returncode == 0, "draw it again: tools/draw_terminal.py build/release/gpu-profile"
