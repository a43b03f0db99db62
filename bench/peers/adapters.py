"""How each tool is asked, and what of its output is its answer.

An adapter is `{kinds, ask}`: the kinds of recordings that the tool reads, and a function that runs its recommended command or API and
returns an answer: `said`, what it says in its own words or figures; `limit`, the labels of our verdicts that this fits, one if it names a
cause, several if it names a side (the host, the kernels); and the figures that it gives. What it does not answer is absent. `run(command)`
measures a command and returns its output; a command that fails raises Failed with its last line.
"""

import csv
import gzip
import json
import shutil

from .recordings import KERNELS, ROOT

HOST = ("input-bound", "launch-bound", "synchronisation-bound", "allocation-bound", "host-bound (other)")
COMMUNICATION, COPIES = ("communication-bound",), ("transfer-bound",)


class Failed(Exception):
    pass


def largest(shares):
    """The side with the largest share, of (words, share in %, labels)."""
    words, share, labels = max(shares, key=lambda each: each[1])
    return {"said": f"{words} {share:.0f} %", "limit": list(labels)}


def rows_of(table):
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def own(recording, run, place):
    program = place["program"]
    if recording.kind == "ranks":
        table = json.loads(run([program, "ranks", recording.path, "stragglers", "--format", "json", "--cache", recording.path.parent / "cache"]))["tables"][0]
        named = [f"{row['unit']}: {row['cause']}, costs {row['cost_ns'] / 1e6:.1f} ms per step" for row in rows_of(table) if row["named"]]
        return {"said": "; ".join(named) or "no straggler"}
    document = json.loads(run([program, "report", recording.path, "--format", "json"]))
    verdict = document["verdict"]
    share = verdict.get("share_pct")
    answer = {"said": verdict["name"] + (f" {share:.0f} %" if share is not None else ""),
              "limit": [] if verdict["name"] in ("cannot tell", "mixed") else [verdict["name"]]}
    device = min((row for table in document["tables"] if table["name"] == "devices" for row in rows_of(table)), key=lambda row: row["device"], default=None)
    if device is not None:
        answer["idle_pct"] = 100 * device["idle_ns"] / device["window_ns"]
        if device["comm_busy_ns"]:
            answer["hidden_pct"] = 100 * (1 - device["exposed_comm_ns"] / device["comm_busy_ns"])
    if verdict.get("share_of") == "the critical path":
        answer |= {"alone_ms": verdict["whole_ns"] / 1e6, "step_ms": (verdict["whole_ns"] + verdict["recorder_ns"]) / 1e6}
    return answer


HTA = """
import contextlib, io, json, logging, math, sys
logging.disable(logging.CRITICAL)
from hta.trace_analysis import TraceAnalysis
trace = TraceAnalysis(trace_dir=sys.argv[1])
def path_by_limit():
    with contextlib.redirect_stdout(io.StringIO()):
        graph, _ = trace.critical_path_analysis(rank=0, annotation="ProfilerStep", instance_id=1)
        return {key: float(each) for key, each in graph.summary().items()}
if sys.argv[2] == "ranks":
    print(json.dumps(list(map(int, trace.get_potential_stragglers()))))
else:
    try:
        whole = trace.get_temporal_breakdown(visualize=False).to_dict("records")[0]
    except AssertionError:
        print(json.dumps({"path": path_by_limit()}))
        sys.exit()
    idle = trace.get_idle_time_breakdown(visualize=False, visualize_pctg=False)[0].groupby("idle_category")["idle_time"].sum().to_dict()
    try:
        hidden = float(trace.get_comm_comp_overlap(visualize=False)["comp_comm_overlap_pctg"].iloc[0])
    except ZeroDivisionError:
        hidden = math.nan
    print(json.dumps({"whole": whole, "idle": idle, "hidden": None if math.isnan(hidden) else hidden}))
"""
HTA_PATH = {"cpu_bound": HOST, "gpu_compute_bound": KERNELS, "gpu_communication_bound": COMMUNICATION, "gpu_kernel_launch_overhead": ("launch-bound",)}


def hta(recording, run, place):
    folder = place["folder"] / "hta"
    folder.mkdir()
    if recording.kind == "ranks":
        for path in recording.path.glob("*.json.gz"):  # it knows NCCL's kernels by their names before NCCL 2.19
            (folder / path.name).write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"ncclDevKernel_", b"ncclKernel_"), 1))
        found = json.loads(run([place["python"], "-c", HTA, folder, "ranks"]).splitlines()[-1])
        return {"said": f"ranks {' and '.join(map(str, found))}"}
    (folder / recording.path.name).symlink_to(recording.path)
    found = json.loads(run([place["python"], "-c", HTA, folder, "one"]).splitlines()[-1])
    if "path" in found:
        answer = largest([(name, share, HTA_PATH.get(name, ())) for name, share in found["path"].items()])
        return answer | {"said": f"critical path: {answer['said']} (get_temporal_breakdown: AssertionError)"}
    whole, idle, hidden = found["whole"], found["idle"], found["hidden"]
    cause = max(idle, key=idle.get) if idle else "other"
    sides = [(f"idle, mostly {cause},", whole["idle_time_pctg"], HOST if cause == "host_wait" else (*HOST, *COPIES, *COMMUNICATION)),
             ("computation", whole["compute_time_pctg"], KERNELS), ("communication and copies", whole["non_compute_time_pctg"], COMMUNICATION + COPIES)]
    return {**largest(sides), "idle_pct": whole["idle_time_pctg"]} | ({"hidden_pct": hidden} if hidden is not None else {})


def tracelens(recording, run, place):
    tables = place["folder"] / "tables"
    command = lambda name, *words: run([place["bin"] / f"TraceLens_generate_{name}", *words, "--output_csvs_dir", tables])
    read = lambda name: list(csv.DictReader((tables / name).open()))
    if recording.kind == "ranks":
        pattern = ["--trace_glob", f"{recording.path}/rank*.json.gz"]
        command("multi_rank_collective_report_pytorch", *pattern, "--world_size", len(list(recording.path.glob("rank*.json.gz"))))
        rows = read("straggler_summary.csv")[:2]
        return {"said": "a table that begins with " + " and ".join(
            f"rank {row['rank']} (waits {float(row['total_wait_time_us']) / 1000:.1f} ms, last {row['times_arrived_last']} of {row['num_collectives']} times)" for row in rows)}
    if recording.kind == "xplane":
        command("perf_report_jax", "--profile_path", recording.path)
    else:
        command("perf_report_pytorch", "--profile_json_path", recording.path)
    part = {row["type"]: float(row["percent"]) for row in read("gpu_timeline.csv")}
    sides = [("idle", part["idle_time"], HOST + COPIES + COMMUNICATION), ("computation", part["computation_time"], KERNELS),
             ("exposed communication", part["exposed_comm_time"], COMMUNICATION), ("exposed copies", part["exposed_memcpy_time"], COPIES)]
    total = part["total_comm_time"]
    return {**largest(sides), "idle_pct": part["idle_time"]} | ({"hidden_pct": 100 * (1 - part["exposed_comm_time"] / total)} if total else {})


GPU_IDLE = {"dataloader": ["input-bound"], "smallbatch": ["launch-bound"], "h2d_copy": ["transfer-bound"]}


def gpu_idle(recording, run, place):
    found = json.loads(run([place["bin"] / "gpu-idle", recording.path, "--json"]))
    measured, first = found["measurements"], next(iter(found["findings"]), None)
    answer = {"idle_pct": 100 - measured["busy_pct"], "step_ms": measured["ms_per_step"]}
    if first is None:
        return {"said": "no bottleneck found; the GPU is being kept fed", "limit": list(KERNELS), **answer}
    unknown = list(HOST) if measured["busy_pct"] < 50 else []  # "none of the known signatures match": it advises to look at the host
    return {"said": f"{first['cause']}: busy {measured['busy_pct']:.0f} %", "limit": GPU_IDLE.get(first["cause"], unknown), **answer}


NSYS_AI = {"cpu-bound": list(HOST), "gpu-compute-bound": list(KERNELS), "comm-bound": list(COMMUNICATION)}


def nsys_ai(recording, run, place):
    skill = lambda name: json.loads(run([place["bin"] / "nsys-ai", "skill", "run", name, recording.path, "--format", "json"]))
    run([place["bin"] / "nsys-ai", "diagnose", recording.path, "--session", "peers"])
    path, overlap = skill("critical_path")[0], skill("overlap_breakdown")[0]
    share = max(path.get("breakdown", {}).get(f"{side}_share", 0) for side in ("gpu_compute", "comm", "cpu"))
    answer = {"said": f"{path['bound_class']} {100 * share:.0f} %", "limit": NSYS_AI.get(path["bound_class"], [])}
    if overlap.get("total_ms"):
        answer["idle_pct"] = 100 * overlap["idle_ms"] / overlap["total_ms"]
    return answer | ({"hidden_pct": overlap["overlap_pct"]} if overlap.get("nccl_only_ms", 0) + overlap.get("overlap_ms", 0) > 0 else {})


XPROF = """
import json, sys
from xprof.convert import raw_to_tool_data
tables = json.loads(raw_to_tool_data.xspace_to_tool_data([sys.argv[1]], "overview_page", {})[0])
said = {key: value for table in tables for key, value in (table.get("p") or {}).items()}
print(json.dumps(said))
"""


def xprof(recording, run, place):
    said = json.loads(run([place["python"], "-c", XPROF, recording.path]).splitlines()[-1])
    return {"said": f"{said['statement']} (device compute {said['device_compute_time_ms_avg']} of {said['steptime_ms_average']} ms per step)",
            "limit": list(HOST), "step_ms": float(said["steptime_ms_average"])}


SPEEDSCOPE = """
import json, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import speedscope
from playwright.sync_api import sync_playwright
from tab import open_tab, processes, resident_mib
server = speedscope.Server(Path(sys.argv[2]))
server.trace = Path(sys.argv[3])
with sync_playwright() as playwright, open_tab(playwright, sys.argv[4]) as page:
    page.add_init_script(speedscope.NOTE_FRAMES)
    problem = speedscope.load(page, f"{server.address}/index.html#profileURL={server.address}/trace")
    if problem:
        sys.exit(f"Error: {problem}")
    of = processes(page)
    print(json.dumps({"timelines": page.evaluate(speedscope.TIMELINES), "cpu_s": sum(each["cpuTime"] for each in of),
                      "memory_mb": max(resident_mib(each["id"])[1] for each in of)}))
server.close()
"""


def speedscope(recording, run, place):
    browser = shutil.which("chromium") or shutil.which("chromium-headless-shell")
    if browser is None:
        raise Failed("no Chromium on this machine")
    page = place["bin"].parent / "node_modules/speedscope/dist/release"
    draw = lambda file: json.loads(run([place["python"], "-c", SPEEDSCOPE, ROOT / "bench/viewer", page, file, browser]).splitlines()[-1])
    try:
        found, of = draw(recording.path), ""
    except Failed:
        exported = place["folder"] / "exported.json"
        run([place["program"], "export", "speedscope", recording.path, "-o", exported])
        found, of = draw(exported), " of our `export speedscope`; it cannot import the file itself"
    run.cpu_s, run.memory_mb = found["cpu_s"], found["memory_mb"]  # the browser's processes, which end too early for rusage
    return {"said": f"draws {found['timelines']} timelines{of}", "limit": []}


ADAPTERS = {
    "gpu-profile": {"kinds": ("kineto", "nsys", "xplane", "ranks"), "ask": own},
    "HTA": {"kinds": ("kineto", "ranks"), "ask": hta},
    "TraceLens": {"kinds": ("kineto", "xplane", "ranks"), "ask": tracelens},
    "gpu-idle": {"kinds": ("kineto",), "ask": gpu_idle},
    "nsys-ai": {"kinds": ("nsys",), "ask": nsys_ai},
    "xprof": {"kinds": ("xplane",), "ask": xprof},
    "speedscope": {"kinds": ("kineto",), "ask": speedscope},
}
VIEWERS = ("speedscope",)  # get recordings of real programs only
