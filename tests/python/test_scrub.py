"""`scrub`: the same numbers, and none of the names."""

import json

import pytest
from conftest import FIXTURES
from exported import tables_of

ANALYSES = ("devices", "kernels", "idle", "gaps", "launches", "memcpy", "streams", "steps", "ops", "ranges", "overlap", "losses")
SOME = ("kineto/transformer-stacks-shapes-memory.json.gz", "kineto/input_bound.json.gz", "nsys/mock.sqlite.gz", "public/nccl_parser_config__nccl_data.json.gz")


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
