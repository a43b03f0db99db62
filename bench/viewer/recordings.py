"""Recordings of any length, grown from a real one of 9,768 events: tests/fixtures/kineto/input_bound.json.gz."""

import gzip
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEED = ROOT / "tests" / "fixtures" / "kineto" / "input_bound.json.gz"
SEED_EVENTS = 9_768
SEED_KERNELS = 608


def grown(events, folder, tools):
    """A recording of about this many events: the seed, its trace repeated (grow_trace), or from ten million a capture (make_big_capture)."""
    copies = max(1, round(events / SEED_EVENTS))
    if copies == 1:
        return SEED
    if events >= 10_000_000:
        out = folder / f"{events}.gpuprof"
        subprocess.run([tools / "capture" / "make_big_capture", SEED, out, str(copies * SEED_KERNELS), "--all"], check=True, stdout=subprocess.DEVNULL)
        return out
    text = gzip.decompress(SEED.read_bytes())
    (folder / "seed.json").write_bytes(text)
    out = folder / f"{events}.json"
    with open(out, "wb") as file:
        subprocess.run([tools / "import" / "grow_trace", folder / "seed.json", str(len(text) * copies)], check=True, stdout=file)
    return out
