"""`scrub`: the same numbers, and none of the names."""

import gzip
import json

import pytest
from conftest import FIXTURES
from exported import tables_of
from messages import declare

ANALYSES = ("devices", "kernels", "idle", "gaps", "launches", "memcpy", "streams", "steps", "ops", "ranges", "overlap", "losses")
SOME = ("kineto/transformer-stacks-shapes-memory.json.zst", "kineto/input_bound.json.gz", "nsys/mock.sqlite.gz", "public/nccl_parser_config__nccl_data.json.zst")


def numbers_of(program, recording, analyses):
    """Every figure of these tables, row by row in their order."""
    report = program.report(recording, *analyses)
    figures = {}
    for name in analyses:
        table = report[name]
        columns = [column for column, kind in table.columns.items() if kind in ("integer", "real")]
        figures[name] = [tuple(row[column] for column in columns) for row in table.rows]
    return figures


@pytest.mark.parametrize("recording", SOME)
def test_numbers_stay(program, recording, tmp_path):
    clean = tmp_path / "clean.gpuprof"
    outcome = program.run("scrub", FIXTURES / recording, "-o", clean)
    assert outcome.status == 0, outcome.errors
    assert numbers_of(program, clean, ANALYSES) == numbers_of(program, FIXTURES / recording, ANALYSES)


def test_numbers_stay_without_names_of_kernels(program, tmp_path):
    recording, clean = FIXTURES / SOME[0], tmp_path / "clean.gpuprof"
    assert program.run("scrub", recording, "-o", clean, "--ranges", "--kernels").status == 0
    columns = ("count", "total_ns", "min_ns", "max_ns")

    def kernels(file):
        return [tuple(row[column] for column in columns) for row in program.report(file, "kernels")["kernels"].rows]

    assert kernels(clean) == kernels(recording)
    assert all(row["name"].startswith("kernel-") for row in tables_of(program, clean)["kernel"])


def test_names_go(program, tmp_path):
    trace = {
        "schemaVersion": 1,
        "acme_project": "acme-7",
        "command": "python /data/acme/train.py --token x",
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "args": {"name": "/data/acme/bin/train"}},
            {"ph": "X", "cat": "user_annotation", "name": "acme step", "pid": 7, "tid": 7, "ts": 1, "dur": 90},
            {"ph": "X", "cat": "python_function", "name": "/data/acme/train.py(3): acme_load", "pid": 7, "tid": 7, "ts": 2, "dur": 5, "args": {"Python id": 1}},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": 10, "dur": 2, "args": {"correlation": 1}},
            {"ph": "X", "cat": "kernel", "name": "acme_kernel", "pid": 0, "tid": 7, "ts": 20, "dur": 9, "args": {"correlation": 1, "device": 0, "stream": 7}},
        ],
    }
    file, clean = tmp_path / "acme.json", tmp_path / "clean.gpuprof"
    file.write_text(json.dumps(trace))
    assert program.run("scrub", file, "-o", clean, "--ranges", "--kernels").status == 0
    shown = program.run("export", "csv", clean).stdout
    assert b"acme" not in shown and b"kernel-1" in shown and b"range-1" in shown and b"function-1" in shown
    assert program.run("scrub", file, "-o", clean).status == 0
    shown = program.run("export", "csv", clean).stdout
    assert b"/data" not in shown and b"acme-7" not in shown and b"acme_kernel" in shown and b"acme step" in shown


HOME = "/home"
# Of proto/profile.proto of github.com/google/pprof only what comes first and the texts; the library keeps the rest as it is.
Profile = declare("pprof_texts", {"Profile": [("sample_type", 1, "bytes", True), ("string_table", 6, "string", True)]}, "Profile", syntax="proto3")
SECRETS = ("alice", "Alice", "node12", "acme", "secret")


def scrubbed(program, tmp_path, content, *options):
    """The tables of a recording with this content after scrub, checked to be without secrets, and whole as text."""
    file, clean = tmp_path / "recording", tmp_path / "clean.gpuprof"
    file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    outcome = program.run("scrub", file, "-o", clean, *options)
    assert outcome.status == 0, outcome.errors
    shown = program.run("export", "csv", clean).stdout.decode()
    assert [secret for secret in SECRETS if secret in shown] == []
    return tables_of(program, clean)


def names_of(tables):
    return [row["name"] for row in tables["call_node"]]


def test_device_memory_of_jax(program, tmp_path):
    profile = Profile.FromString(gzip.decompress((FIXTURES / "jax/memory.prof").read_bytes()))
    texts = list(profile.string_table)
    assert "/src/mlp.py" in texts
    del profile.string_table[:]
    profile.string_table.extend(text.replace("/src/", f"{HOME}/alice/acme model/").replace("/usr/lib/python3/", f"{HOME}/alice/venv/lib/python3.11/") for text in texts)
    before = tables_of(program, FIXTURES / "jax/memory.prof")
    tables = scrubbed(program, tmp_path, profile.SerializeToString())
    names = names_of(tables)
    # what the packages' own files say, and functions and lines of the program's, is as before
    assert names == [name.replace("/usr/lib/python3/site-packages/", "").replace("/src/mlp.py", "file-1.py") for name in names_of(before)]
    assert "<module> (file-1.py:5)" in names and "step (file-1.py:7)" in names
    assert tables["call_metric"] == before["call_metric"]
    functions = names_of(scrubbed(program, tmp_path, profile.SerializeToString(), "--ranges"))
    assert "<module> (file-1.py:5)" in functions and "function-1 (file-1.py:7)" in functions


@pytest.mark.parametrize("form", ["{file}:{function}@{line}", "{file}:{line}@{function}"])
def test_python_contexts_of_proton(program, tmp_path, form):
    tree = json.loads((FIXTURES / "proton/matmul.hatchet").read_text())
    node = tree[0]["children"][0]
    for file, line, function in ((f"{HOME}/alice/secret project/train.py", 5, "main"), ("acme/net.py", 12, "forward"),
                                 ("/opt/venv/lib/python3.11/site-packages/torch/nn/module.py", 7, "_call_impl")):
        name = form.format(file=file, line=line, function=function)
        node["children"] = [{"frame": {"name": name, "type": "function"}, "metrics": {"mine": 1}, "children": node["children"]}]
    tables = scrubbed(program, tmp_path, tree)
    frames = [form.format(file=file, line=line, function=function) for file, line, function in (
        ("torch/nn/module.py", 7, "_call_impl"), ("file-2.py", 12, "forward"), ("file-1.py", 5, "main"))]
    assert names_of(tables) == ["ROOT", "train", *frames, "matmul_1024_512_256", "matmul_kernel_0d1d2d", "init",
                                "_ZN2at6native29vectorized_elementwise_kernel"]
    assert "mine" in {row["metric"] for row in tables["call_metric"]}
    metrics = {row["metric"] for row in scrubbed(program, tmp_path, tree, "--ranges")["call_metric"]}
    assert "mine" not in metrics and metrics >= {"metric-1", "time", "bytes"}


FRAMES = {
    "C:\\Users\\alice\\x.py(12): load": "file-1.py(12): load",
    f"load (file://{HOME}/alice/x.py:3)": "load (file-1.py:3)",
    f"load ({HOME}/Alice Smith/my (secret) project/x.py:12)": "load (file-1.py:12)",
    "<ipython-input-1>(3): load": "<ipython-input-1>(3): load",
    f"at {HOME}/alice/x.py:12": "at file-1.py:12",
    f"{HOME}/alice/проект acme/файл.py(12): загрузить": "file-1.py(12): загрузить",
    "alice/project/x.py:12": "file-1.py:12",
    f"in the secret project of Alice, {HOME}/alice": "file-1",
    "Alice Smith": "frame-1",
    f'  File "{HOME}/alice/x.py", line 3, in load': '  File "file-1.py", line 3, in load',
}


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_of_all_kinds(program, tmp_path, frame):
    span = {"ph": "X", "pid": 7, "tid": 7, "dur": 5}
    trace = {"schemaVersion": 1, "traceEvents": [
        {**span, "cat": "python_function", "name": frame, "ts": 2, "args": {"Python id": 1}},
        {**span, "cat": "cpu_op", "name": "aten::mm", "ts": 3, "args": {"Call stack": f"main (torch/run.py:3);{frame}"}},
        {**span, "cat": "kernel", "name": "sgemm", "pid": 0, "ts": 20, "args": {"device": 0, "stream": 7}},
    ]}
    tables = scrubbed(program, tmp_path, trace)
    assert tables["python_call"][0]["name"] == FRAMES[frame]
    assert tables["op"][0]["call_stack"] == f"main (torch/run.py:3);{FRAMES[frame]}"
    assert tables["kernel"][0]["name"] == "sgemm" and tables["op"][0]["name"] == "aten::mm"


def test_what_is_kept_has_no_names(program, tmp_path):
    span = {"ph": "X", "pid": 7, "tid": 7, "dur": 5}
    trace = {"schemaVersion": 1, "traceEvents": [
        {**span, "cat": "user_annotation", "name": f"load {HOME}/alice/secret.csv", "ts": 1},
        {**span, "cat": "user_annotation", "name": "step of alice 3/10", "ts": 2},
        {**span, "cat": "cpu_op", "name": "alice::mm", "ts": 3, "args": {"Input Dims": [["acme"], [4]]}},
        {**span, "cat": "kernel", "name": "alice_gemm<float>(int)", "pid": 0, "ts": 20, "args": {"device": 0, "stream": 7}},
    ]}
    tables = scrubbed(program, tmp_path, trace)
    assert [row["name"] for row in tables["range"]] == ["load file-1.csv", "step of user-1 3/10"]
    assert tables["op"][0]["name"] == "user-1::mm" and "input_dims" not in tables["op"][0]
    assert tables["kernel"][0]["name"] == "user-1_gemm<float>(int)"
