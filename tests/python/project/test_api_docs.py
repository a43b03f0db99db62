"""The pages of docs/guides with Python blocks: every one runs, page by page, each in a program of its own. Once as it stands, on
whatever this machine has; once against a recording and once against a fake NVML, where every region has to give the
known numbers. PyTorch, CuPy and JAX are stood in for by objects that accept everything, where they are not installed:
then a page shows that it uses this package rightly, and nothing about the framework."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import replayed

import gpu_profile
from patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]
PAGES = ROOT / "docs" / "guides"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Regions that are monitored when a page runs.
REGIONS = {"python.md": 10, "pytorch.md": 10, "cupy.md": 2, "jax.md": 2, "recording.md": 0, "tutorial-triton-kernel.md": 0}

RUNNER = '''
import importlib.util, json, sys, time
from unittest.mock import MagicMock
blocks, recording, backend, found = json.load(sys.stdin), *sys.argv[1:]

for name, parts in {"torch": ["profiler"], "cupy": [], "jax": ["numpy"], "triton": ["language"]}.items():
    if importlib.util.find_spec(name) is None:
        module = sys.modules[name] = MagicMock()
        for part in parts:
            sys.modules[f"{name}.{part}"] = getattr(module, part)
        module.cuda.is_initialized.return_value = True
        module.cuda.current_device.return_value = 0

from gpu_profile.monitor import GpuMonitor
from gpu_profile.region import Region
plain_region, plain_stop, summaries = Region.__init__, GpuMonitor.stop, []

def region(self, options):
    if backend and options["backend"] == "auto":  # all of the recording counts, however short the page's warm-up is
        options = {**options, "backend": backend, "warmup_s": 0.0}
    plain_region(self, options)

def stop(self):
    plain_stop(self)
    summaries.append(self.summary.to_dict())

Region.__init__, GpuMonitor.stop = region, stop
names = {"step": lambda: time.sleep(0.01), "synchronize": lambda: None, "recording": recording,
         "loader": range(2), "train_step": lambda batch: time.sleep(0.01)}
for block in blocks:
    exec(compile(block, "page", "exec"), names)
with open(found, "w") as file:
    json.dump(summaries, file)
'''


def run_page(page, folder, backend="", **environment):
    """The summary of every region of the page, and what the page has printed."""
    text = (PAGES / page).read_text().split("\n## Benchmarks\n")[0]  # those are in test_bench_pages.py
    blocks = BLOCK.findall(text)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUNNER, str(replayed.BURSTY), backend, str(folder / "found.json")],
        input=json.dumps(blocks), cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "found.json").read_text()), done


@pytest.mark.parametrize("page", REGIONS)
def test_page_as_it_stands(page, tmp_path):
    summaries, _ = run_page(page, tmp_path)
    assert len(summaries) == REGIONS[page]
    for summary in summaries:
        assert summary["n_samples"] > 0 or summary["notes"], "no figures, and not a word about it"


@pytest.mark.parametrize("page", REGIONS)
def test_page_on_a_recording(page, tmp_path):
    summaries, done = run_page(page, tmp_path, replayed.all_at_once(replayed.BURSTY))
    expected = replayed.expected(replayed.BURSTY)
    assert len(summaries) == REGIONS[page]
    for summary in summaries:
        for field, figure in expected.items():
            assert summary[field] == pytest.approx(figure), field


def test_what_the_python_page_prints(tmp_path):
    _, done = run_page("python.md", tmp_path, replayed.all_at_once(replayed.BURSTY))
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert len(lines) == 2
    assert list(lines[0]) == list(gpu_profile.GpuSummary().to_dict())
    printed = done.stdout.splitlines()
    util = replayed.expected(replayed.BURSTY)["util_gpu_mean"]
    number, duration, mean, energy = map(float, printed[0].split())
    assert (number, duration, mean, energy) == pytest.approx((0, 8.634817, util, 3931.149))
    assert printed[4].startswith("42 53.03")
    assert printed[-1].endswith("bursty")
    assert done.stderr.count("gpu-profile: GPU 0") == 2


@pytest.mark.parametrize("page", REGIONS)
def test_page_on_a_fake_driver(page, tmp_path):
    fake = Path(gpu_profile.binary()).parent / "fakes" / "libnvidia-ml.so.1"
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    script = tmp_path / "driver.txt"
    script.write_text("device name=NVIDIA_H200\nset 0 util_gpu 75\nset 0 power_w 300\nset 0 mem_used_mb 1000\n")
    summaries, _ = run_page(page, tmp_path, "nvml", GPUPROF_NVML=str(fake), GPUPROF_FAKE_NVML=str(script))
    assert len(summaries) == REGIONS[page]
    for summary in summaries:
        if summary["backend"] == "replay":  # the page says so itself
            continue
        if summary["n_samples"] == 0:  # the stand-in is done before the warm-up that the page leaves out
            assert any("warm-up" in note for note in summary["notes"])
            continue
        figures = [summary[field] for field in ("name", "util_gpu_mean", "util_gpu_std", "power_max_w", "mem_used_max_mb")]
        assert figures[:2] + figures[3:] == ["NVIDIA H200", 75, 300, 1000]
        assert figures[2] in (0, None)  # None: one sample


def test_notebook_runs_and_shows_what_it_shows(tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed")
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    stored = nbformat.read(PAGES / "tour.ipynb", as_version=4)
    notebook = nbformat.read(PAGES / "tour.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=HANGS_S, resources={"metadata": {"path": str(PAGES)}}).execute()
    assert [outputs(cell) for cell in notebook.cells] == [outputs(cell) for cell in stored.cells]


def outputs(cell):
    """What a cell has printed and shown, as text; how the kernel cut what was printed into messages is chance."""
    if cell.cell_type != "code":
        return []
    printed = "".join(one["text"] for one in cell.outputs if one.output_type == "stream")
    shown = [one["data"]["text/plain"] for one in cell.outputs if one.output_type != "stream"]
    return [printed, *shown]


def test_every_page_runs():
    elsewhere = {"bench-python.md", "triton.md", "cpu-timing.md", "tables.md", "training.md", "ci.md", "torchrun.md"}  # test_ranks_gloo.py, test_bench_docs.py, test_bench_pages.py, test_tables.py, test_training.py, test_pytest_plugin.py
    assert {page.name for page in PAGES.glob("*.md") if BLOCK.search(page.read_text())} == set(REGIONS) | elsewhere
