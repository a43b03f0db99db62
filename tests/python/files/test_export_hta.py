"""Holistic Trace Analysis opens what `export chrome` writes, and agrees with our figures.

It brings half a gigabyte with it, so it is not among the packages of .venv; to run this test:
`.venv/bin/pip install HolisticTraceAnalysis==0.5.0`.
"""

import pytest
from conftest import recorded
from oracle.trace import unpacked

hta = pytest.importorskip("hta.trace_analysis", reason="HolisticTraceAnalysis is not installed; see the head of this file")


def breakdown(file):
    (row,) = hta.TraceAnalysis(trace_files={0: str(file)}, include_last_profiler_step=True).get_temporal_breakdown(visualize=False).to_dict("records")
    return row


@pytest.mark.parametrize("name", ["public/trace_filter__sampled_rank-0", "public/nccl_parser_config__nccl_data", "kineto/overlap"])
def test_temporal_breakdown(program, tmp_path, name):
    recording, file = recorded(name), tmp_path / "rank-0.json"
    assert program.run("export", "chrome", recording, "-o", file).status == 0
    row = breakdown(file)
    (original := tmp_path / "original.json").write_bytes(unpacked(recording))
    assert row == breakdown(original)
    report = program.report(recording, "devices", "kernels", "memcpy", "memset")
    # It takes whole microseconds: each event may lose one at either end.
    events = sum(r["count"] for table in ("kernels", "memcpy", "memset") for r in report[table].rows)
    busy_ns = sum(r["busy_ns"] for r in report["devices"].rows)
    in_steps = row["compute_time(us)"] + row["non_compute_time(us)"]
    assert abs(in_steps * 1000 - busy_ns) <= 2000 * events
