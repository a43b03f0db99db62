"""`record --standby` and `trigger`: nothing is recorded until someone asks, and then exactly the window, in a capture per rank.

The jobs are Python programs on the fake driver that launch one kernel at a time and write down when. No test expects a time: windows
are compared with what the programs wrote down, and with each other.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import HANGS_S
from played import PLAY, fake_environment
from quick_recording import once, script  # noqa: F401
from recordings_of_cupti import ROOT

# Plays the script once a turn, between two readings of the clock, until the file "end" appears; a step each turn, of which each rank begins
# at another time, and at whose end all wait for each other, as in a collective: each writes its turn into the file "met".
JOB = PLAY + """
import gpu_profile, mmap, os, pathlib
folder, rank = pathlib.Path(sys.argv[2]), int(os.environ.get("RANK", 0))
with open(folder / "met", "r+b") as shared:
    met = memoryview(mmap.mmap(shared.fileno(), 0)).cast("q")
(folder / f"ready-{os.getpid()}").touch()
turn = 0
with open(folder / f"turns-{os.getpid()}", "w") as log:
    while not (folder / "end").exists() and turn < 20000:
        time.sleep(rank * 0.003)
        gpu_profile.step()
        before = time.time_ns()
        play(turn)
        print(before, time.time_ns(), file=log, flush=True)
        turn += 1
        met[rank] = turn
        while min(met) < turn and not (folder / "end").exists():
            time.sleep(0.001)
        time.sleep(0.01)
print("sockets", sum(os.readlink(f"/proc/self/fd/{fd}").startswith("socket") for fd in os.listdir("/proc/self/fd") if os.path.islink(f"/proc/self/fd/{fd}")))
"""


class Job:
    """Some launchers in standby, one per rank, that share a folder."""

    def __init__(self, program, script, folder, ranks=1, mode="--standby", options=("--sample", "0")):
        self.program, self.run, self.log = program, folder / "run", folder / "log"
        self.asked_s = 0.0  # the longest that the program took to answer here
        self.log.mkdir()
        (self.log / "met").write_bytes(bytes(8 * ranks))
        self.launchers = []
        for rank in range(ranks):
            place = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)} if ranks > 1 else {}
            environment = fake_environment(program, PYTHONPATH=str(ROOT / "python"), **place)
            command = [program.path, "record", mode, "-o", self.run, *options, "--", sys.executable, "-c", JOB, script, self.log]
            self.launchers.append(subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                                   text=True))
        self.wait_for(lambda: len(list(self.log.glob("ready-*"))) == ranks and len(self.waiting()) >= ranks)

    def wait_for(self, condition):
        until = time.monotonic() + HANGS_S
        while not condition():
            assert time.monotonic() < until and all(each.poll() is None for each in self.launchers), self.outcome()
            time.sleep(0.05)

    def outcome(self):
        return [(each.poll(), each.stderr.read() if each.poll() is not None else "") for each in self.launchers]

    def trigger(self, *arguments, code=0):
        done = subprocess.run([self.program.path, "trigger", self.run, *map(str, arguments)], capture_output=True, text=True, timeout=HANGS_S,
                              check=False)
        assert done.returncode == code, done.stderr + done.stdout
        return done.stdout if code == 0 else done.stderr

    def ask(self, *arguments, code=0):
        return json.loads(self.trigger(*arguments, "--format", "json", code=code))

    def waiting(self):
        begun = time.monotonic()
        done = subprocess.run([self.program.path, "trigger", self.run, "--status", "--format", "json"], capture_output=True, text=True,
                              timeout=HANGS_S, check=False)
        self.asked_s = max(self.asked_s, time.monotonic() - begun)
        return json.loads(done.stdout)["processes"] if done.returncode == 0 else []

    def paced(self, seconds):
        """Return these seconds, or more on a machine so busy that a launcher would not hear of them in time."""
        return f"{seconds * max(1, self.asked_s / 0.05):.2f}"

    def window(self, seconds, ahead=0.5):
        return "--seconds", self.paced(seconds), "--at", f"+{self.paced(ahead)}s"

    def record(self, *arguments, code=0):
        """Trigger and wait; return the processes."""
        return self.ask("--wait", HANGS_S, *arguments, code=code)["processes"]

    def end(self):
        (self.log / "end").touch()
        outputs = [each.communicate(timeout=HANGS_S) for each in self.launchers]
        assert [each.returncode for each in self.launchers] == [0] * len(self.launchers), outputs
        assert all("sockets 0" in out for out, _ in outputs), outputs
        return [err for _, err in outputs]

    def times(self, pid):
        return [tuple(map(int, line.split())) for line in (self.log / f"turns-{pid}").read_text().splitlines()]


@pytest.fixture
def start(program, script, tmp_path):
    jobs = []

    def make(**options):
        jobs.append(Job(program, script, tmp_path, **options))
        return jobs[-1]

    yield make
    for job in jobs:
        for launcher in job.launchers:
            if launcher.poll() is None:
                (job.log / "end").touch()
                launcher.kill()
                launcher.communicate()


def check_window(program, job, process, once):
    """The capture has the kernels of every turn within the window, and none of a turn outside it."""
    report = program.report(process["file"], "kernels", "losses")
    assert not [row for row in report["losses"].rows if row["severity"] == "data"]
    recorded = sum(row["count"] for row in report["kernels"].rows)
    played = job.times(process["pid"])
    within = sum(process["opened_ns"] <= begin and end <= process["closed_ns"] for begin, end in played)
    touching = sum(begin <= process["closed_ns"] and end >= process["opened_ns"] for begin, end in played)
    assert within > 0
    assert within * once <= recorded <= touching * once
    return within


def test_three_triggers_give_three_captures_of_their_windows(program, start, once):
    job = start()
    captures = []
    for seconds in (0.3, 0.5, 0.2):
        (process,) = job.record(*job.window(seconds))
        assert process["state"] == "recorded" and process["rank"] is None
        captures.append(process)
    status = job.trigger("--status")
    assert "in standby" in status and "trigger 3: " in status
    (notes,) = job.end()
    assert "3 captures in" in notes
    assert [Path(each["file"]).parent.name for each in captures] == ["t0001", "t0002", "t0003"]
    for process in captures:
        check_window(program, job, process, once)
    assert all(a["closed_ns"] < b["opened_ns"] for a, b in zip(captures, captures[1:]))
    # the folder of the parts is gone
    assert sorted(path.name for path in job.run.iterdir()) == ["control", "standby", "t0001", "t0002", "t0003"]
    assert "no recording is in standby" in job.trigger(code=4)


def test_ranks_open_together_and_share_whole_steps(program, start, once):
    """The same steps, not only as many: what the programs wrote down says when each rank did the work of a step."""
    job, wanted = start(ranks=4), 5
    for _ in range(10):  # until no rank was so busy that it opened after its next step
        asked = job.ask("--wait", HANGS_S, "--steps", wanted, "--at", f"+{job.paced(1)}s")
        processes = asked["processes"]
        if not any(asked["open_ns"] < begin <= each["opened_ns"] for each in processes for begin, _ in job.times(each["pid"])):
            break
    assert [process["rank"] for process in processes] == [0, 1, 2, 3]
    # each rank has one more than asked, so that N are common to ranks that disagree by one about the first
    assert {process["last_step"] - process["first_step"] for process in processes} == {wanted}
    late = [process["late_ns"] for process in processes]
    assert min(late) >= 0
    job.end()
    common = range(max(process["first_step"] for process in processes), min(process["last_step"] for process in processes) + 1)
    assert len(common) >= wanted
    for process in processes:
        check_window(program, job, process, once)
        turns = [job.times(process["pid"])[step - 1] for step in common]
        assert process["opened_ns"] <= turns[0][0] and turns[-1][1] <= process["closed_ns"]
    captures = Path(processes[0]["file"]).parent
    ranks = subprocess.run([program.path, "ranks", captures, "--format", "json"], capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert ranks.returncode in (0, 4), ranks.stderr


def test_only_the_ranks_that_are_named(program, start, once):
    job = start(ranks=3)
    processes = job.record(*job.window(0.3), "--ranks", "0,2-5")
    assert [process["rank"] for process in processes] == [0, 2]
    job.end()
    for process in processes:
        check_window(program, job, process, once)


# What has been recorded all the time, with or without totals.
LAST = [("--standby", ("--sample", "0", "--keep-last", "600")), ("--aggregate", ("--keep-last", "600"))]


@pytest.mark.parametrize(("mode", "options"), LAST, ids=["standby", "aggregate"])
def test_the_last_seconds_become_captures_of_their_ranks(program, start, once, mode, options):
    """Twice, of times that overlap; and of a time to come, which is as without --keep-last. Each has what its window has, and says which."""
    job = start(ranks=2, mode=mode, options=options)
    job.wait_for(lambda: all(len(job.times(path.name.partition("-")[2])) > 200 for path in job.log.glob("turns-*")))
    captures = [job.record("--last", 1), job.record("--last", 3), job.record(*job.window(0.3))]
    assert "counts no steps" in job.trigger("--steps", "3", code=2)
    assert "excludes --seconds" in job.trigger("--last", "3", "--seconds", "3", code=2)
    job.end()
    for seconds, processes in zip((1, 3, None), captures, strict=True):
        assert [(process["rank"], process["state"]) for process in processes] == [(0, "recorded"), (1, "recorded")]
        for process in processes:
            check_window(program, job, process, once)
            if seconds:
                assert process["late_ns"] == 0 and process["closed_ns"] - process["opened_ns"] == seconds * 10**9
            meta = {row["key"]: row["value"] for row in program.stored(process["file"], "meta")}
            assert int(meta["trigger_opened_ns"]) == process["opened_ns"] and int(meta["window_closed_at"]) == process["closed_ns"]
            assert all(process["opened_ns"] <= int(row["start"]) + int(row["dur"]) and int(row["start"]) <= process["closed_ns"]
                       for row in program.stored(process["file"], "api_call"))
    if mode == "--aggregate":  # the totals have everything, whatever was captured
        counted = [json.loads(file.read_text()) for file in job.run.glob("*.totals")]
        played = sum(len(path.read_text().splitlines()) for path in job.log.glob("turns-*"))
        assert sum(each["count"] for totals in counted for of in totals["ranks"] for each in of["kernels"]) == played * once
        assert all(of["lost"] == {} for totals in counted for of in totals["ranks"])
    assert not list(job.run.glob("*.parts-*"))


def test_a_capture_of_the_past_says_what_it_lacks(program, start, once):
    """The disk space for parts is limited, so the captures begin later; a part that nobody took in time is a loss."""
    most = 6 << 20
    job = start(options=("--sample", "0", "--keep-last", "600", "--max-size", f"{most}B"))
    (folder,) = job.run.glob("*.parts-*")

    def kept():
        return sorted(folder.glob("*.kept.gpuprof"))

    job.wait_for(kept)
    first = kept()[0]
    job.wait_for(lambda: not first.exists())
    (process,) = job.record("--last", 500)
    assert process["state"] == "recorded" and process["late_ns"] > 0
    check_window(program, job, process, once)

    def losses_of_a_hole():  # none if the parts before it were dropped, too, before they were taken
        job.wait_for(lambda: len(kept()) >= 2)
        kept()[-1].unlink(missing_ok=True)
        (process,) = job.record("--last", 500)
        return [row["count"] for row in program.report(process["file"], "losses")["losses"].rows if row["severity"] == "data"]

    job.wait_for(lambda: losses_of_a_hole() == [1])
    job.end()


@pytest.mark.parametrize("victim", ["rank", "launcher"])
def test_the_last_seconds_of_whoever_is_killed(program, start, victim, once):
    job = start(options=("--sample", "0", "--keep-last", "300"))
    (pid,) = [int(path.name.partition("-")[2]) for path in job.log.glob("turns-*")]
    (launcher,) = job.launchers
    job.wait_for(lambda: len(job.times(pid)) > 100)
    job.trigger("--last", "300")
    job.wait_for(lambda: any(process["trigger"] == 1 for process in job.waiting()))  # it is in progress, or done
    if victim == "rank":
        os.kill(pid, signal.SIGKILL)
        _, said = launcher.communicate(timeout=HANGS_S)
        assert "1 capture in" in said and "what was recorded last is kept" in said
        (capture,) = (job.run / "t0001").glob("*.gpuprof")
        assert sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) >= once
    else:
        launcher.kill()
        (job.log / "end").touch()
        launcher.communicate(timeout=HANGS_S)  # the rank has its streams
    (parts,) = [path for path in job.run.glob("*.parts-*")]
    merged = job.log / "merged.gpuprof"
    done = subprocess.run([program.path, "record", "--quiet", "--merge", parts, "-o", merged], capture_output=True, text=True,
                          timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    recorded = sum(row["count"] for row in program.report(merged, "kernels")["kernels"].rows)
    assert recorded == len(job.times(pid)) * once if victim == "launcher" else recorded >= once


def test_stop_and_busy(program, start, once):
    job = start()
    assert "trigger 1: recording starts at" in job.trigger("--seconds", "300", "--at", f"+{job.paced(0.3)}s")
    job.wait_for(lambda: any(process["state"] == "open" for process in job.waiting()))
    assert "trigger 1 is in progress" in job.trigger(code=5)
    (process,) = job.ask("--stop", "--wait", HANGS_S)["processes"]
    assert process["state"] == "recorded"
    assert "no trigger is in progress" in job.trigger("--stop", code=4)
    job.end()
    check_window(program, job, process, once)


@pytest.mark.parametrize("words", [("--at", "2020-01-01T00:00:00Z"), ("--at", "soon"), ("--at", "/0s"), ("--ranks", "3-1"), ("--ranks", "a"),
                                   ("--seconds", "601"), ("--at", "+48h")])
def test_what_cannot_be_asked(start, words):
    job = start()
    job.trigger(*words, code=2)
    job.end()


def hostile(folder):
    """Control files that no trigger wrote, by name; each is put in place by rename."""
    now = time.time_ns()
    line = f"gpuprof-control 1 {now} 1 {now} {now + 10**9} 0 *\n"
    yield "link", lambda path: path.symlink_to("/etc/passwd")
    yield "fifo", lambda path: os.mkfifo(path)
    yield "folder", lambda path: path.mkdir()
    yield "large", lambda path: path.open("wb").truncate(10**9)
    yield "half", lambda path: path.write_text(line[:-9])
    yield "writable", lambda path: (path.write_text(line), path.chmod(0o666))
    yield "negative", lambda path: path.write_text(line.replace(" 0 *", " -1 *"))
    yield "nan", lambda path: path.write_text(line.replace(" 0 *", " nan *"))
    yield "long", lambda path: path.write_text(f"gpuprof-control 1 {now} 1 {now} {now + 601 * 10**9} 0 *\n")
    yield "future", lambda path: path.write_text(f"gpuprof-control 1 {now + 10**16} 1 {now} {now + 10**9} 0 *\n")
    yield "bytes", lambda path: path.write_bytes(bytes(range(256)))


def test_hostile_control_files_are_refused_and_counted(start):
    job = start()
    refused = 0
    for name, make in hostile(job.run):
        target, made = job.run / "control", job.run / f"made-{name}"
        if target.is_dir() and not target.is_symlink():
            target.rmdir()
        make(made)
        if made.is_dir() and target.exists():
            target.unlink()
        os.rename(made, target)
        refused += 1
        job.wait_for(lambda: f"{refused} control file" in job.trigger("--status"))
    status = job.waiting()
    assert [process["trigger"] for process in status] == [None]
    os.unlink(job.run / "control")
    (process,) = job.record(*job.window(0.2))
    assert process["state"] == "recorded"
    job.end()


def test_a_launcher_that_hangs_never_delays_the_job(start):
    """As when it waits for a file system that does not answer: the window still closes, and the job ends its work."""
    job = start()
    job.trigger(*job.window(0.5, ahead=1.5))
    job.wait_for(lambda: any(process["state"] == "waiting" for process in job.waiting()))
    (launcher,) = job.launchers
    (pid,) = [int(path.name.partition("-")[2]) for path in job.log.glob("turns-*")]
    os.kill(launcher.pid, signal.SIGSTOP)
    try:
        before = len(job.times(pid))
        job.wait_for(lambda: len(job.times(pid)) > before + 200)
        (job.log / "end").touch()
        until = time.monotonic() + HANGS_S
        while Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z":
            assert time.monotonic() < until
            time.sleep(0.05)
    finally:
        os.kill(launcher.pid, signal.SIGCONT)
    job.end()
    assert len(list((job.run / "t0001").glob("*.gpuprof"))) == 1


@pytest.mark.parametrize("victim", ["rank", "launcher", "trigger"])
def test_whoever_is_killed_leaves_readable_parts(program, start, victim, once):
    job = start()
    if victim == "trigger":
        asking = subprocess.Popen([program.path, "trigger", job.run, *job.window(1.5), "--wait", "100"], stdout=subprocess.DEVNULL)
    else:
        job.trigger("--seconds", "100", "--at", f"+{job.paced(0.3)}s")
    job.wait_for(lambda: any(process["state"] in ("open", "recorded") for process in job.waiting()))
    (pid,) = [int(path.name.partition("-")[2]) for path in job.log.glob("turns-*")]
    before = len(job.times(pid))
    if victim != "trigger":
        job.wait_for(lambda: len(job.times(pid)) > before + 30)
    (launcher,) = job.launchers
    if victim == "trigger":
        asking.kill()
        asking.wait()
        job.wait_for(lambda: any(process["state"] == "recorded" for process in job.waiting()))
        job.end()
    elif victim == "rank":
        os.kill(pid, signal.SIGKILL)
        launcher.communicate(timeout=HANGS_S)
    else:
        launcher.kill()
        (job.log / "end").touch()
        launcher.communicate(timeout=HANGS_S)  # the rank has its streams
        parts = [path for path in job.run.glob("*.parts-*/*.gpuprof") if path.name.startswith(f"{pid}-")]
        assert parts
        merged = job.log / "merged.gpuprof"
        done = subprocess.run([program.path, "record", "--quiet", "--merge", parts[0].parent, "-o", merged], capture_output=True, text=True,
                              timeout=HANGS_S, check=False)
        assert done.returncode == 0, done.stderr
        assert sum(row["count"] for row in program.report(merged, "kernels")["kernels"].rows) >= once
        return
    (capture,) = (job.run / "t0001").glob("*.gpuprof")
    assert sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) >= once


# Its process is known before it asks, and it works until the capture is there.
KNOWN = """
import gpu_profile
gpu_profile.step()
while True:
    try:
        if gpu_profile.status(): break
    except gpu_profile.Error:
        time.sleep(0.05)
"""


def run_in_standby(program, script, folder, code):
    environment = fake_environment(program, PYTHONPATH=os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), str(ROOT / "python")])), GPUPROF_BIN=str(program.path))
    done = subprocess.run([program.path, "record", "--standby", "-o", folder / "run", "--sample", "0", "--", sys.executable, "-c", PLAY + KNOWN + code, script, folder],
                          env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_python_triggers_from_inside(program, script, tmp_path):
    said = run_in_standby(program, script, tmp_path, """
asked = gpu_profile.trigger(seconds=1, at="+2s")
turn = 0
while not list(asked.folder.glob("*.gpuprof")):
    gpu_profile.step()
    play(turn)
    turn += 1
print(*asked.wait(60))
""")
    assert program.report(said.strip(), "kernels")["kernels"].rows


# A trainer of Transformers that trains until its capture is there.
TRAINER = """
import pathlib, types
sys.modules["transformers"] = types.ModuleType("transformers")
sys.modules["transformers"].TrainerCallback = object
from gpu_profile.transformers import GpuProfileCallback
folder, turn = pathlib.Path(sys.argv[2]), 0
callback = GpuProfileCallback(backend="none", warmup_steps=100000, record_at=5, record_steps=3, report=False)
arguments = (types.SimpleNamespace(process_index=0, world_size=1, output_dir=folder), types.SimpleNamespace(epoch=0), None)
callback.on_train_begin(*arguments), callback.on_epoch_begin(*arguments)
while not list(folder.glob("run/t0001/*.gpuprof")) and turn < 20000:
    callback.on_step_begin(*arguments)
    play(turn)
    callback.on_step_end(*arguments)
    turn += 1
    time.sleep(0.01)
callback.on_epoch_end(*arguments), callback.on_train_end(*arguments)
"""


def test_a_trainer_records_whole_steps_of_itself(program, script, tmp_path, once):
    run_in_standby(program, script, tmp_path, TRAINER)
    (capture,) = tmp_path.glob("run/t*/*.gpuprof")
    meta = {row["key"]: row["value"] for row in program.stored(capture, "meta")}
    assert int(meta["trigger_last_step"]) - int(meta["trigger_first_step"]) == 3 and int(meta["trigger_first_step"]) >= 5
    # four whole steps, and parts of one before and one after
    assert 4 * once <= sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) <= 6 * once


# Annotates steps in the ways that there are, within ranges of other names, which nobody looks at in standby.
ANNOTATED = """
import nvtx
asked, turn = gpu_profile.trigger(steps=4, at="+2s"), 0
while not list(asked.folder.glob("*.gpuprof")):
    outer = nvtx.start_range("batch")
    with nvtx.annotate("batch"), nvtx.annotate("phase", domain="mine"):
        if turn % 3 == 0:
            with nvtx.annotate(f"iteration {turn}"):
                with nvtx.annotate("Step 7"), nvtx.annotate("inner"): play(turn)
        elif turn % 3 == 1:
            begun = nvtx.start_range("ProfilerStep#3")
            with nvtx.annotate("inner"): play(turn)
            nvtx.end_range(begun)
        else:
            nvtx.mark("step")
            with nvtx.annotate("inner"): play(turn)
    nvtx.end_range(outer)
    turn += 1
"""


def test_annotations_count_as_steps_in_standby(program, script, tmp_path, once):
    pytest.importorskip("nvtx")
    run_in_standby(program, script, tmp_path, ANNOTATED)
    (capture,) = tmp_path.glob("run/t*/*.gpuprof")
    meta = {row["key"]: row["value"] for row in program.stored(capture, "meta")}
    first, last = int(meta["trigger_first_step"]), int(meta["trigger_last_step"])
    assert last - first == 4 and first > 5  # those before the window were counted too
    ranges = [row["name"] for row in program.stored(capture, "range")]
    steps = sum(name.startswith(("iteration", "ProfilerStep", "step")) for name in ranges)
    assert 5 <= steps <= 7 and 5 <= ranges.count("inner") <= 7
    assert 5 * once <= sum(row["count"] for row in program.report(capture, "kernels")["kernels"].rows) <= 7 * once


def test_options_that_standby_excludes(program, tmp_path):
    for options in (["--keep-slow", "5"], ["--steps", "1:2"], ["--max-size", "1GiB"], ["--sample", "pm"]):
        done = program.run("record", "--standby", "-o", tmp_path / "run", *options, "--", "true")
        assert done.status == 2 and b"exclude each other" in done.stderr


def test_without_keep_last_there_is_no_past(program, start, tmp_path):
    job = start()
    assert "keeps nothing of the past; start it with --keep-last S" in job.trigger("--last", "5", code=2)
    job.end()
    done = program.run("record", "--standby", "-o", tmp_path / "more", "--keep-last", "601", "--", "true")
    assert done.status == 2 and b"at most the last 600 s" in done.stderr


def test_the_c_interface(program, start, tmp_path):
    library = ctypes.CDLL(str(Path(program.path).parent / "libgpuprof.so"))
    library.gpuprof_last_error.restype = ctypes.c_char_p
    assert library.gpuprof_trigger(os.fsencode(tmp_path), None, None) == 4
    assert b"no recording is in standby" in library.gpuprof_last_error()
    job = start()
    number = ctypes.c_int64()
    assert library.gpuprof_trigger(os.fsencode(job.run), None, ctypes.byref(number)) == 0
    assert number.value == 1
    assert library.gpuprof_trigger(os.fsencode(job.run), None, None) == 5
    assert library.gpuprof_trigger_stop(os.fsencode(job.run)) == 0
    assert library.gpuprof_trigger_stop(os.fsencode(job.run)) == 4
    job.end()
