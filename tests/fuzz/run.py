#!/usr/bin/env python3
"""Fuzzes the targets with coverage guidance, and adds the results to docs/how-it-works/benchmarks/fuzzing.md.

    cmake --preset fuzz && ninja -C build/fuzz
    tests/fuzz/run.py --hours 0.5                 every target for half an hour of CPU time, one process
    tests/fuzz/run.py --hours 0.5 --python        also those in Python, for which it installs atheris in build/fuzz/venv
    tests/fuzz/run.py --hours 2 kineto capture    only these two
    tests/fuzz/run.py --save                      add earlier runs to the page, with the coverage that it has
    tests/fuzz/run.py --report                    the same, and measure coverage again

Targets alternate every few minutes, least-fuzzed first, so an interrupted run is fair to all. The corpus grows in
build/fuzz/corpus and is the start of the next run. Every input has the limits of tests/fuzz/fuzz_target.h. An input that violates an
invariant is minimised and kept in build/fuzz/finds; it becomes a seed or a case in the commit that fixes the bug. When the page is
generated, the runs per target are saved in tests/fuzz/runs.json (until then in build/fuzz/pending.json). The page is generated from
them and from the coverage of seeds and corpus.
"""
import argparse
import concurrent.futures
import datetime
import fcntl
import json
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/fuzz"
SEEDS = BUILD / "seeds"  # unpacked by cmake
CORPUS = BUILD / "corpus"
FINDS = BUILD / "finds"
RUNS = ROOT / "tests/fuzz/runs.json"
PENDING = BUILD / "pending.json"  # runs since the page was generated
PAGE = ROOT / "docs/how-it-works/benchmarks/fuzzing.md"
MARKS = ("<!-- made by tests/fuzz/run.py -->", "<!-- end -->")
TURN_S = 150  # wall time; short enough to be fair, long enough that the time to read the corpus is negligible
MOST_INPUTS = 400  # inputs of a corpus used to measure coverage
MOST_FINDS = 20  # per turn; then the target pauses until bugs are fixed

# Wall time: several times the CPU time that target.h allows, because the machine may be busy.
LIMITS = ["-timeout=20", "-rss_limit_mb=2048", "-malloc_limit_mb=300", "-max_len=65536"]

PYTHON_TARGETS = ["investigation"]  # tests/fuzz/NAME.py

# The sources of each target's parser, whose lines count for its coverage.
PARSERS = {
    "answer": ["analyze/", "ranks/", "present/answer/"],
    "bench": ["measure/bench_document.cc"],
    "capture": ["core/format/chunk", "core/format/table_chunk.cc", "core/format/column_decoder.cc", "io/importers/capture_import"],
    "compressed": ["io/importers/source/decompressed_bytes.cc", "io/importers/source/open_source.cc", "core/format/zstd_frame.cc"],
    "counters": ["collect/counters/spooled", "collect/counters/skips.cc", "collect/counters/spool_input.cc", "core/format/counter_plan.cc"],
    "control": ["core/format/control.h", "collect/launch/run_folder.cc"],
    "cubin": ["io/cubin/"],
    "cupti": ["io/importers/spool/spool_activity.cc", "io/importers/spool/spool_import.cc", "core/format/cupti_records.h"],
    "flight": ["io/importers/flight_recorder.cc", "ranks/hangs/hang"],
    "history": ["compare/history"],
    "http": ["cli/http/endpoint.cc", "cli/view/service.cc"],
    "inspector": ["io/importers/nccl_inspector.cc"],
    "kineto": ["io/importers/kineto"],
    "library_log": ["collect/logs/log_parser.cc"],
    "ncu": ["io/importers/ncu"],
    "nsys": ["io/importers/nsys_import", "io/importers/source/database.cc"],
    "nsys_stats": ["io/importers/nsys_stats"],
    "nvtx": ["io/importers/spool/spool_annotations.cc"],
    "os_calls": ["collect/os_calls/log_reader.h"],
    "perfetto": ["io/importers/perfetto"],
    "pprof": ["io/importers/pprof_import.cc", "io/importers/source/protobuf.h"],
    "proton": ["io/importers/proton.cc", "io/importers/proton_scopes.cc", "io/importers/source/json_document.h", "io/importers/source/msgpack.cc"],
    "python_memory": ["core/base/elf_symbols.cc", "collect/python/stack_reader.cc", "collect/python/layout"],
    "rocpd": ["io/importers/rocpd/rocpd_", "io/importers/rocpd/rpd.cc", "io/importers/rocpd/rocprof_compute.cc", "io/importers/amd_rows.cc"],
    "rocprof_json": ["io/importers/rocpd/rocprof_json.cc", "io/importers/amd_rows.cc"],
    "series": ["io/importers/series.cc", "core/format/series_csv.cc"],
    "several": ["core/model/build/merge_traces.cc", "core/model/build/device_numbers", "io/importers/importer.cc"],
    "smi": ["collect/device/smi/smi_csv.cc", "io/smi/smi_cells.cc"],
    "smi_log": ["io/importers/smi"],
    "sql": ["present/query/"],
    "summary": ["ranks/", "present/view/job_pages.cc"],
    "torch": ["io/importers/torch", "io/importers/source/pickle.cc"],
    "view": ["present/view/"],
    "wprof": ["io/importers/wprof.cc"],
    "xprof": ["io/importers/xprof"],
}


def targets():
    return sorted(path.name.removeprefix("fuzz_") for path in BUILD.glob("fuzz_*") if path.is_symlink())


def add_python_targets():
    """Targets in Python are programs with libFuzzer's options, too. Raises OSError or CalledProcessError if their environment cannot be made."""
    venv = BUILD / "venv"
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", ROOT / "tools/requirements-fuzz.txt"], check=True)
    for name in PYTHON_TARGETS:
        program, link = BUILD / f"python_{name}", BUILD / f"fuzz_{name}"
        program.write_text(f'#!/bin/sh\nexec {venv}/bin/python {ROOT}/tests/fuzz/{name}.py "$@"\n')
        program.chmod(0o755)
        link.unlink(missing_ok=True)
        link.symlink_to(program.name)


def environment(**more):
    options = {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:malloc_context_size=1:quarantine_size_mb=16", "UBSAN_OPTIONS": "print_stacktrace=1",
               "LLVM_PROFILE_FILE": "/dev/null"}
    return {**os.environ, **options, **more}


def on_one_processor():
    """Called before a target starts: readers that use all CPUs then start no threads, which would cost more than the input."""
    os.sched_setaffinity(0, {random.choice(sorted(os.sched_getaffinity(0)))})


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def number(log, pattern):
    found = re.findall(pattern, log)
    return int(found[-1]) if found else 0


def fuzz(target, seconds):
    """Run one libFuzzer process until the time is over or an input violates an invariant. Return its log and whether the latter happened."""
    own = CORPUS / target
    for folder in (own, FINDS):
        folder.mkdir(parents=True, exist_ok=True)
    seeds = SEEDS / target
    arguments = [f"-max_total_time={seconds}", f"-artifact_prefix={FINDS}/{target}-", "-print_final_stats=1", "-use_value_profile=0",
                 "-reload=0", "-verbosity=1", *LIMITS]
    command = [str(BUILD / f"fuzz_{target}"), *arguments, str(own), *([str(seeds)] if seeds.is_dir() else [])]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment(), cwd=BUILD, check=False,
                          preexec_fn=on_one_processor)
    return done.stderr, done.returncode != 0


def minimised(target, log):
    """Minimise a failing input, and save the result next to it."""
    found = re.findall(r"Test unit written to (\S+)", log)
    if not found:
        return None
    path = Path(found[-1])
    small = path.with_name(path.name + ".min")
    command = [str(BUILD / f"fuzz_{target}"), "-minimize_crash=1", "-max_total_time=30", f"-exact_artifact_path={small}", *LIMITS, str(path)]
    subprocess.run(command, capture_output=True, env=environment(), cwd=BUILD, check=False)
    reason = re.findall(r"(broken promise: .*|runtime error: .*|ERROR: .*)", log)
    path.with_name(path.name + ".log").write_text(log[-20000:])
    say(f"{target}: find: {reason[0] if reason else 'unknown'}: {small if small.exists() else path}")
    return path


def say(text):
    print(f"{datetime.datetime.now():%H:%M:%S} {text}", flush=True)


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def write(path, runs):
    path.write_text(json.dumps(runs, indent=1, sort_keys=True) + "\n")


def add(one, seconds=0, executions=0, finds=0, edges=0):
    one["cpu_s"] = round(one.get("cpu_s", 0) + seconds, 1)
    one["executions"] = one.get("executions", 0) + executions
    one["finds"] = one.get("finds", 0) + finds
    one["edges"] = max(one.get("edges", 0), edges)


def add_run(target, seconds, log, finds):
    """Add a run to what is pending, which another process that fuzzes may also be doing."""
    executed = number(log, r"stat::number_of_executed_units:\s*(\d+)") or number(log, r"(?m)^#(\d+)\s")
    with open(PENDING.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runs = read(PENDING)
        add(runs.setdefault(target, {}), seconds, executed, finds, number(log, r"cov: (\d+)"))
        write(PENDING, runs)


def turn(target, until):
    begun, finds = time.monotonic(), 0
    while (left := min(TURN_S, until) - (time.monotonic() - begun)) > 5 and finds < MOST_FINDS:
        before = processor_seconds()
        log, failed = fuzz(target, int(left))
        seconds = processor_seconds() - before
        if failed:
            finds += minimised(target, log) is not None
        add_run(target, seconds, log, int(failed))
        say(f"{target}: {number(log, r'stat::number_of_executed_units: *([0-9]+)')} inputs in {seconds:.0f} s, cov {number(log, r'cov: ([0-9]+)')}")
        if failed and not re.search(r"Test unit written to", log):
            say(f"{target} does not start: {log[-500:]}")
            return


def run_all(names, hours, until):
    runs = read(PENDING)
    aim = {name: runs.get(name, {}).get("cpu_s", 0) + hours * 3600 for name in names}
    waiting = set()
    while True:
        left = until - time.time()
        open_ = [name for name in names if runs.get(name, {}).get("cpu_s", 0) < aim[name] and name not in waiting]
        if not open_ or left < 10:
            return
        name = min(open_, key=lambda each: runs.get(each, {}).get("cpu_s", 0))
        before = runs.get(name, {}).get("cpu_s", 0)
        turn(name, left)
        runs = read(PENDING)
        if runs.get(name, {}).get("cpu_s", 0) - before < 1:
            waiting.add(name)


def lines_covered(target):
    """Number of lines of the target's parser that seeds and corpus reach, and the total."""
    profile = BUILD / f"profile-{target}"
    grown, seeds = (sorted(folder.glob("*")) for folder in (CORPUS / target, SEEDS / target))
    inputs = [*seeds, *random.Random(1).sample(grown, min(len(grown), MOST_INPUTS))]
    if not inputs:  # libFuzzer would begin to look for some
        return 0, 0
    command = [str(BUILD / f"fuzz_{target}"), *LIMITS, *map(str, inputs)]
    subprocess.run(command, capture_output=True, env=environment(LLVM_PROFILE_FILE=f"{profile}.raw"), cwd=BUILD, check=False)
    if not Path(f"{profile}.raw").exists():
        return 0, 0
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", f"{profile}.raw", "-o", f"{profile}.data"], check=True)
    report = subprocess.run([tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={profile}.data", str(BUILD / "fuzz")],
                            capture_output=True, text=True, check=False)
    for ending in ("raw", "data"):
        Path(f"{profile}.{ending}").unlink(missing_ok=True)
    if report.returncode != 0:
        say(f"{target}: no coverage: {report.stderr[:300]}")
        return 0, 0
    of_parser = [file["summary"]["lines"] for file in json.loads(report.stdout)["data"][0]["files"]
                 if os.path.relpath(os.path.join(BUILD, file["filename"]), ROOT).startswith(tuple(PARSERS.get(target, [])))]
    return sum(lines["covered"] for lines in of_parser), sum(lines["count"] for lines in of_parser)


def tool(name):
    return shutil.which(name) or shutil.which(name + "-14") or sys.exit(f"cannot measure coverage: {name} is not installed; install llvm")


def write_page(measured=()):
    """Add what is pending to the page, and the coverage of these targets."""
    runs = read(RUNS)
    for name, one in read(PENDING).items():
        add(runs.setdefault(name, {}), one["cpu_s"], one["executions"], one["finds"], one["edges"])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, (covered, count) in zip(measured, pool.map(lines_covered, measured)):
            add(runs.setdefault(name, {}))
            runs[name].update(lines_covered=covered, lines=count)
    write(RUNS, runs)
    PENDING.unlink(missing_ok=True)
    rows = ["| target | CPU-minutes | executions | edges | lines of the parser | finds |", "|---|---:|---:|---:|---:|---:|"]
    for name, one in sorted(runs.items()):
        share = f"{one['lines_covered']:,} of {one['lines']:,}, {100 * one['lines_covered'] / one['lines']:.0f} %" if one.get("lines") else "unknown"
        rows.append(f"| {name} | {one['cpu_s'] / 60:.1f} | {one['executions']:,} | {one.get('edges', 0):,} | {share} | {one['finds']} |")
    total = lambda key: sum(one[key] for one in runs.values())
    rows.append(f"| **all** | **{total('cpu_s') / 60:.1f}** | **{total('executions'):,}** | | | **{total('finds')}** |")
    before, after = PAGE.read_text().split(MARKS[0])[0], PAGE.read_text().split(MARKS[1])[1]
    PAGE.write_text(before + MARKS[0] + "\n" + "\n".join(rows) + "\n" + MARKS[1] + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=0, help="CPU time for each target, in hours")
    parser.add_argument("--until", help="stop at this time of day, HH:MM (UTC)")
    parser.add_argument("--save", action="store_true", help="write the page, without measuring coverage")
    parser.add_argument("--report", action="store_true", help="measure coverage and write the page")
    parser.add_argument("--python", action="store_true", help="also fuzz the targets in Python")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    given = parser.parse_args()
    if given.save:
        return write_page()
    if given.python:
        add_python_targets()
    known = targets()
    if not known:
        sys.exit("no fuzz targets in build/fuzz: run cmake --preset fuzz && ninja -C build/fuzz")
    if unknown := [name for name in given.targets if name not in known]:
        sys.exit(f"unknown target {unknown[0]}; known: {' '.join(known)}")
    until = float("inf")
    if given.until:
        hour, minute = map(int, given.until.split(":"))
        until = datetime.datetime.now(datetime.timezone.utc).replace(hour=hour, minute=minute, second=0).timestamp()
    if given.hours:
        run_all(given.targets or known, given.hours, until)
    if given.report or given.hours:
        write_page(given.targets or known)


if __name__ == "__main__":
    main()
