"""`gpu-profile bench FILE.py`: what is selected, arguments, options, outputs, keeping results. Times are not asserted, but on
the simulated device of the fake libcuda, where they are exact."""

import csv
import io
import json
import statistics
from pathlib import Path

import pytest
from bench_command import QUICK, bench_in

PLAIN = "def kernel(x=3):\n    return sum(range(x))\n"
DECORATED = """
from gpu_profile import Benchmark, bench, benchmark, perf_report
@benchmark(timer="host", min_time_s=0, min_samples=6, max_samples=6)
def second(n=10): return sum(range(n))
@benchmark(timer="host", name="named", min_time_s=0, min_samples=6, max_samples=6)
def first(n=10): return max(range(n))
@perf_report(Benchmark(x_names=["size"], x_vals=[10, 20], line_arg="of", line_vals=["sum", "max"], line_names=["s", "m"],
                       plot_name="builtins", args={"step": 2}))
def swept(size, of, step):
    return bench({"sum": sum, "max": max}[of], range(0, size, step), timer="host", min_time_s=0, min_samples=6, max_samples=6)
def kernel(): raise AssertionError("decorated functions come instead")
"""


@pytest.fixture
def bench(program, tmp_path):
    def run(file, *words, quick=True, **more):
        return bench_in(tmp_path, program, *words, *(QUICK if quick else ()), file=file, **more)

    return run


def test_kernel_without_a_name(bench):
    done = bench(PLAIN, "bench_me.py", "--format", "json")
    assert (done.status, done.said) == (0, [])
    (found,) = done.measurements.values()
    assert (found["name"], found["timer"], len(found["samples"])) == ("kernel", "host", 8)
    assert found["statistics"]["median_ns"] in found["samples"]
    assert found["statistics"]["mean_ns"] == pytest.approx(statistics.fmean(found["samples"]))
    assert found["warmup"]["calls"] > 0


def test_the_document_says_where_it_comes_from(bench):
    document = bench(PLAIN, "bench_me.py", "--format", "json", "--memory").document
    assert (document["tool"], document["document"], document["schema"]) == ("gpu-profile", "bench", 1)
    assert document["created"].endswith("Z")
    assert "bench_me.py" in document["command_line"]
    assert document["machine"]["processors"] >= 1
    (one,) = document["benchmarks"]
    assert one["settings"] == {"stop": "median", "precision": 0.005, "min_time_ns": 0, "timeout_ns": 15_000_000_000,
                               "min_samples": 8, "max_samples": 8}
    assert one["memory"]["source"] == "tracemalloc"
    assert one["program"] is None


def test_a_function_is_named_methods_too(bench):
    file = "class Model:\n    @staticmethod\n    def forward(): return 1\ndef other(): return 2\n"
    assert list(bench(file, "bench_me.py:Model.forward", "--format", "json").measurements) == ["Model.forward"]
    assert list(bench(file, "bench_me.py:other", "--format", "json").measurements) == ["other"]


def test_everything_decorated_in_the_order_of_the_file(bench):
    found = bench(DECORATED, "bench_me.py", "--format", "json", quick=False).measurements
    sweep = [f"builtins[size={size}, of={of}]" for size in (10, 20) for of in "sm"]
    assert list(found) == ["second", "named", *sweep]
    assert {len(one["samples"]) for one in found.values()} == {6}, "what the decorator says holds"
    (one,) = bench(DECORATED, "bench_me.py:first", "--format", "json").document["benchmarks"]
    assert (one["measurement"]["name"], len(one["measurement"]["samples"])) == ("named", 8), "the command line wins"


@pytest.mark.parametrize(("words", "seen"), [
    (["--args", "3", "0.5", "None", "'text'", "[1, 2]"], "(3, 0.5, None, 'text', [1, 2])"),
    (["--args=-1"], "(-1,)"),
    (["--args", "2x3:float32", "--args", "4:int64"], "float32 (2, 3) int64 (4,)"),
    ([], ""),
])
def test_arguments(bench, words, seen):
    file = ("import sys\ndef kernel(*args):\n    shown = ' '.join(f'{a.dtype} {a.shape}' for a in args if hasattr(a, 'dtype'))\n"
            "    print('saw', shown or args or '', file=sys.stderr)\n")
    done = bench(file, "bench_me.py", *words)
    assert done.status == 0
    assert {line[4:] for line in done.errors.splitlines() if line.startswith("saw")} == {seen}


def test_required_parameters_get_made_matrices(bench):
    file = "def kernel(a, b, scale=2):\n    print('saw', a.shape, b.dtype, float(a[0, 0]) == float(b[0, 0]))\n"
    done = bench(file, "bench_me.py", "--format", "json")
    assert "saw (1024, 1024) float32 False" in done.errors
    assert "saw" not in done.text, "what the file prints is no part of the answer"


def test_inputs_file(bench, tmp_path):
    (tmp_path / "inputs.py").write_text("def inputs(seed):\n    return (seed, 'x')\n")
    done = bench("def kernel(*args): print('saw', args)\n", "bench_me.py", "--inputs", "inputs.py")
    assert "saw (0, 'x')" in done.errors


def test_csv_has_every_figure(bench):
    done = bench(PLAIN, "bench_me.py", "--format", "csv", "--bytes", "1e9", "--flops", "2e9")
    (row,) = csv.DictReader(io.StringIO(done.text))
    assert (row["name"], row["timer"], row["samples"], row["device"]) == ("kernel", "host", "8", "")
    assert float(row["bytes_per_s"]) == pytest.approx(1e9 / (float(row["median"]) / 1e9))
    assert float(row["flop_per_s"]) == pytest.approx(2 * float(row["bytes_per_s"]))


def test_text_shows_name_median_and_notes(bench):
    text = bench(PLAIN, "bench_me.py").text
    assert "measurements" in text and "kernel" in text and "median" in text
    assert "note: kernel: timed by the host's clock" in text


def test_save_is_what_json_prints(bench, tmp_path):
    done = bench(PLAIN, "bench_me.py", "--save", "mine", "--format", "json")
    kept = tmp_path / ".gpu-profile" / "bench" / "mine.json"
    assert kept.read_text() == done.text
    assert [entry.name for entry in kept.parent.iterdir()] == ["mine.json"], "no part is left behind"


def test_save_to_a_file_or_another_folder(bench, tmp_path):
    assert bench(PLAIN, "bench_me.py", "--save", "deep/er/mine").status == 0
    assert (tmp_path / "deep/er/mine").exists()
    assert bench(PLAIN, "bench_me.py", "--save", "mine", environment={"GPUPROF_BENCH_DIR": str(tmp_path / "kept")}).status == 0
    assert (tmp_path / "kept/mine.json").exists()


def test_a_result_is_not_written_over(bench, tmp_path):
    (tmp_path / "mine.json").write_text("precious")
    done = bench(PLAIN, "bench_me.py", "--save", "mine.json")
    assert (done.status, done.text) == (2, "")
    assert "mine.json already exists; choose another name, or overwrite it with --force" in done.errors
    assert (tmp_path / "mine.json").read_text() == "precious"
    assert bench(PLAIN, "bench_me.py", "--save", "mine.json", "--force").status == 0
    assert json.loads((tmp_path / "mine.json").read_text())["document"] == "bench"


# ---- the simulated device

SIMULATED = """
import ctypes, os, sys, types
device = ctypes.CDLL(os.environ["GPUPROF_CUDA"])
assert device.fake_cuda_set(b"kernel 1 constant 50000; cold 2", 1) == 0
def kernel():
    assert device.fake_cuda_launch(1, ctypes.c_void_p(0)) == 0
"""


@pytest.fixture
def on_device(bench, program):
    library = Path(program.path).parent / "fakes" / "libcuda.so.1"
    assert library.exists(), f"{library} is not built"
    return lambda *words, file=SIMULATED: bench(file, "bench_me.py", *words, environment={"GPUPROF_CUDA": str(library)})


def test_cuda_timer_cold_and_hot(on_device):
    (cold,) = on_device("--timer", "cuda", "--format", "json").measurements.values()
    (hot,) = on_device("--timer", "cuda", "--hot", "--format", "json").measurements.values()
    assert (cold["timer"], cold["cold"], hot["cold"]) == ("cuda events", True, False)
    assert cold["statistics"]["median_ns"] == pytest.approx(100_000, rel=1e-3), "the cache was overwritten"
    assert hot["statistics"]["median_ns"] == pytest.approx(50_000, rel=0.01)
    assert cold["device_name"]


def test_nvbench_json_is_what_its_reader_looks_at(on_device, tmp_path):
    done = on_device("--timer", "cuda", "--nvbench-json", "nv.json", "--format", "json")
    (measured,) = done.measurements.values()
    root = json.loads((tmp_path / "nv.json").read_text())
    assert root["meta"]["version"]["json"]["string"] == "1.0.0"
    (device,) = root["devices"]
    assert device == {"id": 0, "name": measured["device_name"]}
    (one,) = root["benchmarks"]
    assert (one["name"], one["index"], one["devices"], one["axes"]) == ("kernel", 0, [0], None)
    (state,) = one["states"]
    assert (state["name"], state["device"], state["axis_values"], state["is_skipped"]) == ("Device=0", 0, None, False)
    values = {summary["tag"]: summary["data"][0] for summary in state["summaries"]}
    assert values["nv/cold/sample_size"] == {"name": "value", "type": "int64", "value": "8"}
    mean = values["nv/cold/time/gpu/mean"]
    assert mean["type"] == "float64" and float(mean["value"]) == pytest.approx(100e-6, rel=1e-3)
    assert float(values["nv/cold/time/gpu/stdev/relative"]["value"]) == pytest.approx(measured["statistics"]["noise"])
    hot = json.loads(on_device("--timer", "cuda", "--hot", "--format", "nvbench").text)
    tags = {summary["tag"] for summary in hot["benchmarks"][0]["states"][0]["summaries"]}
    assert "nv/batch/time/gpu/mean" in tags and not any(tag.startswith("nv/cold") for tag in tags)
    host = json.loads(on_device("--timer", "host", "--format", "nvbench").text)
    tags = {summary["tag"] for summary in host["benchmarks"][0]["states"][0]["summaries"]}
    assert host["devices"] == [] and "nv/cpu_only/time/cpu/mean" in tags
