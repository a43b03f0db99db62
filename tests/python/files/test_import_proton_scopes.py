"""Proton's scopes inside kernels: made as Triton's StreamChromeTraceWriter writes them, against sums that are painted cycle by cycle."""

import json
import random
from collections import Counter

import pytest
from exported import tables_of

EPOCH = 1_764_000_000_000_000_000


def event(scope, start, cycles, *, kernel="matmul", block=0, warp=0, line=0, megahertz=1000.0, began=0, **more):
    args = {"Finalization Time (ns)": 320, "Init Time (ns)": EPOCH + began, "Post Final Time (ns)": EPOCH + began + 9, "call_stack": ["ROOT"]}
    if megahertz:
        args["Frequency (MHz)"] = megahertz
    per_microsecond = megahertz or 1000
    return {"args": args, "cat": kernel, "dur": cycles / per_microsecond, "name": scope, "ph": "X", "pid": f"{kernel} Core{block % 132} CTA{block}",
            "tid": f"warp {warp} (line {line})", "ts": (began + start) / per_microsecond, **more}


def beside(category, scope, start, cycles, **more):
    """What a warp did not wait for: it has no arguments but its call stack."""
    return event(scope, start, cycles, **more) | {"cat": category, "args": {"call_stack": ["ROOT"]}}


def write(tmp_path, events):
    file = tmp_path / "scopes.chrome_trace"
    file.write_text(json.dumps({"displayTimeUnit": "ns", "traceEvents": events}))
    return file


def tree_of(program, file):
    """Path of names -> its metrics, and the unit of each metric."""
    tables, paths, units = tables_of(program, file), {}, {}
    for node in tables["call_node"]:
        paths[node["node"]] = (*paths.get(node.get("parent"), ()), node["name"])
    found = {path: {} for path in paths.values()}
    for row in tables["call_metric"]:
        assert row["metric"] not in found[paths[row["node"]]]
        found[paths[row["node"]]][row["metric"]] = float(row["value"])
        units[row["metric"]] = row.get("unit")
    assert not tables.keys() & {"kernel", "memcpy", "api_call", "range", "process", "thread"}
    return found, units


def losses(program, file):
    return {row["kind"]: row["count"] for row in program.report(file, "losses")["losses"].rows}


def because(program, file):
    verdict = program.report(file).document["verdict"]
    assert verdict["name"] == "cannot tell"
    return verdict["because"]


def nested(chance, begin, end, depth, out):
    """Scopes one after the other in [begin, end), with scopes inside."""
    at = begin
    while at < end - 4:
        start = at + chance.randrange(3)
        stop = min(end, start + chance.randrange(1, 1 + (end - begin)))
        if stop > start:
            out.append((chance.choice("abcd"), start, stop))
            if depth and stop - start > 8:
                nested(chance, start + 1, stop - 1, depth - 1, out)
        at = stop


@pytest.mark.parametrize(("blocks", "megahertz"), [(1, 1000.0), (2, 1410.0), (200, 1000.0)])
def test_cycles_are_those_that_no_inner_scope_covers(program, tmp_path, blocks, megahertz):
    chance, events, painted, counts, of_warps = random.Random(blocks), [], Counter(), Counter(), {}
    for block in range(blocks):
        for kernel in ("gpu_memcpy", "add Core3 kernel"):
            for warp in range(4):
                scopes = []
                nested(chance, 0, 120, 2, scopes)
                events += [event(name, start, stop - start, kernel=kernel, block=block, warp=warp, megahertz=megahertz, began=50 * block, line=chance.randrange(3))
                           for name, start, stop in scopes]
                for name, start, stop in scopes:  # outer ones come first
                    counts[(kernel, *(n for n, s, e in scopes if s <= start and stop <= e and (s, e) != (start, stop)), name)] += 1
                mine = Counter()
                for cycle in range(120):
                    if around := [name for name, start, stop in scopes if start <= cycle < stop]:
                        mine[kernel, *around] += 1
                painted += mine
                for path, cycles in mine.items():
                    of_warps[path] = max(of_warps.get(path, 0), cycles)
    chance.shuffle(events)
    file = write(tmp_path, events)
    found, units = tree_of(program, file)
    for kernel in ("gpu_memcpy", "add Core3 kernel"):
        assert found.pop((kernel,)) == {"blocks": blocks, "warps": 4 * blocks}
    assert {path: metrics["cycles"] for path, metrics in found.items() if metrics["cycles"]} == painted
    assert {path: metrics["count"] for path, metrics in found.items()} == counts
    assert {path: metrics["most cycles of a warp"] for path, metrics in found.items() if metrics["cycles"]} == of_warps
    assert units["cycles"] == units["earliest start in a block"] == "cycles" and units["blocks"] is units["count"] is None
    path, most = painted.most_common(1)[0]
    assert f"{100 * most / painted.total():.0f} % of the total is in {path[-1]}" in because(program, file)


def test_the_report_says_where_the_order_is_shown(program, tmp_path):
    file = write(tmp_path, [event("load", 0, 250, warp=warp) for warp in range(3)] + [event("mma", 250, 900, warp=0), event("store", 1160, 140, block=1, began=800)])
    found, _ = tree_of(program, file)
    assert list(found) == [("matmul",), *(("matmul", scope) for scope in ("load", "mma", "store"))]  # as they ran
    assert found["matmul",] == {"blocks": 2, "warps": 4}
    assert [found["matmul", scope]["earliest start in a block"] for scope in ("load", "mma", "store")] == [0, 250, 0]
    said = " ".join(program.run("report", file).stdout.decode().split())
    assert "50 % of the total is in mma; when each scope ran is not read (ui.perfetto.dev" in said
    held, read = (statement["text"] for statement in program.report(file).document["trust"])
    assert "no timeline" in held and "without when they ran (5 times; matmul (5)); ui.perfetto.dev" in read
    outcome = program.run("export", "html", file, "-o", tmp_path / "x.html")
    assert outcome.status == 4 and "it holds sums, no timestamped events" in outcome.errors[0]


def test_the_most_of_a_warp_is_no_part_of_the_total(program, tmp_path):
    events = [event("once", 0, 1000), *(event("often", 0, 11, warp=warp) for warp in range(1, 101))]
    assert "52 % of the total is in often" in because(program, write(tmp_path, events))


def test_launches_of_a_kernel_have_blocks_of_their_own(program, tmp_path):
    events = [event("load", 0, 250, began=began) for began in (0, 5000)] + [beside("async", "copy", 5010, 90)]
    found, _ = tree_of(program, write(tmp_path, events))
    assert found["matmul",] == {"blocks": 2, "warps": 2} and found["matmul", "copy"]["earliest start in a block"] == 10


def test_work_beside_a_warp_is_neither_a_kernel_nor_its_cycles(program, tmp_path):
    file = write(tmp_path, [
        event("path", 0, 900) | {"cat": "call_path", "pid": "Kernel Call Path", "tid": "path 0"},
        event("mma", 0, 400), beside("async", "copy", 100, 250, line=1), beside("flow", "barrier", 90, 0, bind_id=1, flow_out=True)])
    found, units = tree_of(program, file)
    assert found.keys() == {("matmul",), ("matmul", "mma"), ("matmul", "copy")} and units["asynchronous cycles"] == "cycles"
    assert found["matmul", "mma"]["cycles"] == 400 and found["matmul", "copy"]["asynchronous cycles"] == 250
    assert losses(program, file) == {"unknown_event": 2, "unplaced_scope": 2} and "100 % of the total is in mma" in because(program, file)


def test_without_a_frequency_scopes_are_nanoseconds(program, tmp_path):
    """Nor does a kernel of the name `kernel` make kernels of its scopes. Starts since 1970 are rounded, so nothing is known to be inside."""
    def scopes(line):
        return [event("outer", 0, 900, kernel="kernel", megahertz=None, began=EPOCH), event("inner", 100, 300, kernel="kernel", megahertz=None, began=EPOCH, line=line)]

    found, units = tree_of(program, write(tmp_path, scopes(0)))
    assert units["time"] == "ns" and found["kernel", "outer"] == {"time": 900, "most time of a warp": 900, "count": 1}
    assert "75 % of the time is in outer" in because(program, write(tmp_path, scopes(0)))
    found, _ = tree_of(program, write(tmp_path, scopes(1)))
    assert found["kernel", "inner"]["time (inc)"] == 300 and "%" not in because(program, write(tmp_path, scopes(1)))


def test_damaged_scopes(program, tmp_path):
    good = [event("load", 0, 250), event("mma", 250, 900)]
    bad = [event("mma", 0, 9) | change for change in ({"ts": 1e300}, {"ts": None}, {"dur": -1}, {"dur": 1e18}, {"pid": 7}, {"tid": []}, {"name": 3}, {"cat": {}})]
    deep = [event("deep", at, 2000 - 2 * at, block=1) for at in range(300)]
    file = write(tmp_path, [*bad, *good, *deep])
    found, _ = tree_of(program, file)
    assert {path: metrics["cycles"] for path, metrics in found.items() if path[1:] in {("load",), ("mma",)}} == {("matmul", "load"): 250, ("matmul", "mma"): 900}
    assert sum(metrics["cycles"] for path, metrics in found.items() if path[1:2] == ("deep",)) == 2000
    kinds = losses(program, file)
    assert kinds["malformed_event"] == len(bad) and kinds["too_deep"] == 300 - 256
    cut = file.read_text()[:-40]
    file.write_text(cut)
    assert "truncated" in losses(program, file)
