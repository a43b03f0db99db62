"""Pairs of programs for a machine with a GPU (tests/gpu/pairs): the session that measures them, with a stand-in for every process.

The programs themselves need PyTorch and a GPU, and are only compiled here.
"""

import ast
import gzip
import importlib.util
import json
import os
import sys

import pytest

from conftest import FIXTURES, recorded
from oracle.trace import unpacked

ROOT = FIXTURES.parents[1]
PAIRS = ROOT / "tests" / "gpu" / "pairs"
BINARY = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))
sys.path[:0] = [str(PAIRS), str(PAIRS.parent)]
from declared import PAIRS as DECLARED, RECORDERS, SIDES, Pair  # noqa: E402
from harness.processes import Done  # noqa: E402
from session import FIGURES_BYTES, Session  # noqa: E402

spec = importlib.util.spec_from_file_location("whatif_pairs", ROOT / "bench" / "whatif" / "pairs.py")
judged = importlib.util.module_from_spec(spec)
spec.loader.exec_module(judged)

TWO = (Pair("input", ("input", "pinned-copies"), 5), Pair("wide", ("communication",), 5, gpus=2))
SECONDS = 10.0  # that a process takes, by the clock of Stand


class Stand:
    """Runs nothing: writes the recording that a process would, and says its step times."""

    def __init__(self, recording_bytes=1000, breaks=()):
        self.now, self.bytes, self.breaks, self.ran, self.said = 0.0, recording_bytes, set(breaks), [], []

    def run(self, command, limit_s):
        name, recording = command
        if limit_s < SECONDS:
            self.now += limit_s
            return Done(None, "", "", limit_s)
        self.now += SECONDS
        self.ran.append(name)
        if name in self.breaks:
            return Done(1, "", "Traceback\nRuntimeError: out of memory\n", SECONDS)
        if recording is not None:
            recording.write_bytes(bytes(self.bytes))
        return Done(0, "warning\n" + json.dumps({"step_ms": [3.0, 1.0, 2.0], "steps": 5, "device": "none"}) + "\n", "", SECONDS)

    def session(self, folder, **options):
        def command(pair, side, recorder, recording):
            return f"{pair.name}.{side}.{recorder}", recording

        return Session(folder, self.run, command, {"gpu": "none"}, self.said.append, clock=lambda: self.now, **{"pairs": TWO, **options})


def document(folder):
    return json.loads((folder / "pairs.json").read_text())


def test_everything_is_in_one_folder(tmp_path):
    stand = Stand()
    assert stand.session(tmp_path).make() == ([], [])
    (pair,) = document(tmp_path)["pairs"]
    assert pair["changes"] == ["input", "pinned-copies"]
    for side in SIDES:
        for recorder in RECORDERS:
            assert pair[side][recorder]["processes"] == 5 and pair[side][recorder]["median_ms"] == 2.0
    recordings = sorted(path.name for path in (tmp_path / "recordings").iterdir())
    assert recordings == ["input.after.gpu-profile.gpuprof", "input.after.torch.profiler.json.gz", "input.before.gpu-profile.gpuprof", "input.before.torch.profiler.json.gz"]
    assert pair["before"]["torch.profiler"]["recording"] == "recordings/input.before.torch.profiler.json.gz"
    assert pair["before"]["none"]["recording"] is None
    assert len(list((tmp_path / "runs").iterdir())) == 5 * len(SIDES) * len(RECORDERS)


def test_too_few_gpus_are_a_reason(tmp_path):
    stand = Stand()
    stand.session(tmp_path, processes=1).make()
    assert document(tmp_path)["skipped"] == {"wide": "needs 2 GPUs: this machine has 1"}
    assert stand.said == ["wide: skipped: needs 2 GPUs: this machine has 1"]
    stand.session(tmp_path, processes=1, gpus=2).make()
    assert len(document(tmp_path)["pairs"]) == 2 and not document(tmp_path)["skipped"]


def test_a_cut_session_goes_on(tmp_path):
    stand = Stand()
    session = stand.session(tmp_path, limit_s=95, processes=2)
    _, unreached = session.make()
    assert stand.now <= 95 and len(stand.ran) == 9 and len(unreached) == 3
    assert stand.said[-1] == "3 of 12 processes not reached within 95 s; run again to continue"
    assert document(tmp_path)["pairs"][0]["after"]["torch.profiler"]["processes"] == 1, "the first process of everything comes first"
    assert stand.session(tmp_path, processes=2).make() == ([], [])
    assert len(stand.ran) == 12


def test_a_failed_process_is_one_line_and_tried_again(tmp_path):
    stand = Stand(breaks={"input.after.none"})
    failed, _ = stand.session(tmp_path, processes=1).make()
    assert len(failed) == 1
    line = stand.said[-1]
    assert "\n" not in line and line.startswith("input after, none, process 1: failed:") and "RuntimeError: out of memory" in line
    assert "out of memory" in document(tmp_path)["pairs"][0]["after"]["none"]["failed"][0]
    stand.breaks = set()
    assert stand.session(tmp_path, processes=1).make() == ([], [])
    assert stand.ran.count("input.after.none") == 2 and stand.ran.count("input.before.none") == 1
    assert document(tmp_path)["pairs"][0]["after"]["none"]["failed"] == []


def test_the_folder_stays_small(tmp_path):
    stand = Stand(recording_bytes=1_000_000)
    limit = FIGURES_BYTES + 2_500_000
    stand.session(tmp_path, limit_bytes=limit, processes=2).make()
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= limit
    assert len(list((tmp_path / "recordings").iterdir())) == 2
    removed = [line for line in stand.said if "would exceed 4,500,000 bytes" in line]
    assert len(removed) == 2
    assert document(tmp_path)["pairs"][0]["after"]["torch.profiler"]["recording"] is None


def test_predictions_beside_a_folder(tmp_path):
    """The recordings of tests/fixtures as if a session had made them: the loader before and after."""
    stand = Stand()
    stand.session(tmp_path).make()
    for side, name in (("before", "input_bound"), ("after", "input_fixed")):
        (tmp_path / "recordings" / f"input.{side}.torch.profiler.json.gz").write_bytes(gzip.compress(unpacked(recorded(f"kineto/{name}"))))
    text = document(tmp_path)
    for truth in (text["pairs"][0]["after"][recorder] for recorder in ("none", "torch.profiler")):
        truth.update(median_ms=13.1, low_ms=13.0, high_ms=13.2)
    (tmp_path / "pairs.json").write_text(json.dumps(text))
    lines = judged.folder_table(BINARY, tmp_path).splitlines()
    torch = [line for line in lines if line.startswith("| input, torch.profiler")]
    assert len(torch) == 2 and all("| yes |" in line and "5 processes" in line for line in torch)
    assert "+0.4 %" in torch[1] or "+0.5 %" in torch[1], torch[1]
    assert any(line.startswith("| input, gpu-profile | none: ") for line in lines), "the reason is shown if a file is not a recording"
    assert lines[-1].startswith("1 predictions without a profiler: ")


def test_every_pair_has_its_program():
    for path in PAIRS.glob("*.py"):
        compile(path.read_text(), str(path), "exec")
    tree = ast.parse((PAIRS / "programs.py").read_text())
    (programs,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "PROGRAMS"]
    assert [key.value for key in programs.keys] == [pair.name for pair in DECLARED]


@pytest.mark.parametrize("change", sorted({change.replace("?", "0.5") for pair in DECLARED for change in pair.changes}))
def test_every_change_is_known(program, change):
    assert program.run("whatif", str(FIXTURES / "kineto" / "graph.json.zst"), "--change", change).status == 0
