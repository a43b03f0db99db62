#!/usr/bin/env python3
"""The cost of recording, with the fake libcuda and libcupti: bench/record/run.py [BUILD [ROWS...]]

Prints a Markdown table: time of the collector on the program's threads for annotations, records, calls that order streams, calls of the operating system and stacks of launches, cost of context switches, records per second from four threads and how many are accounted for, delay of
a program's end, the collector's memory in a long run, bytes per kernel, what choosing slow steps costs, and what reading for totals costs. BUILD is a folder
with gpu-profile, libgpuprof_inject.so and fakes/ (default build/bench). ROWS are the first words of functions below: annotation, standby, record, stream_call, os_call, switch, launch_stack, slow_step, end, memory, aggregate, size.
"""

import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "python"))

from injected import Injected  # noqa: E402
from played import PLAY  # noqa: E402
from program import Program  # noqa: E402
from recordings_of_cupti import FIXTURES, KERN, burst, lines, script_of, script_of_records  # noqa: E402

HEADER = struct.Struct("<8sIIIII")
FACTS, ACTIVITY, LOST = 23, 17, 21  # core/format/chunk.h
KERNEL = 10
ENDS = 20


def chunks(path):
    data, at = path.read_bytes(), 0
    while at + HEADER.size <= len(data):
        _, kind, length, *_ = HEADER.unpack_from(data, at)
        yield kind, data[at + HEADER.size:at + HEADER.size + length]
        at += HEADER.size + length


def facts(path):
    """The facts of the process; the last value of a key counts."""
    found = {}
    for kind, payload in chunks(path):
        if kind != FACTS:
            continue
        texts, at = [], 0
        while at < len(payload):
            size, = struct.unpack_from("<I", payload, at)
            texts.append(payload[at + 4:at + 4 + size].decode(errors="replace"))
            at += 4 + size
        found |= dict(zip(texts[::2], texts[1::2], strict=False))
    return found


def records(path):
    """Records in the file, by kind."""
    counts = {}
    for kind, payload in chunks(path):
        if kind != ACTIVITY:
            continue
        kinds, = struct.unpack_from("<I", payload)
        lengths = dict(struct.iter_unpack("<II", payload[4:4 + 8 * kinds]))
        at = 4 + 8 * kinds
        while at + 4 <= len(payload):
            kind_of, = struct.unpack_from("<I", payload, at)
            counts[kind_of] = counts.get(kind_of, 0) + 1
            at += lengths[kind_of]
    return counts


def lost(path):
    """Losses counted by the collector; the last counts apply."""
    counts = {}
    for kind, payload in chunks(path):
        if kind == LOST:
            counts |= dict(struct.iter_unpack("<BQ", payload))
    return sum(counts.values())


class Bench:
    def __init__(self, build, folder):
        self.program, self.folder = Program(str(build / "gpu-profile")), Path(folder)
        self.script, self.build, self.runs, self.records = script_of(KERN, folder), build, 0, 0

    def spool(self):
        self.runs += 1
        return Injected(self.program, self.folder / str(self.runs), self.script)

    def timed(self, *arguments, alone=False, play="inline live", **how):
        """Wall seconds of one run, and its spool."""
        spool = self.spool()
        environment = spool.environment(**how)
        if alone:
            environment = {k: v for k, v in environment.items() if not k.endswith("_INJECTION64_PATH")}
        begun = time.monotonic()
        subprocess.run(spool.command(*arguments, play=play), env=environment, check=True, timeout=300)
        return time.monotonic() - begun, spool

    def annotations(self, threads, alone, *event, words=""):
        spool = self.spool()
        environment = spool.environment(words=words)
        if alone:
            environment.pop("NVTX_INJECTION64_PATH")
        done = subprocess.run([self.build / "fakes/time_annotations", str(threads), *event], env=environment, check=True,
                              capture_output=True, text=True, timeout=300)
        return float(done.stdout), 0 if alone else lost(spool.files()[0])


def annotation_rows(bench):
    for threads in (1, 4):
        alone, _ = bench.annotations(threads, alone=True)
        with_us, missing = bench.annotations(threads, alone=False)
        yield f"one NVTX event, {threads} thread{'s' * (threads > 1)}", f"{with_us - alone:.0f} ns (lost: {missing})"


def standby_rows(bench, rounds=5):
    """Attached without a trigger (record --standby): one annotation, and the CPU time and disk of a process that waits."""
    ns = {}
    for _ in range(rounds):
        for what, event, words in (("alone", "step", None), ("standby", "forward", "standby=1"), ("of a step", "step", "standby=1"), ("recorded", "forward", "")):
            ns.setdefault(what, []).append(bench.annotations(1, words is None, event, "400", words=words or "")[0])
    each = {what: statistics.median(values) - statistics.median(ns["alone"]) for what, values in ns.items()}
    yield "one NVTX event: in standby; that begins or ends a step; recorded", "; ".join(f"{each[what]:.0f} ns" for what in list(each)[1:])
    yield from standby_process_rows(bench)


def standby_process_rows(bench, processes=16, windows=6, seconds=10):
    """Processes that share a folder and do nothing, and triggers half a second ahead."""
    spool = bench.spool()
    code = PLAY + "import time, gpu_profile; gpu_profile.step(); time.sleep(1000)"
    environment = {**spool.environment(words="standby=1"), "PYTHONPATH": str(ROOT / "python")}
    started = [subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL) for _ in range(processes)]
    try:
        while len(list(spool.folder.glob("*-0.window"))) < processes:
            time.sleep(0.1)
        time.sleep(1)

        def used(pid):  # CPU time in ns of all threads but the first, and bytes on disk
            cpu = sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid))
            return cpu, sum(path.stat().st_size for path in spool.folder.glob(f"{pid}-*.gpuprof"))

        before = [used(each.pid) for each in started]
        time.sleep(seconds)
        spent = [(after[0] - first[0], after[1] - first[1]) for first, after in zip(before, (used(each.pid) for each in started), strict=True)]
        yield f"the library's thread in standby, {processes} processes for {seconds} s", f"{statistics.median(cpu for cpu, _ in spent) / seconds / 1e6:.2f} ms of CPU per s (most: {max(spent)[0] / seconds / 1e6:.2f})"
        yield "on disk in standby", f"{max(size for _, size in spent) / seconds:.0f} bytes per s"
        late, long = [], []
        for number in range(1, windows + 1):
            now = time.time_ns()
            line = f"gpuprof-control 1 {now} {number} {now + 500_000_000} {now + 700_000_000} 0 *\n"
            (spool.folder / "made").write_text(line)
            (spool.folder / "made").rename(spool.folder / "control")
            reports = []
            while len(reports) < processes:
                time.sleep(0.2)
                lines = [path.read_text().split() for path in spool.folder.glob(f"*-{number}.window")]
                reports = [[int(word) if word.isdigit() else None for word in line] for line in lines if line[5] == "3"]
            late += [(opened - asked) / 1e6 for *_, asked, opened, _, _, _, _, _ in reports]
            long += [abs(closed - opened - 200_000_000) / 1e6 for *_, opened, closed, _, _, _, _ in reports]
        yield f"window opens after the instant, {processes} processes, {windows} triggers", f"median {statistics.median(late):.2f} ms, least {min(late):.2f}, most {max(late):.2f}"
        yield "length of a window of 200 ms: error", f"median {statistics.median(long):.2f} ms, most {max(long):.2f}"
    finally:
        for each in started:
            each.kill()
            each.wait()


def record_rows(bench):
    repeat, key = 1500, "recorder_ns_on_program_threads"
    runs = {}
    for times in [1, repeat] * 5:
        wall, spool = bench.timed("--threads", 4, play=f"inline live repeat={times}", words="api=1")
        runs.setdefault(times, []).append((wall, int(facts(spool.files()[0])[key]), spool.files()[0]))
        if len(runs[times]) > 1:
            runs[times][-2][2].unlink()
    few, file = runs[1][-1][2], runs[repeat][-1][2]
    written = sum(records(file).values())
    wall = statistics.median(wall for wall, *_ in runs[repeat])
    # The fake drops nothing: every record of the script is requested, except kinds that the collector does not want.
    wanted = sum(records(few).values()) * repeat
    # Minus the start-up cost, which is the same in both.
    own = statistics.median(own for _, own, _ in runs[repeat]) - statistics.median(own for _, own, _ in runs[1])
    yield "one CUPTI record, on the program's threads", f"{own / written:.1f} ns"
    yield "records per second from 4 threads", f"{written / wall / 1e6:.2f} million ({written} in {wall:.2f} s)"
    yield "delivered − written − counted as lost", f"{wanted - written - lost(file)}"


def stream_call_rows(bench):
    """Calls that order streams: what the callbacks of one cost, cuptiGetStreamIdEx of the fake included."""
    wanted = ("cudaEventRecord", "cudaStreamWaitEvent")
    records = [r for r in lines(FIXTURES / "overlap.jsonl.xz")
               if r["kind"] in ("CUDA_EVENT", "SYNCHRONIZATION") or r.get("name", "").startswith(wanted)]
    calls, repeat, before = sum(r["kind"] == "RUNTIME" for r in records), 2000, bench.script
    bench.script = script_of_records(records, bench.folder)
    own, missing = {1: [], repeat: []}, 0
    for times in [1, repeat] * 5:
        _, spool = bench.timed(play=f"inline live repeat={times}")
        own[times].append(int(facts(spool.files()[0])["recorder_ns_on_program_threads"]))
        missing = max(missing, lost(spool.files()[0]))
    bench.script = before
    each = (statistics.median(own[repeat]) - statistics.median(own[1])) / (calls * (repeat - 1))
    yield "one call that orders streams, at its return", f"{each:.0f} ns (lost: {missing} of {calls * repeat})"


def os_call_rows(bench):
    """Calls of the operating system with the library that times them (--os-calls): short ones, and ones that become rows."""
    code, folder = bench.folder / "time_os_calls", bench.folder / "calls"
    subprocess.run(["cc", "-O2", "-pthread", "-o", code, Path(__file__).with_name("time_os_calls.c")], check=True)
    folder.mkdir()

    def ns(threads, least=None):
        environment = dict(os.environ)
        if least is not None:
            environment |= {"LD_PRELOAD": str(bench.build / "libgpuprof_os_calls.so"), "GPUPROF_RECORD_DIR": str(folder),
                            "GPUPROF_RECORD": f"os_calls_ns={least}"}
        times = [float(subprocess.run([code, str(threads)], env=environment, check=True, capture_output=True, text=True, timeout=300).stdout)
                 for _ in range(3)]
        for file in folder.iterdir():
            file.unlink()
        return statistics.median(times)

    for threads in (1, 2):
        alone = ns(threads)
        yield (f"one call of the operating system, {threads} thread{'s' * (threads > 1)}: alone; counted; entered as a row",
               f"{alone:.0f} ns; +{ns(threads, 10**9) - alone:.0f} ns; +{ns(threads, 1) - alone:.0f} ns")


LAUNCHING = PLAY + """
def launch(depth):
    if depth > 1: return launch(depth - 1)
    play(0, b"start repeat=%s" % sys.argv[2].encode())
launch(int(sys.argv[3]))
"""


def launch_stack_rows(bench, repeat=500):
    """Launches with their stacks (--launch-stacks), of a C++ program and of Python programs of several depths."""
    script = script_of_records(burst(lines(FIXTURES / "memory_bound.jsonl.xz")), bench.folder)
    code = bench.folder / "launching.py"
    code.write_text(LAUNCHING)

    def ns(command, words):
        spool = bench.spool()
        subprocess.run(command, env=spool.environment(words=words), check=True, timeout=300)
        file, = spool.files()
        bench.lost = lost(file)
        return int(facts(file)["recorder_ns_on_program_threads"])

    def each(command):
        """Of one launch, minus what recording costs without stacks."""
        def of(words):
            return statistics.median(ns(command(repeat), words) - ns(command(1), words) for _ in range(3)) / (40 * (repeat - 1))
        return of("launch_stacks=1") - of("")

    native = each(lambda times: [bench.build / "fakes/fake_program", "--script", script, "--play", f"time=start live inline repeat={times}"])
    yield "the stack of one launch, C++ program", f"{native / 1e3:.1f} us (lost: {bench.lost})"
    for depth in (1, 20, 100):
        python = each(lambda times, depth=depth: [sys.executable, code, script, str(times), str(depth)])
        yield f"the stack of one launch, Python program with {depth + 2} functions", f"{python / 1e3:.1f} us (lost: {bench.lost})"


def switch_rows(bench):
    """Context switches without a recording, with one, and with --scheduling, in turn: cost for the program and for `record`, bytes, losses."""
    code, capture = bench.folder / "time_switches", bench.folder / "switches.gpuprof"
    subprocess.run(["cc", "-O2", "-pthread", "-o", code, Path(__file__).with_name("time_switches.c")], check=True)

    def measured(word, options):
        command = [code, word]
        if options is not None:
            command = [bench.program.path, "record", "--quiet", "--sample", "0", *options, "-o", capture, "--", *command]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        return [float(number) for number in done.stdout.split()]

    ways, times, threads, own = (None, [], ["--scheduling"]), ([], [], []), ([], [], []), []
    for _ in range(8):
        for way, options in enumerate(ways):
            threads[way].append(measured("threads", options)[0])
        for way, options in enumerate(ways):
            times[way].append(measured("1", options))
        slices = len(bench.program.stored(capture, "cpu_slice"))
        spent = next(int(row["value"]) for row in bench.program.stored(capture, "meta") if row["key"] == "scheduling.spent_ns")
        missing = sum(row["count"] for row in bench.program.report(capture, "losses")["losses"].rows)
        own.append((spent / max(slices, 1), capture.stat().st_size / max(slices, 1), missing))
    yield "CPU time per context switch: alone; recorded; with --scheduling", "; ".join(
        f"{statistics.median(each[0] for each in way):.0f} ns" for way in times) + f" (at {statistics.median(each[1] for each in times[2]):,.0f} per second)"
    yield "CPU time of creating and joining a thread: the same", "; ".join(f"{statistics.median(way):.0f} ns" for way in threads)
    yield "record --scheduling, per stretch: CPU time; bytes on disk; switches lost in all", (
        f"{statistics.median(each[0] for each in own):.0f} ns; {statistics.median(each[1] for each in own):.1f}; {sum(each[2] for each in own)}")


def slow_step_rows(bench, rounds=5, repeat=1500):
    """Choosing slow steps (--keep-slow), alternating with recording without it."""
    plain, chosen = "api=1", "api=1,keep_slow=3"
    ns, runs = {}, {plain: [], chosen: []}
    for _ in range(rounds):
        for what, event, words in (("alone", ("step", "400"), None), ("another range", ("forward", "400"), ""), ("another range, chosen", ("forward", "400"), chosen),
                                   ("a step, chosen", ("step", "400"), chosen)):
            ns.setdefault(what, []).append(bench.annotations(1, words is None, *event, words=words or "")[0])
        for words in (plain, chosen):
            wall, spool = bench.timed("--threads", 4, play=f"inline live repeat={repeat}", words=words)
            size = sum(file.stat().st_size for file in spool.files())
            runs[words].append((wall, int(facts(spool.files()[-1])["recorder_ns_on_own_thread"]), size))
            bench.records = bench.records or sum(sum(records(file).values()) for file in spool.files())
            spool.empty()
    each = {what: statistics.median(values) - statistics.median(ns["alone"]) for what, values in ns.items()}
    yield "one NVTX event: recorded; while steps are chosen; of a step", "; ".join(f"{each[what]:.0f} ns" for what in list(each)[1:])
    for number, (what, unit) in enumerate((("wall time of 4 threads", 1), ("CPU time of the recorder's thread", 1e-9))):
        ratios = [b[number] / a[number] for a, b in zip(runs[plain], runs[chosen], strict=True)]
        medians = [statistics.median(run[number] for run in runs[words]) * unit for words in (plain, chosen)]
        yield (f"{what}, {bench.records:,} records: without, with --keep-slow; ratio (least to most of {rounds} pairs)",
               f"{medians[0]:.3f} s, {medians[1]:.3f} s; x{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
    sizes = [statistics.median(run[2] for run in runs[words]) / 2**20 for words in (plain, chosen)]
    yield "on disk at the end: without, with --keep-slow and no steps", f"{sizes[0]:.1f} MiB, {sizes[1]:.1f} MiB"


def end_rows(bench):
    def median(**how):
        return statistics.median(bench.timed(play="time=start live", **how)[0] for _ in range(ENDS))

    alone, with_us = median(alone=True), median()
    yield "a short program, without and with recording", f"{alone * 1e3:.0f} ms, {with_us * 1e3:.0f} ms"
    hanging = statistics.median(bench.timed(rules="hang cuptiActivityFlushAll", play="time=start live")[0] for _ in range(3))
    yield "delay of its end if CUPTI's flush never returns", f"+{hanging - alone:.2f} s"


def memory_of(bench, alone):
    spool = bench.spool()
    environment = spool.environment(words="api=1")
    if alone:
        environment = {k: v for k, v in environment.items() if not k.endswith("_INJECTION64_PATH")}
    most, samples = 0, []
    # Without recording, the fake has nothing to deliver, and sleeps instead.
    arguments = ["--sleep-ms", 1000] if alone else ["--threads", 4]
    play = "inline live" if alone else "inline live repeat=20000"
    with subprocess.Popen(spool.command(*arguments, play=play), env=environment) as process:
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            resident = [int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")]
            samples += resident
            most = max([most, *resident])
            time.sleep(0.05)
    return most / 1024, samples[len(samples) // 4] / 1024, samples[-2] / 1024


def memory_rows(bench):
    alone, *_ = memory_of(bench, alone=True)
    most, early, late = memory_of(bench, alone=False)
    yield "memory of a program that does nothing, without recording", f"{alone:.1f} MiB"
    yield "with 24 million records from 4 threads: peak; after a quarter; at the end", f"{most:.1f}, {early:.1f}, {late:.1f} MiB"


def added_up(bench, parts):
    """CPU seconds and peak MiB of record --aggregate over the parts of an interrupted recording, and the kernels it counted."""
    into = bench.folder / f"totals-{bench.runs}"
    bench.runs += 1
    started, most = subprocess.Popen([bench.program.path, "record", "--merge", parts, "--aggregate", "-o", into], stderr=subprocess.DEVNULL), 0
    while not (ended := os.wait4(started.pid, os.WNOHANG))[0]:
        peak = next((int(line.split()[1]) for line in open(f"/proc/{started.pid}/status") if line.startswith("VmHWM")), 0)
        most = max(most, peak / 1024)
        time.sleep(0.01)
    (file,) = into.glob("*.totals")
    ranks = json.loads(file.read_text())["ranks"]
    return ended[2].ru_utime + ended[2].ru_stime, most, sum(each["count"] for of in ranks for each in of["kernels"])


def aggregate_rows(bench, kernels=100_000, processes=200):
    """Parts of 100,000 kernels and their launches, read once and 200 times over; then a program that is faster than the reader."""
    spool = bench.spool()
    spool.script = script_of_records(list(burst(lines(), kernels, 5000)), bench.folder)
    subprocess.run(spool.command(play="inline"), env=spool.environment(), check=True, timeout=300)
    (part,) = spool.files()
    once, little, _ = added_up(bench, spool.folder)
    for number in range(1, processes):
        os.link(part, spool.folder / f"{10_000_000 + number}-1.gpuprof")
    whole, most, count = added_up(bench, spool.folder)
    yield f"totals of {count / 1e6:.0f} million kernels with their launches", f"{(whole - once) / (count - kernels) * 1e9:.0f} ns of CPU per kernel"
    yield f"memory of that program: {kernels / 1e6:.1f} and {count / 1e6:.0f} million kernels", f"{little:.1f} and {most:.1f} MiB"
    yield from aggregate_disk_rows(bench)


def aggregate_disk_rows(bench):
    into, spool = bench.folder / "live", bench.spool()
    environment = {k: v for k, v in spool.environment().items() if not k.endswith("_INJECTION64_PATH") and not k.startswith("GPUPROF_RECORD")}
    command = [bench.program.path, "record", "--aggregate", "-o", into, "--", *spool.command(play="live copies=4 repeat=20000")]
    started, most = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL), 0
    while started.poll() is None:
        sizes = []
        for path in into.glob("*.parts-*/*"):
            try:
                sizes.append(path.stat().st_size)
            except FileNotFoundError:
                pass
        most = max(most, sum(sizes))
        time.sleep(0.02)
    (file,) = into.glob("*.totals")
    (of,) = json.loads(file.read_text())["ranks"]
    yield (f"on disk while four threads launch {sum(each['count'] for each in of['kernels']) / 1e6:.1f} million kernels as fast as they can",
           f"{most / (1 << 20):.0f} MiB at most; lost: {of['lost']}")


def size_rows(bench):
    for recording in sorted(FIXTURES.glob("*.jsonl.xz")):
        kernels = sum(record["kind"] == "KERNEL" for record in lines(recording))
        bench.script = script_of(recording, bench.folder)
        repeat = 100_000 // kernels
        spool = bench.spool()
        capture = bench.folder / f"{recording.name}.gpuprof"
        environment = spool.environment()
        _, raw = bench.timed("--times", 1, play=f"inline live repeat={repeat}")
        (file,) = raw.files()
        command = [bench.program.path, "record", "--quiet", "--sample", "0", "-o", capture, "--",
                   *spool.command(play=f"inline live repeat={repeat}")]
        environment = {k: v for k, v in environment.items() if not k.endswith("_INJECTION64_PATH") and not k.startswith("GPUPROF_RECORD")}
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=300)
        count = kernels * repeat
        yield (f"bytes per kernel with everything recorded, {recording.name.split('.')[0]}: during the run; merged",
               f"{file.stat().st_size / count:.0f}; {capture.stat().st_size / count:.1f}")


def main():
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/bench").resolve()
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    print(f"{os.cpu_count()} CPUs, {model}; load {os.getloadavg()[0]:.1f} before\n\n| what | figure |\n|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(build, folder)
        for rows in (annotation_rows, standby_rows, record_rows, stream_call_rows, os_call_rows, switch_rows, launch_stack_rows, slow_step_rows, end_rows, memory_rows, aggregate_rows, size_rows):
            if len(sys.argv) > 2 and rows.__name__.removesuffix("_rows") not in sys.argv[2:]:
                continue
            for what, figure in rows(bench):
                print(f"| {what} | {figure} |", flush=True)
            for spool in bench.folder.glob("*/*.gpuprof"):
                spool.unlink()


if __name__ == "__main__":
    main()
