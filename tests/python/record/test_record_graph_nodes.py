"""`record`: nodes of CUDA graphs lead to where they were captured. The fake libcupti (tests/fakes/cupti/graphs.cc) tells what happens
to nodes; what a launched graph does is a script, whose kernels name the executable graph's nodes."""

import shlex
import subprocess
import sys

import pytest
from patience import HANGS_S
from played import PLAY, fake_environment
from recordings_of_cupti import lines, script_of_records

GRAPHS = PLAY + """
cupti = ctypes.CDLL("libcupti.so.13")
P = ctypes.c_void_p
for name, *types in (("graph",), ("graph_node", P, ctypes.c_uint32, P, ctypes.c_size_t, P), ("graph_clone", P),
                     ("graph_instantiate", P, ctypes.c_bool), ("graph_node_at", P, ctypes.c_size_t), ("graph_body", P)):
    function = getattr(cupti, "fake_cupti_" + name)
    function.restype, function.argtypes = P, types
for name, *types in (("graph_unlink", P, P), ("graph_update", P, P), ("graph_destroy", P, ctypes.c_bool), ("graph_reverse", ctypes.c_bool)):
    getattr(cupti, "fake_cupti_" + name).argtypes = types
cupti.fake_cupti_graph_node_id.restype, cupti.fake_cupti_graph_node_id.argtypes = ctypes.c_uint64, [P]
make = cupti.fake_cupti_graph_node
def waits(*after): return (P * len(after))(*after), len(after)
def instantiate(graph): return cupti.fake_cupti_graph_instantiate(graph, False)
def launch(script=1):
    path, sys.argv[1] = sys.argv[1], sys.argv[script]
    play(10 * script, b"start")
    sys.argv[1] = path
"""
MODEL = GRAPHS + """
def first(graph): return make(graph, 0, *waits(), None)
def second(graph, after): return make(graph, 0, *waits(after), None)
def third(graph, after): return make(graph, 0, *waits(after), None)
def capture():
    graph = cupti.fake_cupti_graph()
    a = first(graph)
    b = second(graph, a)
    third(graph, b)
    cupti.fake_cupti_graph_captured()
    return graph
"""


def id_of(graph, node):
    return graph << 32 | node


def replay(nodes, launches=2, each_ns=10_000, gap_ns=3_000):
    """Records of launches of a graph: kernels of the given nodes, one after the other."""
    records = lines()
    kernel = next(r for r in records if r["kind"] == "KERNEL" and not r["graphId"])
    call = next(r for r in records if r["kind"] == "RUNTIME")
    yield from (r for r in records if r["kind"] == "DEVICE")
    for turn in range(launches):
        begin = 1_000_000_000 + turn * 1_000_000
        yield {**call, "cbid": 311, "name": "cudaGraphLaunch_v10000", "start": begin, "end": begin + 5_000, "correlationId": turn + 1}
        for place, node in enumerate(nodes):
            start = begin + 8_000 + place * (each_ns + gap_ns)
            yield {**kernel, "start": start, "end": start + each_ns, "completed": start + each_ns, "correlationId": turn + 1,
                   "graphId": node >> 32, "graphNodeId": node}


@pytest.fixture
def record(program, tmp_path):
    def run(text, *plays, options=(), processes=1):
        """Record a program whose arguments are scripts of the given records; of several, it is started that often at once."""
        code, capture = tmp_path / "model.py", tmp_path / "run.gpuprof"
        code.write_text(text)
        scripts = [script_of_records(list(records), tmp_path).rename(tmp_path / f"{number}.script") for number, records in enumerate(plays)]
        command = [sys.executable, code, *scripts]
        if processes > 1:
            started = " & ".join([shlex.join(map(str, command))] * processes)
            command = ["sh", "-c", f"{started} & wait"]
        done = subprocess.run([program.path, "record", "-o", capture, "--force", "--sample", "0", *options, "--", *map(str, command)],
                              env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr
        return capture

    return run


def line_of(text, wanted):
    return next(number for number, line in enumerate(text.splitlines(), 1) if wanted in line)


def nodes_of(program, capture):
    return program.report(capture, "graph_nodes")["graph_nodes"].by("node")


def functions(program, capture):
    """By node: the innermost function of where it was captured."""
    return {node: row["place"] and row["place"].split(" ")[0] for node, row in nodes_of(program, capture).items()}


def test_each_kernel_of_a_replay_leads_to_where_it_was_captured(program, record):
    text = MODEL + "instantiate(capture())\nlaunch()\n"
    capture = record(text, replay([id_of(2, n) for n in (1, 2, 3)]))
    found = nodes_of(program, capture)
    assert [found[id_of(2, n)]["place"] for n in (1, 2, 3)] == [
        f"{name} (model.py:{line_of(text, f'def {name}')})" for name in ("first", "second", "third")]
    assert [found[id_of(2, n)]["count"] for n in (1, 2, 3)] == [2, 2, 2]
    assert [found[id_of(2, n)]["waits_for"] for n in (1, 2, 3)] == [0, 1, 1]
    assert [found[id_of(2, n)]["lag_mean_ns"] for n in (1, 2, 3)] == [None, 3000, 3000]
    edges = {(int(row["graph_node_id"]), int(row["after"])) for row in program.stored(capture, "graph_edge")}
    assert edges == {(id_of(1, 2), id_of(1, 1)), (id_of(1, 3), id_of(1, 2))}
    causes = program.report(capture, "idle")["idle"].by("cause")
    assert causes["graph"]["total_ns"] == 2 * 2 * 3000
    places = program.report(capture, "launch_stacks")["launch_stacks"].by("place")
    assert places[f"first (model.py:{line_of(text, 'def first')})"]["kernels"] == 2


def test_which_of_two_nodes_waits_is_found_from_their_order(program, record):
    text = MODEL + "cupti.fake_cupti_graph_reverse(True)\ninstantiate(capture())\nlaunch()\n"
    capture = record(text, replay([id_of(2, n) for n in (1, 2, 3)]))
    edges = {(int(row["graph_node_id"]), int(row["after"])) for row in program.stored(capture, "graph_edge")}
    assert edges == {(id_of(1, 2), id_of(1, 1)), (id_of(1, 3), id_of(1, 2))}


def test_bodies_of_child_graphs_and_conditional_nodes(program, record):
    text = MODEL + """
def inner(graph): return make(graph, 0, *waits(), None)
def body(graph): return make(graph, 0, *waits(), None)
def last(graph, after): return make(graph, 0, *waits(after), None)
nested, while_true, outer = (cupti.fake_cupti_graph() for _ in range(3))
inner(nested), body(while_true)
host = make(outer, 3, *waits(), None)
make(outer, 4, *waits(host), nested), make(outer, 13, *waits(), while_true)
last(outer, host)
instantiate(outer)
launch()
"""
    # nested 1, while_true 2, outer 3, the copy of nested in it 4; the executable graph 5 and in it the bodies 6 and 7.
    capture = record(text, replay([id_of(6, 1), id_of(7, 1), id_of(5, 4)]))
    assert functions(program, capture) == {id_of(6, 1): "inner", id_of(7, 1): "body", id_of(5, 4): "last"}
    assert nodes_of(program, capture)[id_of(5, 4)]["host_nodes"] == 1
    assert {row["kind"] for row in program.stored(capture, "graph_node")} == {"kernel", "host", "child graph", "conditional"}


def test_an_update_makes_nodes_do_what_others_do(program, record):
    """Launches before it keep their place."""
    text = MODEL + """
def other(graph): return make(graph, 0, *waits(), None)
executable = instantiate(cupti.fake_cupti_graph_clone(capture()))
launch(1)
changed = cupti.fake_cupti_graph()
for _ in range(3): other(changed)
cupti.fake_cupti_graph_update(executable, changed)
time.sleep(0.005)
launch(2)
"""
    nodes = [id_of(3, n) for n in (1, 2, 3)]
    capture = record(text, replay(nodes, launches=1), replay(nodes, launches=1))
    stacks = program.report(capture, "launch_stacks")["launch_stacks"].rows
    kernels = {row["place"].split(" ")[0]: row["kernels"] for row in stacks if row["kernels"]}
    assert kernels == {"first": 1, "second": 1, "third": 1, "other": 3}


def test_ids_may_be_given_again(program, record):
    """The place is that of the graph that was launched, also after the one it was made from is gone."""
    text = MODEL + """
def again(graph): return make(graph, 0, *waits(), None)
for turn in (1, 2):
    graph = capture() if turn == 1 else cupti.fake_cupti_graph()
    if turn == 2: again(graph)
    executable = instantiate(graph)
    cupti.fake_cupti_graph_destroy(graph, True)
    launch(turn)
    cupti.fake_cupti_graph_destroy(executable, True)
    time.sleep(0.005)
"""
    capture = record(text, replay([id_of(2, 1)], launches=1), replay([id_of(2, 1)], launches=1))
    stacks = program.report(capture, "launch_stacks")["launch_stacks"].rows
    assert {row["place"].split(" ")[0]: row["kernels"] for row in stacks if row["kernels"]} == {"first": 1, "again": 1}
    assert {row["removed"] != "" for row in program.stored(capture, "graph_edge")} == {True}


def test_graphs_that_were_captured_before_the_window_keep_their_places(program, record):
    text = MODEL + "instantiate(capture())\ncuda.cuProfilerStart()\nlaunch()\ncuda.cuProfilerStop()\n"
    capture = record(text, replay([id_of(2, n) for n in (1, 2, 3)]), options=["--capture-range", "cudaProfilerApi"])
    assert functions(program, capture) == {id_of(2, 1): "first", id_of(2, 2): "second", id_of(2, 3): "third"}


def test_nodes_of_unknown_origin_are_said_to_be_so(program, record):
    """Nobody was told of the graph: its kernels are there, their places are not."""
    capture = record(GRAPHS + "launch()\n", replay([id_of(2, n) for n in (1, 2, 3)]))
    report = program.report(capture, "graph_nodes")
    assert all(row["place"] is None and row["waits_for"] is None for row in report["graph_nodes"].rows)
    assert "Where 3 of 3 nodes were captured is unknown" in " ".join(report.document["tables"][0]["notes"])
    capture = record(MODEL + "instantiate(capture())\nlaunch()\n", replay([id_of(2, 1)]), options=["--graph", "graph"])
    assert not program.stored(capture, "graph_node")


def test_a_failed_instantiation_does_not_hide_the_next_capture(program, record):
    text = MODEL + "cupti.fake_cupti_graph_instantiate(capture(), True)\ninstantiate(capture())\nlaunch()\n"
    capture = record(text, replay([id_of(3, n) for n in (1, 2, 3)]))
    assert functions(program, capture) == {id_of(3, 1): "first", id_of(3, 2): "second", id_of(3, 3): "third"}


def test_thousands_of_nodes_of_several_processes(program, record):
    """Ids are those of each process; nothing is lost, and parts repeat nothing."""
    text = MODEL + """
graph = cupti.fake_cupti_graph()
after = first(graph)
for _ in range(2999): after = second(graph, after)
instantiate(graph)
launch()
"""
    capture = record(text, replay([id_of(2, n) for n in (1, 2, 3)]), processes=2)
    rows = program.stored(capture, "graph_node")
    assert len(rows) == 2 * 2 * 3000 and len(program.stored(capture, "graph_edge")) == 2 * 2999
    assert len({row["process"] for row in rows}) == 2
    found = program.report(capture, "graph_nodes")["graph_nodes"].by("process", "node")
    assert sorted(row["place"].split(" ")[0] for row in found.values()) == ["first"] * 2 + ["second"] * 4
    assert not [row for row in program.stored(capture, "loss") if row["kind"] == "recorder_loss"]
