"""The checks for a machine with a GPU (tests/gpu): every one of parts 1 to 3 is made here, over the fakes, from a packed folder.

Launches are plays of a script of one kernel, PyTorch, Triton and JAX are stand-ins (tests/fakes/frameworks), and so is the CUDA
program (tests/fakes/gpu_programs). So what is shown is that the checks run, measure, and judge; figures mean nothing here.
"""

import ast
import csv
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from fake_driver import DEVICE
from nightly import NIGHTLY
from patience import HANGS_S  # noqa: E402
from recordings_of_cupti import KERN, ROOT, lines, script_of_records

GPU = ROOT / "tests/gpu"
sys.path.insert(0, str(GPU))
from harness import archive, cuda_compiler, elf, part, processes, turns  # noqa: E402
from harness.check import Case, Checks  # noqa: E402

# Decided by times, which the fakes have not: such a check may say "not reached", and why. None may fail.
OF_TIMES = {"killed", "python-stacks", "monitor", "energy", "bench-agreement", "lock-in-callbacks", "slow-steps", "sampling-nvml"}
# An add of 64 K, 1 M and 16 M elements, softmax of 16 M, a product of 4 M.
SIMULATED = "current; kernel 0 constant 1000; kernel 117 constant 2000; kernel 121 constant 9000; kernel 125 constant 70000; " \
            "kernel 225 constant 60000; kernel 323 constant 55000; cold 1.2; latency_ns 0"
OF_TIMES_PREFIXES = ("cost-", "evaluate-", "verdict-")


def only(records, kind, **wanted):
    return next(record for record in records if record["kind"] == kind and all(record[key] == value for key, value in wanted.items()))


def make_scripts(folder):
    """kernel, copy, graph and whole_graph.script: one launch each, of the recording of a real program."""
    records = lines(KERN, graphs=True)
    always = [only(records, "DEVICE"), only(records, "CONTEXT")]
    kernel = {**only(records, "KERNEL"), "name": "add_nothing_spin", "start": 1000, "end": 2000, "completed": 2000, "correlationId": 5}
    call = {**only(records, "RUNTIME", name="cudaLaunchKernel_v7000"), "start": 100, "end": 500, "correlationId": 5}
    copy = {**only(records, "MEMCPY"), "start": 1000, "end": 2000, "correlationId": 5}
    copying = {**call, "cbid": 41, "name": "cudaMemcpyAsync_v3020"}
    graph = {**only(records, "RUNTIME", name="cudaGraphLaunch_v10000"), "start": 100, "end": 500, "correlationId": 5}
    nodes = [{**kernel, "graphNodeId": 10 + node, "graphId": 2, "start": 1000 + 200 * node, "end": 1100 + 200 * node, "completed": 1100 + 200 * node} for node in range(10)]
    taken = {**only(records, "MEMORY2"), "timestamp": 1000, "correlationId": 0, "bytes": 768 << 20}
    whole = {**only(records, "GRAPH_TRACE"), "start": 1000, "end": 3000, "correlationId": 5}
    for name, found in {"kernel": [call, kernel], "copy": [copying, copy], "graph": [graph, *nodes], "whole_graph": [graph, whole], "memory": [taken], **waits(records, call)}.items():
        script_of_records([*always, *found], folder).rename(folder / f"{name}.script")
    return folder / "kernel.script"


def waits(records, call):
    """{script: records}: an event of one stream (7 is the main one), for which the other waits. Correlations end as those of a launch do."""
    of_event, found = {"contextId": 1, "cudaEventId": 19, "eventId": 19, "deviceId": 0}, {}
    for name, waiting, other in (("main", 7, 13), ("side", 13, 7)):
        recording = {**call, "cbid": 370, "name": "cudaEventRecordWithFlags_v11010", "start": 100, "end": 200, "correlationId": 4}
        wait = {**call, "cbid": 147, "name": "cudaStreamWaitEvent_v3020", "start": 300, "end": 400}
        found[f"wait_on_{name}"] = [recording, {"kind": "CUDA_EVENT", "correlationId": 4, "streamId": other, "deviceTimestamp": 0, "cudaEventSyncId": 1, **of_event}, wait,
                                    {"kind": "SYNCHRONIZATION", "type": 2, "start": 300, "end": 400, "correlationId": 5, "streamId": waiting, "returnValue": 0, **of_event}]
    return found


def make_driver_files(folder):
    """What doctor looks for: the files of a kernel module, and of one GPU."""
    files = {"proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  Wed Nov  5\n", "dev/nvidia0": "",
             "proc/driver/nvidia/params": "RmProfilingAdminOnly: 0\n", "proc/driver/nvidia/gpus/0000:01:00.0/information": "Model: \t\t NVIDIA H200\n"}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def make_counters(path):
    """A recorded series, with multiprocessors as busy as those of a GPU with much to do."""
    names, *rows = csv.reader(io.StringIO(gzip.decompress((ROOT / "tests/fixtures/pm/small_kernels.csv.gz").read_bytes()).decode()))
    busy = next(number for number, name in enumerate(names) if "sm__cycles_active" in name)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([names, *([*row[:busy], "90", *row[busy + 1 :]] for row in rows)])


def make_wheel(program, folder):
    """What ./test builds, of the binaries at hand: the real wheel is shown to work by test_wheel.py."""
    path = folder / "gpu_profile-0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for source in sorted((ROOT / "python" / "gpu_profile").rglob("*.py")):
            wheel.write(source, source.relative_to(ROOT / "python"))
        for name in ("gpu-profile", "libgpuprof.so", "libgpuprof_inject.so", "libgpuprof_os_calls.so"):
            subprocess.run(["strip", "-o", folder / name, program.path.parent / name], check=True)
            wheel.write(folder / name, f"gpu_profile/_native/{name}")
    return path


@pytest.fixture(scope="module")
def packed(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pack")
    done = subprocess.run([sys.executable, GPU / "pack", folder / "packed", "--wheel", make_wheel(program, folder), "--no-cuda"],
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "needs x86_64, glibc 2." in done.stdout and "libc.so.6" in done.stdout
    return folder / "packed"


@pytest.fixture(scope="module")
def machine(program, packed, tmp_path_factory):
    """The environment of a machine with a GPU, as far as the checks can see."""
    folder = tmp_path_factory.mktemp("machine")
    make_counters(folder / "counters.csv")
    (folder / "stalls.txt").write_text("sample add_nothing_spin add_nothing_spin 7 16 3=40 4=30\ncount add_nothing_spin add_nothing_spin 7 16 smsp__sass_inst_executed=10\n")
    (folder / "driver.txt").write_text(DEVICE + "counter 0 energy_j 300 20\nset 0 gpm_sm_active 90\nset 0 gpm_sm_occupancy 60\n")
    fakes = program.fakes
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GPUPROF_", "PYTHON"))}
    environment |= {
        "LD_LIBRARY_PATH": str(fakes), "GPUPROF_CUDA": str(fakes / "libcuda.so.1"), "GPUPROF_CUPTI": str(fakes / "libcupti.so.13"),
        "GPUPROF_FAKE_CUDA_SCRIPT": str(make_scripts(folder)), "GPUPROF_FAKE_CUDA_SIM": SIMULATED,
        "GPUPROF_DRIVER_ROOT": str(make_driver_files(folder / "driver")), "GPUPROF_NVML": str(fakes / "libnvidia-ml.so.1"), "GPUPROF_FAKE_NVML": str(folder / "driver.txt"),
        "GPUPROF_FAKE_STALLS": str(folder / "stalls.txt"), "GPUPROF_FAKE_PM": f"series={folder / 'counters.csv'}", "GPUPROF_FAKE_TORCH_ANY": "steps.py:labelled.py:workers.py:regions.py:order_streams.py:slow_steps.py", "PYTHONPATH": str(ROOT / "tests/fakes/frameworks"), "GPU_CHECKS_SMALL": "1", "PYTHON": sys.executable,
        "GPUPROF_GPU_PROGRAMS": str(ROOT / "tests/fakes/gpu_programs"), "PATH": f"{ROOT / 'tests/fakes/smi'}:{os.environ['PATH']}",
    }
    return environment


def run_all(packed, machine, folder, *arguments, **more):
    command = [sys.executable, packed / "tests/gpu/all", "--out", folder / "out", "--work", folder / "work", *map(str, arguments)]
    return subprocess.run(command, env={**machine, **more}, capture_output=True, text=True, timeout=HANGS_S, check=False, cwd=folder)


def results(folder, name):
    with tarfile.open(folder / "out" / f"{name}.tar.gz") as archived:
        names = archived.getnames()
        document = json.load(archived.extractfile(f"{name}/results.json"))
        page = archived.extractfile(f"{name}/report.md").read().decode()
    return {row["name"]: row for row in document["checks"]}, names, page


@pytest.mark.parametrize("name", ["part1", "part2", "part3"])
def test_every_check_runs_over_the_fakes(packed, machine, tmp_path, name):
    done = run_all(packed, machine, tmp_path, "--patience", "5", name)
    assert done.returncode == 0, done.stdout + done.stderr
    rows, names, page = results(tmp_path, name)
    for check, row in rows.items():
        of_times = check in OF_TIMES or check.startswith(OF_TIMES_PREFIXES)
        assert row["verdict"] in ("ok", *(("not reached",) if of_times else ())), (check, row["reason"], row)
        assert row["verdict"] == "ok" or "times are those of stand-ins" in row["reason"], (check, row["reason"])
        assert "the check" not in row["reason"], row  # neither broke off nor ended by itself
        assert row["measured"] or row["reason"], row
        assert set(row["evidence"]) <= {each.removeprefix(f"{name}/") for each in names}, row
    assert "skipped" not in {row["verdict"] for row in rows.values()}, "the fakes have everything"
    assert page.count("\n| ") == len(rows) + 1
    assert (tmp_path / "out" / f"{name}.tar.gz").stat().st_size < 16e6


OWN_CHECKS = '''
import os, subprocess, sys, time
from harness import turns
from harness.check import Checks
CHECKS = Checks("part4")
COUNT = os.environ["COUNT"]

def begin(case, name):
    with open(COUNT, "a") as file:
        file.write(name + "\\n")
    case.measured(f"{name} began", begun=1)

@CHECKS.add("works", limit_s=20)
def works(case):
    begin(case, "works")
    (case.folder / "large.gpuprof").write_bytes(os.urandom(800_000))
    (case.folder / "large.bin").write_bytes(os.urandom(900_000))
    (case.folder / "small.txt").write_text("whole")
    for name in ("large.gpuprof", "large.bin", "small.txt"):
        case.evidence(case.folder / name)

@CHECKS.add("crashes", limit_s=20)
def crashes(case):
    begin(case, "crashes")
    os.abort()

@CHECKS.add("raises", limit_s=20)
def raises(case):
    begin(case, "raises")
    {}["nothing"]

@CHECKS.add("hangs", limit_s=1.5)
def hangs(case):
    begin(case, "hangs")
    child = subprocess.Popen(["sleep", "300"])
    case.measured("its child", child=child.pid)
    time.sleep(300)

@CHECKS.add("has a command that hangs", limit_s=20)
def commands(case):
    begin(case, "commands")
    done = case.run(["sh", "-c", "sleep 300 & echo said; sleep 300"], limit_s=0.5)
    case.measured(done.how(), said=done.out)
    case.expect(done.ok, done.why())

@CHECKS.add("is interrupted", limit_s=20)
def interrupted(case):
    begin(case, "interrupted")
    time.sleep(float(os.environ.get("PAUSE", "0")))

@CHECKS.add("needs what is not here", needs=("gpu", "nsys"))
def needs(case):
    begin(case, "needs")

@CHECKS.add("too few rounds")
def partly(case):
    begin(case, "partly")
    turns.compare(case, "partly", "ms", {"nothing": [1.0] * int(os.environ.get("ROUNDS", "9"))}, {})
'''


@pytest.fixture(scope="module")
def own(packed, machine, tmp_path_factory):
    """A packed folder whose part4 are the checks above: what happens to checks, not what they find."""
    folder = tmp_path_factory.mktemp("own") / "packed"
    shutil.copytree(packed, folder, symlinks=True)
    (folder / "tests/gpu/checks/later.py").write_text(OWN_CHECKS)
    return folder


def begun(folder):
    return (folder / "count").read_text().split()


def lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_no_check_stops_the_others(own, machine, tmp_path):
    done = run_all(own, machine, tmp_path, "part4", "--size-limit", "700000", COUNT=str(tmp_path / "count"))
    assert done.returncode == 1, done.stdout + done.stderr
    rows, names, page = results(tmp_path, "part4")
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "works": "ok", "crashes": "FAILED", "raises": "FAILED", "hangs": "FAILED", "commands": "FAILED", "interrupted": "ok", "needs": "skipped", "partly": "ok"}
    assert rows["crashes"]["reason"] == "the check itself ended with -6; see crashes/error.txt"
    assert rows["raises"]["reason"] == "the check broke off: KeyError: 'nothing'"
    assert rows["hangs"]["reason"].startswith("did not end in 2 s") and rows["hangs"]["measured"] == ["hangs began", "its child"]
    assert not lives(rows["hangs"]["figures"]["child"])
    assert rows["commands"]["reason"].startswith("did not end in ") and rows["commands"]["figures"]["said"] == "said\n"
    assert rows["needs"]["reason"] == "nsys is not installed" and "needs" not in begun(tmp_path)
    # The archive is small enough, says what is not whole, and a cut recording is there.
    assert (tmp_path / "out/part4.tar.gz").stat().st_size <= 700_000
    assert "part4/works/small.txt" in names and "part4/works/large.gpuprof" in names and "part4/works/large.bin" not in names
    assert "works/large.gpuprof: the first " in page and "works/large.bin: left out, 900,000 bytes" in page
    # A second run has nothing to do; only a check that is requested again runs again.
    before = begun(tmp_path)
    assert run_all(own, machine, tmp_path, "part4", COUNT=str(tmp_path / "count")).returncode == 1
    assert begun(tmp_path) == before
    run_all(own, machine, tmp_path, "part4", "--again", "works", COUNT=str(tmp_path / "count"))
    assert begun(tmp_path) == [*before, "works"]


def interrupt(own, machine, folder):
    """Kills a part, and everything of it, while its check `interrupted` waits."""
    command = [sys.executable, own / "tests/gpu/all", "--out", folder / "out", "--work", folder / "work", "--only", "works", "--only", "interrupted", "part4"]
    seen = len(begun(folder)) if (folder / "count").exists() else 0
    with subprocess.Popen(command, env={**machine, "PAUSE": "60", "COUNT": str(folder / "count")}, stdout=subprocess.DEVNULL) as running:
        until = time.monotonic() + HANGS_S
        while not (waits := (folder / "count").exists() and "interrupted" in begun(folder)[seen:]) and running.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        status = running.poll()
        processes.end(running.pid, timeout_s=0)
    assert waits and status is None, f"the part ended with {status} before its check waited"


def test_a_part_that_was_killed_goes_on(own, machine, tmp_path):
    chosen = ("--only", "works", "--only", "interrupted", "part4")
    interrupt(own, machine, tmp_path)
    rows, _, _ = results(tmp_path, "part4")  # the archive of a part that was killed
    assert (rows["works"]["verdict"], rows["interrupted"]["verdict"]) == ("ok", "not reached")
    interrupt(own, machine, tmp_path)
    done = run_all(own, machine, tmp_path, *chosen, COUNT=str(tmp_path / "count"))
    assert done.returncode == 1
    assert results(tmp_path, "part4")[0]["interrupted"]["reason"] == "was begun twice and interrupted each time"
    shutil.rmtree(tmp_path / "work")  # another machine: all that is left is the archive
    done = run_all(own, machine, tmp_path, *chosen, "--again", "interrupted", COUNT=str(tmp_path / "count"))
    assert done.returncode == 0, done.stdout
    assert begun(tmp_path) == ["works", "interrupted", "interrupted", "interrupted"], "what is done is not done again"


def test_a_part_ends_in_time(own, machine, tmp_path):
    """With no time left nothing is begun, which is no failure; a rerun makes it."""
    count = {"COUNT": str(tmp_path / "count")}
    done = run_all(own, machine, tmp_path, "--only", "interrupted", "--part-limit", "5", "part4", **count)
    assert (done.returncode, (tmp_path / "count").exists()) == (3, False), done.stdout
    assert "1 not reached" in done.stdout
    assert run_all(own, machine, tmp_path, "--only", "interrupted", "part4", **count).returncode == 0


def test_what_is_measured_in_part_goes_on(own, machine, tmp_path):
    """Too few rounds are no failure, however often; the report and the last line say where the same call goes on."""
    for runs in (1, 2, 3):
        done = run_all(own, machine, tmp_path, "--only", "partly", "part4", ROUNDS="1", COUNT=str(tmp_path / "count"))
        rows, _, page = results(tmp_path, "part4")
        assert done.returncode == 3 and rows["partly"]["verdict"] == "not reached", done.stdout
        assert rows["partly"]["reason"] == "partly: 1 rounds were made, too few for an interval; run the part again to go on"
        assert "the same call again goes on with partly: 1 checks, at most 60 s" in done.stdout and "Not complete: the same call again" in page
        assert begun(tmp_path) == ["partly"] * runs
    assert run_all(own, machine, tmp_path, "--only", "partly", "part4", COUNT=str(tmp_path / "count")).returncode == 0


def test_programs_that_do_not_run_here_are_not_used(packed, machine, tmp_path):
    broken = tmp_path / "programs"
    broken.mkdir()
    (broken / "storm").write_text("#!/bin/sh\necho 'storm: CUDA driver version is insufficient for CUDA runtime version' >&2\nexit 1\n")
    (broken / "storm").chmod(0o755)
    done = run_all(packed, machine, tmp_path, "--only", "cupti-interface", "--only", "exit-order", "part1", GPUPROF_GPU_PROGRAMS=str(broken))
    assert done.returncode == 0, done.stdout + done.stderr
    assert {row["reason"].rpartition(": ")[2] for row in results(tmp_path, "part1")[0].values() if row["verdict"] == "skipped"} == {
        "CUDA driver version is insufficient for CUDA runtime version"}


@pytest.mark.skipif(not NIGHTLY, reason="compiles CUDA programs with NVIDIA's packages: ./test --nightly")
def test_cuda_programs_run_from_r525_on(tmp_path):
    cuda_compiler.compile_programs(sorted(GPU.glob("workloads/*.cu")), tmp_path / "programs", ROOT / "build/cuda-tools")
    for name in ("storm", "kernels"):
        assert cuda_compiler.ptx_of(tmp_path / "programs" / name) == {(b"8.0", b"sm_80")}, "of CUDA 12.0"
        done = subprocess.run([tmp_path / "programs" / name], capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode in (1, 2), "it starts, with the runtime next to it"
    assert not elf.missing_here((2, 0), elf.needs(tmp_path / "programs/storm")[0], tmp_path / "programs")


@pytest.mark.parametrize(("change", "said"), [
    ({"glibc": [99, 1]}, "not run: the binaries need glibc 99.1: this machine has "),
    ({"libraries": ["libnowhere.so.7"]}, "not run: the binaries need libnowhere.so.7: this machine does not have it; install it, or put it next to the program"),
    ({"machine": "vax"}, "not run: the binaries are for vax: this machine is "),
])
def test_it_says_what_the_binaries_need(own, machine, tmp_path, change, said):
    for name in ("pack.json", "tests", "python"):
        os.symlink(own / name, tmp_path / name)
    facts = json.loads((own / "pack.json").read_text())
    (tmp_path / "pack.json").unlink()
    (tmp_path / "pack.json").write_text(json.dumps({**facts, **change}))
    command = ["import runpy, sys; from harness.machine import Machine; print('not run:', Machine(sys.argv[1], sys.argv[2]).unusable())", tmp_path, tmp_path]
    done = subprocess.run([sys.executable, "-c", *command], env={**machine, "PYTHONPATH": str(GPU)}, capture_output=True, text=True, check=True)
    assert done.stdout.startswith(said), done.stdout


def test_it_says_why_nothing_can_be_checked(packed, machine, tmp_path):
    done = run_all(packed, {**machine, "LD_LIBRARY_PATH": ""}, tmp_path, "part1")
    if shutil.which("nvidia-smi"):
        pytest.skip("there may be a GPU here")
    assert done.returncode == 77 and done.stdout.startswith("not run: no GPU: exit status 1 after "), done.stdout
    assert "libcuda.so.1" in done.stdout
    done = run_all(packed, machine, tmp_path, "part9")
    assert (done.returncode, done.stderr) == (2, "unknown part 'part9'; parts are part1, part2, part3, part4\n")


def test_pack_refuses_a_folder_that_is_not_empty(tmp_path):
    (tmp_path / "mine").write_text("")
    done = subprocess.run([sys.executable, GPU / "pack", tmp_path], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"cannot pack into {tmp_path}: it is not empty; name a new folder\n")


def test_needs_of_a_program_are_those_of_readelf(program):
    libraries, versions = elf.needs(program.path)
    said = subprocess.run(["readelf", "-dV", program.path], capture_output=True, text=True, check=True).stdout
    assert libraries == {line.split("[")[1].split("]")[0] for line in said.splitlines() if "(NEEDED)" in line}
    assert versions == set(re.findall(r"Name: (\S+)\s+Flags", said))
    assert elf.newest_glibc({"GLIBC_2.2.5", "GLIBC_2.34", "GLIBCXX_3.4.30"}) == (2, 34)
    assert elf.needs(__file__) == (set(), set())


def test_the_interval_of_a_median_is_that_of_its_order():
    assert turns.interval([3, 1, 2]) == (1, 3, 0.75)
    low, high, confidence = turns.interval(range(1, 10))
    assert (low, high) == (2, 8) and confidence == pytest.approx(1 - 2 * 10 / 512)  # 0.961
    found = turns.ratio([2, 2, 4], [1, 2, 2])
    assert (found.median, found.low, found.high) == (2, 1, 2)


def test_times_decide_only_where_they_mean_something(tmp_path, monkeypatch):
    """An expectation about times that does not hold: a failure on a quiet machine, undecided over stand-ins and on busy CPUs."""
    waited = iter((0, 0, 0, 10**12))  # begin of both, then when each is asked
    monkeypatch.setattr("harness.check.waited_for_cpu_us", lambda: next(waited))
    quiet, busy = (case_of(tmp_path, quiet=False) for _ in range(2))
    for case, where in ((quiet, "failures"), (busy, "undecided")):
        assert not case.expect(False, "too slow", of_times=True) and case.said[where][0].startswith("too slow"), case.said
    assert "waited for a CPU" in busy.said["undecided"][0]
    monkeypatch.setattr("harness.check.waited_for_cpu_us", lambda: None)
    small = case_of(tmp_path, quiet=False, small=True)
    small.expect(False, "too slow", of_times=True), small.expect(False, "wrong count")
    assert small.said["failures"] == ["wrong count"] and len(small.said["undecided"]) == 1


def case_of(folder, quiet=True, **facts):
    machine = type("Machine", (), {"small": False, "environment": lambda self: dict(os.environ), **facts})()
    folder.mkdir(exist_ok=True)
    case = Case(folder, machine, 60)
    if quiet:  # whatever else runs here
        case.times_mean_nothing = lambda: None
    return case


def test_rounds_take_turns_and_go_on(tmp_path):
    order = []

    def way(name, figure):
        return lambda: order.append(name) or figure

    ways = {"nothing": way("nothing", 2.0), "record": way("record", 3.0)}
    turns.take(case_of(tmp_path), "try", ways, 2)
    assert order == ["nothing", "record", "record", "nothing"]
    figures = turns.take(case_of(tmp_path), "try", ways, 3)  # of an earlier run: two rounds are there
    assert order[4:] == ["nothing", "record"] and figures == {"nothing": [2.0] * 3, "record": [3.0] * 3}
    case = case_of(tmp_path)
    turns.compare(case, "try", "ms", figures, {"record": 1.4})
    assert case.said["failures"] == ["try: record costs x1.500 (1.500 to 1.500, 3 rounds), more than x1.40"]


def test_the_judge_of_verdicts(program, tmp_path):
    """Known answers: a right one passes, a wrong one and a finding that is not there fail."""
    from checks.judging import judge_verdict

    answer = json.loads(program.run("report", ROOT / "examples/input_bound.json.gz", "--format", "json").stdout)
    for truth, failures in (({"verdicts": ["input-bound"], "why": "slow"}, 0), ({"verdicts": ["launch-bound"], "why": "slow"}, 1),
                            ({"verdicts": ["input-bound"], "why": "slow", "finding": "unheard of"}, 1)):
        case = case_of(tmp_path)
        judge_verdict(case, answer, truth)
        assert len(case.said["failures"]) == failures


def test_what_does_not_fit_is_cut_or_left_out():
    files = [("a/run.gpuprof", 500_000, 500_000), ("a/trace.json", 900_000, 90_000), ("a/other.bin", 800_000, 800_000), ("report.md", 5_000, 2_000)]
    taken, trimmed = archive.plan(files, 400_000)
    assert [name for name, _ in taken] == ["report.md", "a/trace.json", "a/run.gpuprof"]
    assert taken[0][1] is None and taken[2][1] < 400_000 and len(trimmed) == 2


def test_a_journal_survives_a_half_line(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text('{"begun": "one"}\n{"name": "one", "verdict": "ok"}\n{"begun": "two"}\n{"name": "tw')
    journal = part.Journal(path)
    assert (list(journal.verdicts), journal.begun) == (["one"], {"one": 1, "two": 1})


@pytest.mark.parametrize("program_of", sorted([*GPU.glob("workloads/*.py"), *GPU.glob("*/*.py"), GPU / "all", GPU / "pack"]), ids=lambda path: path.name)
def test_its_programs_parse(program_of):
    ast.parse(program_of.read_text(), feature_version=(3, 9))


def test_checks_have_their_names_once():
    from checks import PARTS

    names = [check.name for part_of in PARTS.values() for check in part_of]
    assert len(names) == len(set(names)) and all(check.expects and check.limit_s <= 180 for part_of in PARTS.values() for check in part_of)
    assert isinstance(next(iter(PARTS)), str) and Checks("part1").all == []
