"""wprof's JSON lines: every row, to the nanosecond, and what is no GPU work."""

import json

from exported import tables_of

HEADER = {"version": "3.1", "dur": 1.0, "timer_freq_hz": 0, "capture_ipis": False, "capture_cuda": True, "stacks": [], "stack_cnt": 1, "pmus": []}
TASK = {"tid": 447, "pid": 446, "comm": "worker", "pcomm": "train"}


def event(type_, ts, dur, **more):
    return f'{{"ts":{ts:.9f},"t":"{type_}","task":{json.dumps(TASK)},"dur":{dur:.9f},"cpu":3,' + json.dumps(more)[1:]


def lines(*more):
    return [json.dumps(HEADER), json.dumps({"id": 1, "frames": ["[U] main"]}),
            event("cuda_api", 86_400.000001507, 0.000001001, name="cudaLaunchKernel_v7000", corr_id=9),
            event("cuda_kernel", 86_400.000010009, 0.000256991, name="_Z5saxpyifPKfPf", device_id=0, stream_id=7, grid=[64, 2, 1], block=[256, 1, 1], corr_id=9),
            event("cuda_memcpy", 0.402302167, 0.040732512, byte_cnt=4096, kind="HtoD", src_kind="pageable", dst_kind="device", device_id=0, stream_id=7, corr_id=12),
            event("cuda_memset", 0.5, 0.000000010, byte_cnt=64, kind="device", device_id=0, stream_id=7, corr_id=13),
            event("cuda_sync", 0.6, 0.1, kind="context_sync", stream_id=-1, corr_id=14), event("cuda_overhead", 0.7, 0.1, kind="cupti_buffer_flush"),
            '{"ts":0.5,"t":"switch","cpu":1,"prev":{},"next":{}}', *more]


def write(folder, *more):
    file = folder / "trace.jsonl"
    file.write_text("\n".join(lines(*more)) + "\n")
    return file


def numbers(rows, *columns):
    return [tuple(int(row[c]) if row.get(c) and row[c].isdigit() else row.get(c) for c in columns) for row in rows]


def test_every_row(program, tmp_path):
    file = write(tmp_path)
    tables = tables_of(program, file)
    assert numbers(tables["kernel"], "dur", "name", "process", "device", "stream", "correlation", "grid_x", "grid_y", "block_x") == [
        (256_991, "saxpy(int, float, float const*, float*)", 446, 0, 7, 9, 64, 2, 256)]
    assert numbers(tables["api_call"], "dur", "name", "thread", "correlation") == [(1_001, "cudaLaunchKernel", "446/447", 9)]
    assert int(tables["kernel"][0]["start"]) - int(tables["api_call"][0]["start"]) == 8_502
    assert numbers(tables["memcpy"], "dur", "kind", "src", "dst", "bytes", "device", "stream", "correlation") == [(40_732_512, "HtoD", "pageable", "device", 4096, 0, 7, 12)]
    assert numbers(tables["memset"], "dur", "kind", "bytes") == [(10, "device", 64)]
    assert numbers(tables["sync"], "dur", "kind", "stream", "correlation") == [(100_000_000, "Context Sync", None, 14)]
    assert numbers(tables["overhead"], "dur", "name") == [(100_000_000, "cupti_buffer_flush")]
    assert numbers(tables["thread"], "key", "name") == [("446/447", "worker")]
    assert {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}["unknown_event"] == 1


def test_lines_that_are_damaged(program, tmp_path):
    file = write(tmp_path, '{"ts":0.5,"t":"cuda_kernel","name":"a"b"}', event("cuda_kernel", 1, 1, name="k")[:40])
    file.write_text(file.read_text().rstrip())
    found = {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}
    assert (found["malformed_event"], found["truncated"]) == (1, 1)
    assert len(tables_of(program, file)["kernel"]) == 1
