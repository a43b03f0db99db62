"""The recordings of CUPTI records in tests/fixtures/cupti: their lines, and the scripts that the fake libcupti plays."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "cupti"
KERN = FIXTURES / "kern.jsonl.xz"


def lines(recording):
    with lzma.open(recording, "rt") as file:
        return [json.loads(line) for line in file]


def script_of(recording, folder, version="13.0", lanes=4):
    script = Path(folder) / f"{recording.name}-{version}-{lanes}.script"
    if not script.exists():
        subprocess.run([sys.executable, ROOT / "tests/fakes/cupti/script.py", "--cupti", version, "--lanes", str(lanes),
                        recording, script], check=True)
    return script
