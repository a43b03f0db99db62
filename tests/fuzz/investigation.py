"""Fuzz target of `tune`: any bytes as investigation.json. Every command that reads only this file answers, or refuses it in one line.

tests/fuzz/run.py runs it like the targets in C++, with the package atheris, which gives Python libFuzzer's engine. The recordings of the investigation are
empty files, and what the program says of them is made up: this is about the file.
"""

import contextlib
import io
import json
import os
import random
import sys
import tempfile
import unicodedata
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

with atheris.instrument_imports(include=["gpu_profile.tuning"]):
    from gpu_profile import program
    from gpu_profile.tuning import answers
    from gpu_profile.tuning.__main__ import main

COMMANDS = (["status"], ["status", "--format", "json"], ["accept", "--because", "seen", "--", "1"], ["reject", "--because", "seen", "--", "1"], ["report"])
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
VALUES = (None, True, False, -1, 0, 7, 1e308, 10**400, "", "x", f"{os.pardir}/{os.pardir}/x", "/etc/hostname", "baseline/1.json", [], [1], {}, {"a": 1}, "2026-01-01T00:00:00Z", "accepted", "\u202e\x1b[2J\ud800")


def places(value, at=()):
    yield at
    for name, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(part, (*at, name))


def mutated(data, most, seed):
    """The document with one value changed, removed or copied to another place; bytes that are no document, and some others, as libFuzzer changes them."""
    choose = random.Random(seed)
    try:
        document = json.loads(data)
        there = [place for place in places(document) if place]
        if not there or choose.random() < 0.2:
            raise ValueError
    except (ValueError, RecursionError):
        return atheris.Mutate(data, most)

    def parent_of(place):
        value = document
        for name in place[:-1]:
            value = value[name]
        return value

    place = choose.choice(there)
    what = choose.random()
    if what < 0.25:
        del parent_of(place)[place[-1]]
    elif what < 0.5:
        other = choose.choice(there)
        parent_of(place)[place[-1]] = json.loads(json.dumps(parent_of(other)[other[-1]]))
    else:
        parent_of(place)[place[-1]] = choose.choice(VALUES)
    try:
        changed = json.dumps(document).encode()
    except (ValueError, RecursionError):
        return atheris.Mutate(data, most)
    return changed if len(changed) <= most else data


COMPARED = {"verdict": "same", "lead": ["same +0.00 %"], "warnings": [], "metric": "step_p50", "base_ns": 1.0, "new_ns": 1.0, "change_pct": 0.0, "low_pct": 0.0, "high_pct": 0.0,
            "noise_pct": 0.0, "confidence": "high", "basis": "recordings", "base_peak_bytes": None, "peak_bytes": None}


def is_control(character):
    """What moves a terminal's cursor, or turns the text around. A character that Unicode does not know is only not shown."""
    return character != "\n" and (unicodedata.category(character) in ("Cc", "Cs") or unicodedata.bidirectional(character) in TURNING)


def run(data):
    for words in COMMANDS:
        (FOLDER / "tune" / "investigation.json").write_bytes(data)
        said, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(errors):
            status = main(words)
        lines = errors.getvalue().splitlines()
        assert status in (0, 2, 3) and len(lines) == (status != 0), (words, status, lines)
        assert not any(map(is_control, said.getvalue() + errors.getvalue())), (words, "text for a terminal")
        if "json" in words and status == 0:
            json.loads(said.getvalue(), parse_constant=lambda name: 1 / 0)


if __name__ == "__main__":
    FOLDER = Path(tempfile.mkdtemp(prefix="gpuprof-fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    for name in ("baseline/1.json", "trials/1/1.json", "trials/2/1.json"):
        (FOLDER / "tune" / name).parent.mkdir(parents=True, exist_ok=True)
        (FOLDER / "tune" / name).touch()
    answers.compared = lambda *_recordings: COMPARED
    program.answer = lambda *words: Path(words[-1]).write_text("a page") and ""
    os.chdir(FOLDER)
    atheris.Setup(sys.argv, run, custom_mutator=mutated)
    atheris.Fuzz()
