"""Profiles of JAX: xplane.pb against Google's protobuf library, trace.json against Python's json; launches, steps, broken files."""

import json
import re
from collections import Counter

import pytest
from conftest import FIXTURES
from exported import tables_of
from oracle.trace import unpacked

pytest.importorskip("google.protobuf", reason="protobuf is in tools/requirements-dev.txt")
from xplane import HloProto, XSpace, events, instructions  # noqa: E402  (needs protobuf)

XPLANE = FIXTURES / "jax/mlp.xplane.pb.zst"
JSON = FIXTURES / "jax/mlp.trace.json.zst"
DEVICE = "/device:GPU:0"


@pytest.fixture(scope="module")
def space():
    space = XSpace()
    space.ParseFromString(unpacked(XPLANE))
    return space


@pytest.fixture(scope="module")
def began(space):
    (plane,) = [plane for plane in space.planes if plane.name == "Task Environment"]
    names = {entry.key: entry.value.name for entry in plane.stat_metadata}
    return next(stat.uint64_value for stat in plane.stats if names[stat.metadata_id] == "profile_start_time")


@pytest.fixture(scope="module")
def tables(program):
    return tables_of(program, XPLANE)


def span(began, start, dur):
    assert start % 1000 == dur % 1000 == 0  # ps; of this file all are whole ns
    return str(began + start // 1000), str(dur // 1000)


def stream(line):
    return re.match(r"Stream #(\d+)", line.name)[1]


def framework_op(stats):
    """tf_op without its type; of JAX it only says that XLA made the kernel, and the operator stands under `name`."""
    op = stats["tf_op"].rpartition(":")[0]
    return stats.get("name") if op == "XlaModule" else op


def test_instructions_of_xla(program, space):
    """Kernel time by module, instruction and framework operator: xplane.pb read by protobuf. In command buffers, names of kernels
    lead to instructions, but only the xplane.pb has the HLO."""
    programs = instructions(space)
    recorded, named, lost, found = Counter(), Counter(), 0, 0
    for plane, _, name, _, dur, stats in events(space):
        if plane != DEVICE or "kernel_details" not in stats:
            continue
        ns, key = dur // 1000, (stats["hlo_module"], stats["hlo_op"], framework_op(stats))
        recorded[key] += ns
        made = programs[f"{stats['hlo_module']}({stats['program_id']})"].get(name) if stats["hlo_op"].startswith("command_buffer") else None
        named[(key[0], made[0], made[1] or key[2]) if made else key] += ns
        if stats["hlo_op"].startswith("command_buffer"):
            lost, found = lost + ns, found + (ns if made else 0)
    assert len(recorded) > 1 and ("jit_multiply", "loop_multiply_fusion", "jit(multiply)") in {(m, o, (f or "")[:13]) for m, o, f in recorded}
    assert (lost, found) == (12_655_355, 5_913_747)  # 46.7 %
    for file, wanted in ((XPLANE, named), (JSON, recorded)):
        rows = program.report(file, "hlo")["hlo"].rows
        assert {(row["module"], row["hlo_op"], row["framework_op"]): row["total_ns"] for row in rows} == dict(wanted)
        assert sum(row["share_pct"] for row in rows) == pytest.approx(100)
        assert "XLA_FLAGS=--xla_gpu_enable_command_buffer= " in " ".join(program.run("report", file, "hlo").stdout.decode().split())


def test_ambiguous_names_of_kernels(program, space, tmp_path):
    """Two instructions that give a kernel one name: it stays with the command buffer."""
    changed = XSpace()
    changed.CopyFrom(space)
    (plane,) = [plane for plane in changed.planes if plane.name == "/host:metadata"]
    for entry in plane.event_metadata:
        for stat in (stat for stat in entry.value.stats if stat.HasField("bytes_value")):
            hlo = HloProto()
            hlo.ParseFromString(stat.bytes_value)
            hlo.hlo_module.computations.add(name="more").instructions.add(name="gemm.fusion.dot.7")
            stat.bytes_value = hlo.SerializeToString()
    (tmp_path / "changed.xplane.pb").write_bytes(changed.SerializeToString())
    rows = program.report(tmp_path / "changed.xplane.pb", "hlo")["hlo"].rows
    assert "gemm_fusion_dot.7" not in {row["hlo_op"] for row in rows}
    assert sum(row["total_ns"] for row in rows if row["hlo_op"].startswith("command_buffer")) == 12_655_355 - 5_913_747 + 3_152_573


def test_kernels(space, began, tables):
    wanted = Counter()
    for plane, line, name, start, dur, stats in events(space):
        if plane == DEVICE and "kernel_details" in stats:
            details = dict(word.split(":") for word in stats["kernel_details"].split())
            shared = int(details["static_shared"]) + int(details["dynamic_shared"])
            wanted[(*span(began, start, dur), name, stream(line), str(stats["correlation_id"]), details["regs"], str(shared), details["grid"], details["block"],
                    str(stats["cuda_graph_id"]) if "cuda_graph_id" in stats else None)] += 1
    found = Counter((row["start"], row["dur"], row["name"], row["stream"], row["correlation"], row["registers"], row["shared_bytes"],
                     *(",".join(row[f"{shape}_{axis}"] for axis in "xyz") for shape in ("grid", "block")), row.get("graph_id")) for row in tables["kernel"])
    assert found == wanted
    assert len(tables["kernel"]) == 570


def test_memory_of_kernels_on_amd(program, space, tmp_path):
    """ROCm's tracer has words of its own for the memory of a group and of a thread."""
    changed = XSpace()
    changed.CopyFrom(space)
    (plane,) = [plane for plane in changed.planes if plane.name == DEVICE]
    for entry in plane.stat_metadata:
        if entry.value.name.startswith("regs:"):
            entry.value.name = " grid:16,16,2 block:256,1,1 private_mem:168 group_mem:30240 occ_pct:0"
    (tmp_path / "amd.xplane.pb").write_bytes(changed.SerializeToString())
    kernels = tables_of(program, tmp_path / "amd.xplane.pb")["kernel"]
    assert {(row["shared_bytes"], row["local_bytes"], row["grid_z"], row.get("registers")) for row in kernels} == {("30240", "168", "2", None)}


def test_copies_and_fills(space, began, tables):
    copies, fills = Counter(), Counter()
    for plane, line, _name, start, dur, stats in events(space):
        if plane != DEVICE:
            continue
        if "memcpy_details" in stats:
            copies[(*span(began, start, dur), stream(line), re.search(r"size:(\d+)", stats["memcpy_details"])[1])] += 1
        if "Memset_details" in stats:
            fills[(*span(began, start, dur), stream(line), re.search(r"num_bytes:(\d+)", stats["Memset_details"])[1])] += 1
    assert Counter((row["start"], row["dur"], row["stream"], row["bytes"]) for row in tables["memcpy"]) == copies
    assert Counter((row["start"], row["dur"], row["stream"], row["bytes"]) for row in tables["memset"]) == fills
    assert {(row["kind"], row["src"], row["dst"]) for row in tables["memcpy"]} == {("HtoD", "pinned", "device")}


def test_the_host(space, began, tables):
    """Every event of the host is in one table, with its nanoseconds."""
    host = [(line, name, start, dur, stats) for plane, line, name, start, dur, stats in events(space) if plane == "/host:CPU"]
    calls = [event for event in host if "correlation_id" in event[4]]
    assert Counter((*span(began, start, dur), str(stats["correlation_id"])) for _, _, start, dur, stats in calls) == Counter(
        (row["start"], row["dur"], row["correlation"]) for row in tables["api_call"])
    named = {name.split(" (")[0] for _, name, *_ in calls if name.startswith("cu")}
    assert {row["name"] for row in tables["api_call"]} == named | {"cuLaunchKernel", "cuMemcpyAsync", "cuMemset"}
    python = Counter(span(began, start, dur) for _, name, start, dur, _ in host if name.startswith("$"))
    assert Counter((row["start"], row["dur"]) for row in tables["python_call"]) == python
    assert "profiler.py(151): start_trace" in {row["name"] for row in tables["python_call"]}
    tool = Counter((*span(began, start, dur), name) for line, name, start, dur, _ in host if line.name.startswith("Host Threads/"))
    assert Counter((row["start"], row["dur"], row["name"]) for row in tables["overhead"]) == tool
    assert sum(len(tables[table]) for table in ("api_call", "python_call", "overhead", "range", "memory_event")) == len(host)
    threads = {str(line.id): line.name for line, *_ in host}
    assert {row["tid"]: row["name"] for row in tables["thread"]} == threads


def test_every_op_has_its_launch(program, tables):
    calls = {row["correlation"] for row in tables["api_call"]}
    launched = sum(row["correlation"] in calls for table in ("kernel", "memcpy", "memset") for row in tables[table])
    assert launched == 720
    assert program.report(XPLANE, "losses")["losses"].rows == []


def test_launches_among_what_the_recorder_did(program, space, tmp_path):
    """ROCm's tracer writes HIP's calls on the line of the recorder."""
    changed = XSpace()
    changed.CopyFrom(space)
    (plane,) = [plane for plane in changed.planes if plane.name == "/host:CPU"]
    for line in plane.lines:
        line.name = "Host Threads/7"
    for entry in plane.event_metadata:
        entry.value.name = {"wrapped_subtract": "hipLaunchKernel"}.get(entry.value.name, entry.value.name)
    path = tmp_path / "rocm.xplane.pb"
    path.write_bytes(changed.SerializeToString())
    tables = tables_of(program, path)
    calls = {row["correlation"]: row for row in tables["api_call"]}
    assert sum(row["correlation"] in calls for table in ("kernel", "memcpy", "memset") for row in tables[table]) == 720
    assert Counter(row["api"] for row in calls.values() if row["name"] == "hipLaunchKernel") == {"hip": 80}


def test_steps(program, space):
    wanted = [(f"{name} {stats['step_num']}", dur // 1000) for _, _, name, _, dur, stats in events(space) if "step_num" in stats]
    rows = program.report(XPLANE, "steps")["steps"].rows
    assert [(row["step"], row["dur_ns"]) for row in rows] == wanted
    assert len(rows) == 10


def test_allocations(space, tables):
    wanted = Counter()
    for _plane, _line, name, _start, _dur, stats in events(space):
        if name in ("MemoryAllocation", "MemoryDeallocation"):
            sign = 1 if name == "MemoryAllocation" else -1
            wanted[(str(sign * stats["allocation_bytes"]), str(stats["addr"]), str(stats["bytes_allocated"]), "0" if stats["allocator_name"].startswith("GPU_0") else None)] += 1
    assert Counter((row["bytes"], row["address"], row["total_allocated"], row.get("device")) for row in tables["memory_event"]) == wanted


def test_device(tables):
    (device,) = tables["device"]
    assert (device["name"], device["vendor"], device["sms"], device["cc_major"], device["memory_bytes"]) == ("NVIDIA H200", "nvidia", "132", "9", "150109880320")


def test_json(program):
    """The viewer's file: the same device work, and of the host what it has."""
    spans = [event for event in json.loads(unpacked(JSON))["traceEvents"] if event.get("ph") == "X"]
    tables = tables_of(program, JSON)
    for table, key in (("kernel", "kernel_details"), ("memcpy", "memcpy_details"), ("memset", "Memset_details")):
        wanted = Counter((str(round(e["ts"] * 1000)), str(round(e["dur"] * 1000)), e["args"]["correlation_id"], str(e["tid"])) for e in spans if e["pid"] == 1 and key in e["args"])
        assert Counter((row["start"], row["dur"], row["correlation"], row["stream"]) for row in tables[table]) == wanted
    assert sum(len(tables[table]) for table in ("kernel", "memcpy", "memset", "api_call", "python_call", "overhead", "range")) == len(spans)
    full = {row["name"] for row in tables_of(program, XPLANE)["kernel"]}
    assert {row["name"] for row in tables["kernel"]} == full


def test_json_and_xplane_agree(program):
    """What needs no more than the file of the viewer has; limits of the device are not in it."""
    columns = {"devices": ("busy_ns", "idle_ns"), "kernels": ("name", "count", "total_ns", "min_ns", "max_ns"), "memcpy": ("count", "total_ns", "bytes")}
    for analysis, names in columns.items():
        one, other = ([tuple(row[name] for name in names) for row in program.report(file, analysis)[analysis].rows] for file in (XPLANE, JSON))
        assert one == other


def test_cut_off_and_damaged(program, tmp_path):
    data = unpacked(XPLANE)
    file = tmp_path / "cut.xplane.pb"
    file.write_bytes(data[:5000])  # in the middle of the first plane: the names of a plane come after its lines
    assert program.run("report", file).status == 3
    for size in (len(data) * 3 // 4, len(data) - 1):
        file.write_bytes(data[:size])
        losses = {row["kind"] for row in program.report(file, "losses")["losses"].rows}
        assert "truncated" in losses
    text = unpacked(JSON)
    (tmp_path / "cut.json").write_bytes(text[: len(text) // 2])
    losses = {row["kind"]: row["place"] for row in program.report(tmp_path / "cut.json", "losses")["losses"].rows}
    assert losses["truncated"].endswith(f"at byte {len(text) // 2}")


def test_planes_of_other_devices_are_counted(program, tmp_path):
    space = XSpace()
    tpu = space.planes.add(name="/device:TPU:0")
    tpu.lines.add(name="XLA Ops").events.add(metadata_id=1)
    gpu = space.planes.add(name="/device:GPU:1")
    gpu.event_metadata.add(key=7).value.name = "fusion"
    gpu.lines.add(name="XLA Ops", timestamp_ns=5).events.add(metadata_id=7, offset_ps=1999, duration_ps=3001)
    file = tmp_path / "tpu.xplane.pb"
    file.write_bytes(space.SerializeToString())
    (row,) = tables_of(program, file)["device_range"]
    assert (row["name"], row["device"], row["start"], row["dur"]) == ("fusion", "1", "6", "3")
    (loss,) = program.report(file, "losses")["losses"].rows
    assert (loss["kind"], loss["count"], loss["place"]) == ("unread_table", 1, "lines of /device:TPU:0 (1)")
