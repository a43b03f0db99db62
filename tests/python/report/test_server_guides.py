"""The commands in the guides of inference servers, on generated recordings of the names that the guides use."""

import gzip
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_graph_captures import DECODE, GRAPH, capture, on, steps

GUIDES = Path(__file__).resolve().parents[3] / "docs" / "guides"
FILE = {"vllm.md": "rank0.trace.json", "sglang.md": "TP-0.trace.json"}


def commands_of(guide):
    blocks = re.findall(r"^```sh\n(.*?)^```", (GUIDES / guide).read_text(), re.MULTILINE | re.DOTALL)
    return [shlex.split(line)[1:] for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("guide", FILE)
def test_the_commands_of_a_guide_answer(program, tmp_path, monkeypatch, guide):
    for folder in ("profile", "capture_traces"):
        (tmp_path / folder).mkdir()
    steps(tmp_path / "profile" / FILE[guide], [(DECODE, [on(0, GRAPH)])] * 20)
    capture(tmp_path / "capture_traces" / "bs_8_rank0.json", [GRAPH])
    capture(tmp_path / "capture_traces" / "bs_16_rank0.json", [GRAPH], 16)
    monkeypatch.chdir(tmp_path)
    outputs = {}
    for command in commands_of(guide):
        outcome = program.run(*command, *(["--cache", "kept"] if command[0] == "ranks" else []))
        assert outcome.status == 0, f"{command}: {outcome.errors}"
        outputs[" ".join(command)] = outcome.stdout.decode()
    (merged,) = [text for command, text in outputs.items() if "graph_nodes" in command]
    assert all(f"aten::op{i}" in merged for i in range(5)), "nodes have their operators"


def test_the_recordings_that_guides_show_are_what_the_simulator_writes(program, tmp_path):
    """The guide of SGLang draws its own when `tools/check_docs.py` compares what it shows."""
    root = GUIDES.parents[1]
    subprocess.run([sys.executable, root / "tests/simulate/serving_example.py", tmp_path], check=True)
    kept = sorted(path.relative_to(root / "examples/serving") for path in (root / "examples/serving").rglob("*.gz"))
    assert kept == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.gz")) and len(kept) == 2
    for name in kept:
        assert gzip.decompress((tmp_path / name).read_bytes()) == gzip.decompress((root / "examples/serving" / name).read_bytes())
    named = program.run("report", tmp_path / "rank0.trace.json.gz", tmp_path / "capture_traces", "graph_nodes", "--format", "csv", "--limit", "0").stdout.decode()
    assert len(named.splitlines()) == 31 and all("Layer_" in line for line in named.splitlines()[1:]), "all 30 nodes have their module"
