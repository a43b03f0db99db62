"""Recordings of graph captures: recognised, never judged, and merged into the recording of the server's steps.

Captures and steps are generated as vLLM and SGLang write them (Kineto on ROCm and CUDA). The generator knows which launch each
replayed op comes from, so every name, shape and module is compared with it.
"""

import json

import pytest

THREAD, DEVICE = 7, 2
LAUNCH = {"hip": "hipModuleLaunchKernel", "cuda": "cudaLaunchKernel"}


class Trace:
    def __init__(self, api="hip"):
        self.api, self.events, self.now, self.ids = api, [], 1000, 0

    def add(self, category, name, dur, start=None, tid=THREAD, pid=THREAD, **args):
        start = self.now if start is None else start
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": dur, "args": args})

    def call(self, name, **args):
        self.ids += 1
        self.add("cuda_runtime", name, 2, correlation=self.ids, **args)
        self.now += 3
        return self.ids

    def write(self, path):
        path.write_text(json.dumps({"schemaVersion": 1, "baseTimeNanoseconds": 1775078550000000000, "traceEvents": self.events}))
        return path


def node(i, layer=0, kernel=None, kind="kernel"):
    """A captured launch: its kernel, operator, shapes and module."""
    return {"kind": kind, "kernel": kernel or f"kernel_{i}", "op": f"aten::op{i}", "dims": [[8, 16 + i]], "module": f"Layer_{layer}"}


def capture(path, graphs, size=8, mode="FULL", api="hip", named=True, annotated=True):
    trace = Trace(api)
    begun = trace.now
    trace.now += 1
    external = 0
    for graph in graphs:
        trace.call(f"{api}StreamBeginCapture")
        for each in graph:
            external += 1
            start = trace.now
            trace.now += 2
            args = {"kernel": each["kernel"]} if named and api == "hip" and each["kind"] == "kernel" else {}
            call = LAUNCH[api] if each["kind"] == "kernel" else f"{api}MemcpyAsync"
            trace.call(call, **args, **{"External id": external})
            trace.add("cpu_op", each["op"], trace.now - start - 1, start + 1, **{"External id": external, "Input Dims": each["dims"]})
            trace.add("python_function", f"nn.Module: {each['module']}", trace.now - start + 1, start)
            trace.add("python_function", "model.py(12): forward", trace.now - start, start)
            trace.now += 5
        trace.call(f"{api}StreamEndCapture")
    if annotated:
        trace.add("user_annotation", f"capture_{size}_{mode}", trace.now - begun, begun)
    return trace.write(path)


def steps(path, rounds, api="hip"):
    """`rounds`: of each step its annotation, and of each launch its ops as (node, stream)."""
    trace = Trace(api)
    device = trace.now
    for text, launches in rounds:
        begun = trace.now
        trace.now += 1
        for ops in launches:
            correlation = trace.call(f"{api}GraphLaunch")
            device = max(device, trace.now)
            for each, stream in ops:
                category, name = ("kernel", each["kernel"]) if each["kind"] == "kernel" else ("gpu_memcpy", "Memcpy DtoD (Device -> Device)")
                trace.add(category, name, 4, device, tid=stream, pid=DEVICE, device=DEVICE, stream=stream, correlation=correlation)
                device += 5
        if text:
            trace.add("user_annotation", text, trace.now - begun, begun)
        trace.now += 20
    return trace.write(path)


def on(stream, graph):
    return [(each, stream) for each in graph]


NAMED = ("SELECT k.name, o.name AS op, o.input_dims AS dims, n.module AS module FROM kernel k JOIN op o ON o.external_id = k.external_id "
         "JOIN graph_node n ON n.graph_node_id = k.graph_node_id ORDER BY k.start_ns")


@pytest.fixture
def named(program):
    """What each kernel of the merged recording is named, and what the report says of the merge."""

    def merge(*files):
        outcome = program.run("query", *files, NAMED, "--format", "json")
        assert outcome.status == 0, outcome.errors
        said = " ".join(program.run("report", *files, "--verbose").stdout.decode().split())
        return [tuple(row) for row in json.loads(outcome.stdout)["tables"][0]["rows"]], said

    return merge


def truth(graph):
    return [(each["kernel"], each["op"], json.dumps(each["dims"]).replace(" ", ""), each["module"]) for each in graph if each["kind"] == "kernel"]


def compact(rows):
    return [(name, op, dims.replace(" ", ""), module) for name, op, dims, module in rows]


GRAPH = [node(0), node(1), node(2, 1), node(1, 1), node(3, kind="memcpy"), node(4, 2)]
DECODE = "step[DECODE bs=8]"


@pytest.mark.parametrize("annotated", [True, False])
def test_a_capture_alone_is_no_program(program, tmp_path, annotated):
    path = capture(tmp_path / "bs_8_rank0.json", [GRAPH], annotated=annotated)
    said = " ".join(program.run("report", path).stdout.decode().split())
    assert said.startswith("cannot tell") and "recording of a graph capture" in said and "6 launches in 1 graph" in said
    assert ("capture_8_FULL" if annotated else "size 8") in said
    findings = program.report(path, "findings")["findings"].rows
    assert findings == []


def test_each_launch_of_a_full_graph_is_named(named, tmp_path):
    graph = capture(tmp_path / "capture.json", [GRAPH])
    rows, said = named(steps(tmp_path / "run.json", [(DECODE, [on(0, GRAPH)])] * 5), graph)
    assert compact(rows) == 5 * truth(GRAPH)
    assert "30 of 30 ops of graphs were named by captures" in said


def test_pieces_take_the_captures_in_order(named, tmp_path):
    pieces = [[node(9, 0)], [node(1, 1), node(2, 1)], [node(1, 2), node(2, 2)], [node(8, 3)]]
    graph = capture(tmp_path / "capture.json", pieces, 64, "PIECEWISE")
    turns = [("execute_context_2(50)_generation_6(6)", [on(0, piece) for piece in pieces])] * 3
    rows, said = named(steps(tmp_path / "run.json", turns), graph)
    assert compact(rows) == 3 * [row for piece in pieces for row in truth(piece)]
    assert "18 of 18 ops" in said


def test_streams_go_on_where_the_run_is_longest(named, tmp_path):
    """The captured order is A B C A B D; one stream has A B D, which begins like the other's A B C."""
    first, second = [node(0), node(1), node(2)], [node(0, 5), node(1, 5), node(7, 5)]
    graph = capture(tmp_path / "capture.json", [first + second])
    interleaved = [pair for both in zip(on(1, second), on(2, first), strict=True) for pair in both]
    rows, _ = named(steps(tmp_path / "run.json", [(DECODE, [interleaved])]), graph)
    assert compact(rows) == [row for both in zip(truth(second), truth(first), strict=True) for row in both]


@pytest.mark.parametrize(("turn", "why"), [
    (("step[DECODE bs=9]", [on(0, GRAPH)]), "a step has 9 tokens, and capture_8_FULL is for 8"),
    (("step[DECODE bs=4]", [on(0, GRAPH)]), "a step has 4 tokens, and capture_8_FULL is for 8"),
    ((DECODE, [on(0, GRAPH[:-1])]), "a launch has 5 ops, a graph of capture_8_FULL has 6"),
    ((DECODE, [on(0, [*GRAPH[:-1], node(5)])]), "launch 6 of capture_8_FULL (kernel_4) is at its place on no stream"),
    ((DECODE, [on(0, [GRAPH[1], GRAPH[0], *GRAPH[2:]])]), "launch 1 of capture_8_FULL (kernel_0) is at its place on no stream"),
])
def test_what_does_not_fit_is_refused_with_the_reason(named, tmp_path, turn, why):
    rows, said = named(steps(tmp_path / "run.json", [turn]), capture(tmp_path / "capture.json", [GRAPH]))
    assert rows == [] and why in said and "0 of " in said


def test_two_captures_that_match_equally_are_refused(named, tmp_path):
    run = steps(tmp_path / "run.json", [("", [on(0, GRAPH)])])
    files = [capture(tmp_path / f"capture{size}.json", [GRAPH], size) for size in (8, 16)]
    rows, said = named(run, *files)
    assert rows == [] and "match equally" in said
    assert compact(named(run, files[0])[0]) == truth(GRAPH)


def test_the_annotation_tells_two_sizes_apart(named, tmp_path):
    wide = [{**each, "dims": [[16, 1]]} for each in GRAPH]
    files = [capture(tmp_path / "capture8.json", [GRAPH], 8), capture(tmp_path / "capture16.json", [wide], 16)]
    turns = [("step[DECODE bs=7]", [on(0, GRAPH)]), ("step[DECODE bs=9]", [on(0, GRAPH)])]
    rows, _ = named(steps(tmp_path / "run.json", turns), *files)
    assert compact(rows) == truth(GRAPH) + truth(wide)


def test_without_names_the_order_counts_on_one_stream_of_known_size(named, tmp_path):
    graph = capture(tmp_path / "capture.json", [GRAPH], api="cuda", named=False)
    rows, _ = named(steps(tmp_path / "run.json", [(DECODE, [on(0, GRAPH)])], "cuda"), graph)
    assert compact(rows) == truth(GRAPH)
    rows, said = named(steps(tmp_path / "run.json", [("", [on(0, GRAPH)])], "cuda"), graph)
    assert rows == [] and "does not name its kernels" in said
    two = on(0, GRAPH[:3]) + on(1, GRAPH[3:])
    rows, said = named(steps(tmp_path / "run.json", [(DECODE, [two])], "cuda"), graph)
    assert rows == [] and "ran on 2 streams" in said


def test_modules_get_the_work_of_their_launches(program, tmp_path):
    files = [steps(tmp_path / "run.json", [(DECODE, [on(0, GRAPH)])] * 4), capture(tmp_path / "capture.json", [GRAPH])]
    rows = {row["path"]: row for row in program.report(files[0], files[1], "modules", "--whole")["modules"].rows}
    assert {path: row["kernels"] for path, row in rows.items()} == {"Layer_0": 8, "Layer_1": 8, "Layer_2": 4}
    assert rows["Layer_1"]["device_total_ns"] == 8 * 4000
