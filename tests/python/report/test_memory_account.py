"""The account of device memory from recordings made by `record` itself, over the fakes: a program whose memory is known
(memory_recordings.py), with every source, and with one missing at a time."""

import pytest
from memory_recordings import CONTEXT_MIB, DRIVER_MIB, MIB, OTHER_MIB, PROCESS_MIB, SEGMENTS, driver, framework_trace, record_program, records
from recordings_of_cupti import FIXTURES, lines, script_of_records
from injected import sanitized
from played import record_played

WORKSPACE_MIB = 96
RESERVED_MIB = sum(size for _, size in SEGMENTS.values())


@pytest.fixture(scope="module")
def recording(program, tmp_path_factory):
    if sanitized(program):
        pytest.skip("a shell cannot have a library with a sanitizer in it")
    folder = tmp_path_factory.mktemp("account")
    capture = record_program(program.path, folder, records())
    return capture, framework_trace(program.path, capture, folder / "trace.json")


def account(program, files, *options):
    """{part: bytes}, after the check that the parts add up; and the rows."""
    rows = program.report(*files, "memory_account", *options)["memory_account"].rows
    sizes = {}
    for row in rows:
        sizes[row["part"]] = sizes.get(row["part"], 0) + row["bytes"]
    assert sum(size for part, size in sizes.items() if part not in ("used", "free")) == sizes["used"]
    return sizes, rows


def in_mib(sizes):
    return {part: size / MIB for part, size in sizes.items() if part not in ("used", "free")}


def test_every_part_is_as_planted(program, recording):
    sizes, rows = account(program, recording, "--at", "1.5")
    assert in_mib(sizes) == {"allocated by the framework": 846, "cached by the framework": RESERVED_MIB - 846, "CUDA allocations": WORKSPACE_MIB,
                             "rest of the process": CONTEXT_MIB, "other process": OTHER_MIB, "rest of the device": DRIVER_MIB}
    assert all(row["uncertain_bytes"] in (None, 0) for row in rows)
    assert sizes["free"] == 143771 * MIB - sizes["used"]
    assert next(row for row in rows if row["part"] == "other process")["pid"] == 4194000


def test_without_the_framework_its_segments_are_allocations(program, recording):
    sizes, _ = account(program, recording[:1], "--at", "1.5")
    assert in_mib(sizes) == {"CUDA allocations": RESERVED_MIB + WORKSPACE_MIB, "rest of the process": CONTEXT_MIB,
                             "other process": OTHER_MIB, "rest of the device": DRIVER_MIB}


def test_the_curve_adds_up_everywhere(program, recording):
    rows = program.report(*recording, "memory_curve")["memory_curve"].rows
    parts = [name for name in rows[0] if name.endswith("_bytes") and name != "used_bytes"]
    assert len(rows) > 4
    for row in rows:
        assert sum(row[name] or 0 for name in parts) == row["used_bytes"]
    # After the end of the framework's trace, its segments are allocations like others.
    assert max(row["calls_bytes"] or 0 for row in rows if row["allocated_bytes"] is not None) == WORKSPACE_MIB * MIB


def test_allocations_and_growth_name_the_workspace(program, recording):
    rows = program.report(*recording, "allocations", "--at", "1.5")["allocations"].rows
    workspace = [row for row in rows if row["category"] == "device"]
    assert [(row["bytes"], row["count"], row["owner"]) for row in workspace] == [(WORKSPACE_MIB * MIB, 1, "aten::mm")]
    assert sum(row["bytes"] for row in rows) == (846 + WORKSPACE_MIB) * MIB
    rows = program.report(*recording, "growth", "--between", "0.28:1.5")["growth"].rows
    assert sum(row["grown_bytes"] for row in rows) == (128 + WORKSPACE_MIB) * MIB


def test_a_process_under_another_id_is_nobody(program, recording, tmp_path):
    del recording  # skips where it skips
    script = driver(tmp_path / "pid").replace(f"@{tmp_path / 'pid'}", "4194001")
    capture = record_program(program.path, tmp_path, records(), script)
    sizes, rows = account(program, [capture], "--at", "1.5")
    assert set(sizes) == {"used", "CUDA allocations", "not attributed", "free"}
    assert "lacks process" in next(row["evidence"] for row in rows if row["part"] == "not attributed")


def test_a_mig_instance_without_memory_of_processes(program, recording, tmp_path):
    del recording
    script = driver(tmp_path / "pid") + "fail nvmlDeviceGetComputeRunningProcesses_v3 4\n"
    capture = record_program(program.path, tmp_path, records(), script)
    sizes, rows = account(program, [capture], "--at", "1.5")
    assert sizes["not attributed"] == (PROCESS_MIB + OTHER_MIB + DRIVER_MIB - RESERVED_MIB - WORKSPACE_MIB) * MIB
    assert "NVML lists processes but not their memory" in next(row["evidence"] for row in rows if row["part"] == "not attributed")


def test_a_release_whose_allocation_was_not_recorded(program, recording, tmp_path):
    del recording
    capture = record_program(program.path, tmp_path, records(start_s=0.27))
    report = program.report(capture, "memory_account", "--at", "2.0")
    sizes = {row["part"]: row["bytes"] for row in report["memory_account"].rows}
    assert sizes["CUDA allocations"] == WORKSPACE_MIB * MIB
    assert sizes["rest of the process"] == (CONTEXT_MIB + RESERVED_MIB) * MIB
    assert any("1 release of memory whose allocation was not recorded" in note for note in report.document["tables"][0]["notes"])


@pytest.mark.parametrize("name", ["kern", "memory_bound", "overlap"])
def test_allocations_of_real_programs(program, tmp_path, name):
    """Real CUPTI records, without samples: what is live at the peak."""
    records_of = lines(FIXTURES / f"{name}.jsonl.xz")
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, script_of_records(records_of, tmp_path, lanes=2), capture, "--sample", "0", "--memory").status == 0
    live, peak = {}, 0
    for each in sorted((r for r in records_of if r["kind"] == "MEMORY2" and r["memoryKind"] == 3), key=lambda r: r["timestamp"]):
        if each["op"] == 1:
            live[each["address"]] = each["bytes"]
        else:
            live.pop(each["address"], None)
        peak = max(peak, sum(live.values()))
    assert all(row["thread"] and row["category"] == "device" for row in program.stored(capture, "memory_event"))
    (row,) = program.report(capture, "memory_account")["memory_account"].rows
    assert (row["part"], row["bytes"]) == ("CUDA allocations", peak)


@pytest.mark.parametrize(("words", "said"), [
    (["memory_account", "--at", "soon"], "--at 'soon' is not a time"),
    (["growth", "--between", "3"], "--between '3' is not two times"),
    (["growth", "--between", "2:1"], "the first time must be before the second"),
])
def test_a_wrong_moment_is_one_line(program, words, said):
    outcome = program.run("report", "tests/fixtures/memory/growth.snapshot.pickle.gz", *words)
    assert outcome.status == 2
    assert len(outcome.errors) == 1 and said in outcome.errors[0]
