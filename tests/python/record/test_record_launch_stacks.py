"""`record --launch-stacks`: where fake GPU programs in Python and C++ launch, what the analyses make of it, and what must not change."""

import re
import subprocess
import sys

import pytest
from lengthened import lengthened
from patience import HANGS_S
from played import PLAY, fake_environment, record_played
from recordings_of_cupti import FIXTURES, burst, lines, script_of_records

# Launches from the main thread and from another one.
TRAINING = PLAY + """
import threading, time
def launch(turn):
    play(turn, b"start")
def step(turn):
    end = time.monotonic() + 0.1 * int(sys.argv[2])
    while time.monotonic() < end: pass
    launch(turn)
def in_background():
    launch(10)
for turn in range(3): step(turn)
thread = threading.Thread(target=in_background)
thread.start(), thread.join()
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of_records(burst(lines(FIXTURES / "memory_bound.jsonl.xz")), tmp_path_factory.mktemp("script"))


@pytest.fixture(scope="module")
def training(record_training):
    """A recording of a Python program."""
    return record_training(1)


@pytest.fixture(scope="module")
def record_training(program, script, tmp_path_factory):
    return lambda length: recorded_training(program, script, tmp_path_factory.mktemp("training"), length)


def recorded_training(program, script, folder, length, *options):
    """The capture of a program whose pauses take `length` tenths of a second."""
    code, capture = folder / "train.py", folder / "run.gpuprof"
    code.write_text(TRAINING)
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--launch-stacks", *options, "--", sys.executable, code, script, str(length)],
                          env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    return capture


def line_of(text):
    return next(number for number, line in enumerate(TRAINING.splitlines(), 1) if text in line)


def stacks(program, capture):
    return [row["stack"] for row in program.stored(capture, "api_call") if row.get("stack")]


def test_every_launch_of_a_python_program_has_its_stack(program, training):
    """Of 4 times 40 launches: the functions with their lines, outermost first, then what ctypes called; nothing of the interpreter or the recorder."""
    launches = [row for row in program.stored(training, "api_call") if "Launch" in row["name"]]
    assert len(launches) == 160
    assert all(row.get("stack") for row in launches)
    found = {row["stack"] for row in launches}
    inner = f"launch (train.py:{line_of('play(turn, b')});play (train.py:{line_of('def play')})"
    main = f"<module> (train.py:{line_of('for turn')});step (train.py:{line_of('    launch(turn)')});{inner}"
    assert sum(stack.startswith(main) for stack in found) == 1
    other = [stack for stack in found if f"in_background (train.py:{line_of('launch(10)')});{inner}" in stack]
    assert len(other) == 1 and "(threading.py:" in other[0]
    assert len(found) == 2
    for stack in found:
        assert "libgpuprof" not in stack and "libcuda" not in stack and "PyEval" not in stack
        assert re.search(r"\((_ctypes\.|libffi\.)", stack), stack


def test_the_analysis_adds_up_launches_and_device_time(program, training):
    rows = program.report(training, "launch_stacks")["launch_stacks"].rows
    play = line_of("def play")
    assert [(row["place"], row["launches"], row["kernels"]) for row in rows] == [(f"play (train.py:{play})", 120, 120), (f"play (train.py:{play})", 40, 40)]
    kernels = program.stored(training, "kernel")
    assert sum(row["device_ns"] for row in rows) == sum(int(row["dur"]) for row in kernels)
    assert sum(row["device_pct"] for row in rows) == pytest.approx(100)
    assert {row["kernel"] for row in rows} <= {row["name"] for row in kernels}


def test_idle_time_names_the_launch_that_ended_it(program, record_training):
    training = lengthened(record_training, lambda capture: "No findings" not in program.run("report", capture, "findings").stdout.decode())
    # the two pauses are the longest gaps, also where a busy machine makes others
    between = [row for row in program.report(training, "gaps")["gaps"].rows if row["before"] and row["after"]]
    gaps = sorted(between, key=lambda row: row["dur_ns"])[-2:]
    assert [row["dur_ns"] > 60_000_000 for row in gaps] == [True, True]
    assert {re.sub(r":\d+", "", row["host_what"]) for row in gaps} == {"before play (train.py)"}
    idle = program.run("report", training, "idle").stdout.decode()
    assert re.search(r"of .* ended with a launch in play \(train.py:\d+\)", " ".join(idle.split()))
    findings = " ".join(program.run("report", training, "findings").stdout.decode().split())
    assert re.search(r"of this time ended with a launch in play \(train.py:\d+\)", findings)


def test_a_program_without_python_has_native_frames(program, script, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = record_played(program, script, capture, "--launch-stacks", "--sample", "0", "--quiet", arguments=("--threads", "2"), play="time=start live inline")
    assert outcome.status == 0, outcome.errors
    found = stacks(program, capture)
    assert len(found) == 80
    for stack in found:
        assert stack.endswith("(fake_program)"), stack
        assert "libc.so" not in stack and "libcuda" not in stack
    places = {row["place"] for row in program.report(capture, "launch_stacks")["launch_stacks"].rows}
    assert all(place.endswith("(fake_program)") for place in places)


def test_later_parts_have_the_stacks_of_earlier_ones(program, script, tmp_path):
    """--keep-last deletes the parts in which the stacks were new."""
    code, capture = tmp_path / "train.py", tmp_path / "run.gpuprof"
    code.write_text(PLAY + "for turn in range(30): play(turn, b'start'), time.sleep(0.1)\n")
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", "--launch-stacks", "--keep-last", "0.5", "--", sys.executable,
                           code, script], env=fake_environment(program), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    launches = [row for row in program.stored(capture, "api_call") if "Launch" in row["name"]]
    assert 0 < len(launches) < 30 * 40
    named = sum("play (train.py:" in (row.get("stack") or "") for row in launches)
    assert named >= len(launches) - 40  # a part may end between a launch and its record


def test_without_the_option_no_stack_is_recorded(program, script, tmp_path):
    capture = tmp_path / "run.gpuprof"
    assert record_played(program, script, capture, "--sample", "0", "--quiet").status == 0
    assert stacks(program, capture) == []
    text = program.run("report", capture, "launch_stacks").stdout.decode()
    assert "No stacks of launches were recorded; gpu-profile record --launch-stacks -- CMD records them." in " ".join(text.split())


def test_only_the_innermost_functions_are_kept_if_the_user_wants_it(program, script, tmp_path):
    """Of <module>, step, launch and play, two are Python's; native functions and the numbers of launches stay as they are."""
    capture = recorded_training(program, script, tmp_path, 1, "--stack-depth", "2")
    found = stacks(program, capture)
    assert len(found) == 160
    inner = f"launch (train.py:{line_of('play(turn, b')});play (train.py:{line_of('def play')})"
    assert {stack[:len(inner)] for stack in found} == {inner}
    assert all(stack.count(".py:") == 2 and re.search(r"\((_ctypes\.|libffi\.)", stack) for stack in found)


def test_a_depth_without_stacks_is_refused(program, tmp_path):
    outcome = program.run("record", "-o", tmp_path / "run.gpuprof", "--stack-depth", "2", "--", "true")
    assert (outcome.status, outcome.errors) == (2, ["gpu-profile: --stack-depth has no effect without --launch-stacks; add --launch-stacks"])


def test_a_recording_without_cuda_is_refused(program, tmp_path):
    outcome = program.run("record", "-o", tmp_path / "run.gpuprof", "--launch-stacks", "--trace", "nvtx", "--", "true")
    assert outcome.status == 2
    assert outcome.errors == ["gpu-profile: --launch-stacks needs CUDA; add cuda to --trace"]
