"""The first answer fits one screen of a terminal, names what shares are of once, and leaves out words of the workshop."""

import os
import re
import subprocess
import unicodedata

import pytest
from conftest import FIXTURES, find_program

ROOT = FIXTURES.parents[1]
PAGE = ROOT / "docs/start/ten-first-screens.md"
FOLDERS = ("kineto", "nsys", "public", "jax", "cupti", "ncu", "memory", "nvml", "pm", "proton", "instructions", "flight", "gloo")
FILES = sorted(path for folder in FOLDERS for path in (FIXTURES / folder).glob("*")
               if path.is_dir() or path.name not in ("LICENSE", "README.md") and not path.name.endswith(".txt"))
FILES += [ROOT / "examples/input_bound.json.gz", ROOT / "examples/ranks"]
# Words that readers of a first screen need not know, and pairs that contradict each other beside "high confidence".
LEFT_OUT = re.compile(r"\bunderfilled\b|host-bound \(other\)|\bbaseline step\b|\bprofiled step\b|, (good|rough)\b|\bdrained\b")
ROWS, WIDE, NARROW = 24, 80, 40


def screen(*words, columns=WIDE):
    """What a terminal of this width shows."""
    environment = {**os.environ, "COLUMNS": str(columns), "LC_ALL": "C.UTF-8"}
    done = subprocess.run([find_program(), *words], cwd=ROOT, env=environment, capture_output=True, timeout=60)
    return done.returncode, done.stdout.decode().splitlines()


def cells(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def commands_are(line):
    """Lines that hold a command to copy keep it whole."""
    return line.startswith(("next ", "     gpu-profile"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_it_fits_and_speaks_plainly(path):
    status, lines = screen("report", path)
    if status not in (0, 3) or not lines:
        pytest.skip("not a recording of one program")
    assert len(lines) <= ROWS, "\n".join(lines)
    assert not [line for line in lines if cells(line) > WIDE and not commands_are(line)]
    text = "\n".join(line for line in lines if not commands_are(line))
    assert not LEFT_OUT.search(text), LEFT_OUT.search(text)
    heads = re.findall(r"^.* % of (a step|the window)   .* confidence", text, re.M)
    wholes = re.findall(r"^(A step|The window) of ", text, re.M)
    assert len(heads) <= 1 and len(wholes) <= 1
    if heads:
        assert {"a step": "A step", "the window": "The window"}[heads[0]] == wholes[0]
    shares = [float(share) for share in re.findall(r"^  (?:kernels: |\S).* (\d+\.\d) %(?:  |$)", text.split("GPU 0")[0], re.M)]
    assert sum(shares) <= 100.5, shares


@pytest.mark.parametrize("path", [ROOT / "examples/input_bound.json.gz", FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst", FIXTURES / "ncu/kernels.raw.csv.gz",
                                  FIXTURES / "nvml/bursty.csv"], ids=lambda path: path.name)
def test_a_narrow_terminal_cuts_and_does_not_wrap(path):
    _, lines = screen("report", path, columns=NARROW)
    wide = [line for line in lines if cells(line) > NARROW and not commands_are(line)]
    assert not wide, wide


def test_verbose_holds_what_the_screen_leaves_out(program):
    example = ROOT / "examples/input_bound.json.gz"
    _, brief = screen("report", example)
    _, full = screen("report", example, "--verbose")
    document = program.report(example).document
    assert full[:2] == brief[:2] and len(full) > len(brief)
    for finding in document["findings"]:
        assert any(finding["title"] in line for line in full)
    assert any(line.startswith("Plan") for line in full) and any(line.startswith("Idle time by cause") for line in full)
    done = program.run("report", example, "idle", "--verbose")
    assert done.status == 2 and b"--verbose" in done.stderr


def test_the_screen_says_what_json_says(program):
    """Verdict, its share, the parts and the whole: one computation, two forms."""
    for path in (ROOT / "examples/input_bound.json.gz", FIXTURES / "kineto/graph.json.zst", FIXTURES / "nsys/h100_2gpu_1s.sqlite.zst"):
        _, lines = screen("report", path, "--verbose")
        verdict = program.report(path).document["verdict"]
        assert any(f"{verdict['share_pct']:.1f} % of " in line for line in lines[:8])
        shown = re.findall(r"^  (\S.*?)  +\S+ \S+ +(\d+\.\d) %  ", "\n".join(lines), re.M)
        assert shown == [(part["text"], f"{part['share_pct']:.1f}") for part in verdict["parts"]]
        assert verdict["parts"][0]["share_pct"] == pytest.approx(100 * verdict["parts"][0]["time_ns"] / verdict["whole_ns"], abs=0.1)


def test_the_ten_screens_of_the_documentation():
    text = PAGE.read_text()
    blocks = re.findall(r"<!-- output of: COLUMNS=80 gpu-profile report (\S+) -->\n```\n(.*?)```", text, re.S)
    assert len(blocks) == 10
    assert len(re.findall(r"^\*An expert: ", text, re.M)) == 10
    for name, block in blocks:
        assert len(block.splitlines()) <= ROWS, name
