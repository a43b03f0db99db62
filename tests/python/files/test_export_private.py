"""An exported page names neither the folders nor the user of the person who made or exported the recording: in metadata, command
lines, frames, places of losses and names of files."""

import gzip
import json
import os
import subprocess

import pytest
from view_document import Document

USER = "/" + "home/carol.q"
HOME = f"{USER}/secret folder/zebra"


def trace():
    """A small recording of torch.profiler with private paths wherever it can have one."""
    event = lambda name, cat, ts, dur, **args: {"ph": "X", "name": name, "cat": cat, "pid": 9, "tid": 9, "ts": ts, "dur": dur, "args": args}
    return {
        "schemaVersion": 1, "traceName": f"{HOME}/trace.json", "command": f"python3 {HOME}/train.py --user carol.q", "cwd": HOME, "with_stack": 1,
        "deviceProperties": [{"id": 0, "name": "GPU", "totalGlobalMem": 1}],
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 9, "ts": 0, "args": {"name": f"{HOME}/bin/python3"}},
            {"ph": "M", "name": "thread_name", "pid": 9, "tid": 9, "ts": 0, "args": {"name": f"thread of {HOME}/run.sh"}},
            event(f"{HOME}/train.py(12): step", "python_function", 1, 90, **{"Python id": 1, "Python parent id": None}),
            event(f"{USER}/env/lib/python3.11/site-packages/torch/nn/module.py(3): call", "python_function", 2, 80, **{"Python id": 2, "Python parent id": 1}),
            event(f"load {HOME}/set.bin", "user_annotation", 3, 70),
            event("aten::mm", "cpu_op", 4, 20, **{"Input Strings": [f"{HOME}/x"]}),
            event("cudaLaunchKernel", "cuda_runtime", 5, 5, correlation=1),
            event("gemm", "kernel", 12, 40, device=0, stream=7, correlation=1) | {"pid": 0, "tid": 7},
            event("/layer.0/MatMul", "user_annotation", 80, 2),
            {"ph": "X", "name": f"{HOME}/broken", "cat": "kernel", "pid": 0, "tid": 7, "ts": "x", "dur": 1},
        ],
    }


@pytest.fixture(scope="module")
def everything(program, tmp_path_factory):
    """All texts of the page of this recording, exported from a folder with a name of its own."""
    folder = tmp_path_factory.mktemp("walrus") / "narwhal"
    folder.mkdir()
    recording = folder / "run.json.gz"
    recording.write_bytes(gzip.compress(json.dumps(trace()).encode()))
    source = folder / "kernel.cu"
    source.write_text("int main() {}\n")
    outcome = subprocess.run([program.path, "export", "html", recording, "--base", folder / "run.json.gz", "--sources", folder, "-o", folder / "page.html"],
                             capture_output=True, cwd=folder, env={**os.environ, "HOME": str(folder.parent)}, check=False)
    assert outcome.returncode == 0, outcome.stderr
    page = (folder / "page.html").read_text()
    document = Document.of_html(page)
    return document, page[page.index("<!--gpu-profile") if "<!--gpu-profile" in page else page.index('id="manifest"'):] + "\n".join(blob.decode("latin-1") for blob in document.blobs)


@pytest.mark.parametrize("word", ["carol", "secret folder", "zebra", "narwhal", "walrus", "/home/", "env/lib"])
def test_folders_and_users_are_not_named(everything, word):
    text = everything[1]
    assert word not in text, text[max(0, text.index(word) - 80):text.index(word) + 80]


@pytest.mark.parametrize("word", ["train.py(12): step", "torch/nn/module.py(3): call", "load ", "/layer.0/MatMul", "gemm", "run.json.gz"])
def test_what_the_page_is_about_stays(everything, word):
    assert word in everything[1]


def test_a_recorded_command_line_loses_its_folders(program, tmp_path):
    """A capture has command lines and facts; a page of it must not."""
    folder = tmp_path / "narwhal"
    folder.mkdir()
    script = folder / "train.py"
    script.write_text("import time; time.sleep(0.5)\n")
    capture = folder / "run.gpuprof"
    outcome = subprocess.run([program.path, "record", "-o", capture, "--", "python3", script, "--data", folder / "set"],
                             capture_output=True, cwd=folder, check=False)
    assert outcome.returncode == 0, outcome.stderr
    commands = program.run("query", capture, "SELECT command FROM process", "--format", "csv").stdout
    assert b"narwhal" in commands
    assert program.run("export", "html", capture, "-o", folder / "page.html").status == 0
    document = Document.of_html((folder / "page.html").read_text())
    assert not any(b"narwhal" in blob for blob in document.blobs) and "narwhal" not in json.dumps(document.manifest)
