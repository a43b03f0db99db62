"""`record --keep-slow` and `--trigger`: real programs with planted slow steps, annotated with the real `nvtx` client, whose device
work the fake CUPTI plays. Exact times are in tests/unit/inject; here slow steps are so slow that a busy machine changes nothing.
"""

import re
import subprocess

import pytest
from lengthened import lengthened
from patience import HANGS_S
from quick_recording import once, script  # noqa: F401
from recordings_of_cupti import slow_kernels
from slow_steps import PLANTED, Recorded, command_line, planted, python_environment


@pytest.fixture
def run(program, script, tmp_path):
    def record(code, *options, rules="", expected=0, script=script):
        (tmp_path / "run.gpuprof").unlink(missing_ok=True)
        command = command_line(program, tmp_path / "run.gpuprof", script, code, *options)
        done = subprocess.run(command, env=python_environment(program, rules), capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert done.returncode == expected, done.stderr
        assert "breaks a rule" not in done.stderr
        return Recorded(program, tmp_path / "run.gpuprof", done.stderr)

    return record


def test_the_slowest_steps_are_kept_whole(run, once):
    recorded = run(PLANTED + "assert len(parts()) < 25, parts()", "--keep-slow", "3")
    kept = recorded.kept()
    assert [number for number, _ in kept] == [70, 100, 40]
    assert 1.2 <= kept[0][1] < 3
    # Each step has its kernels and so has the step before it.
    assert recorded.ranges() == {"step": 6}
    assert recorded.kernels() == 6 * once
    assert recorded.losses() == {}
    assert re.search(r"kept 3 of 150 steps: step 70 \(1\.\d+ s, [\d.]+x the median\), step 100 \(.*\), step 40 \(", recorded.errors)
    (sentence,) = recorded.meta("slow_steps")
    assert sentence in recorded.errors


def test_the_last_message_leads_to_each_step(run, program, once):
    recorded = run(PLANTED, "--keep-slow", "1")
    (command,) = re.findall(r"step 70 \(.*\): (gpu-profile report .*)", recorded.errors)
    words = command.split()[1:]
    part = program.report(recorded.capture, "kernels", *words[2:])
    assert sum(row["count"] for row in part["kernels"].rows) == once


def test_the_report_is_about_the_slowest_step_and_warns_of_gaps(run, program):
    recorded = run(PLANTED, "--keep-slow", "2")
    text = program.everything_said(recorded.capture)
    assert "--whole" in text or "--from" in text
    assert "kept 2 of 150 steps" in text
    assert "count the time between them as idle" not in text
    whole = program.everything_said(recorded.capture, "--whole")
    assert "count the time between them as idle" in whole


def test_parts_that_nothing_needs_are_deleted(run):
    # The planted step is slower than what a busy machine does to a step of the first part, which is therefore not kept.
    code = """
first = parts()
for number in range(1, 800):
    with nvtx.annotate("step"): time.sleep({600: 0.7}.get(number, 0.005))
assert not set(first) & set(parts()), "the first part is still there"
assert len(parts()) <= 10, parts()
"""
    assert [number for number, _ in run(code, "--keep-slow", "1").kept()] == [600]


def test_a_first_slow_step_is_warm_up(run):
    code = """
for number in range(1, 41):
    with nvtx.annotate("step"):
        play(number)
        time.sleep({1: 2.0, 25: 0.7}.get(number, 0.005))
"""
    assert [number for number, _ in run(code, "--keep-slow", "1").kept()] == [25]


def test_a_short_program_keeps_steps_of_its_warm_up_and_says_so(run):
    code = """
for number in range(1, 5):
    with nvtx.annotate("step"): time.sleep({3: 0.5}.get(number, 0.001))
"""
    recorded = run(code, "--keep-slow", "1")
    assert [number for number, _ in recorded.kept()] == [3]
    assert "in the warm-up" in recorded.errors


def triggered(run, *options):
    """Where other work makes the short steps longer, or one of them slow, all steps are made longer."""
    return lengthened(lambda length: run(planted(length), *options), lambda recorded: " of 3 steps" in recorded.errors or " 3 of 150 steps" in recorded.errors)


def test_a_trigger(run, once):
    recorded = triggered(run, "--trigger", "step>60.5x")
    assert [number for number, _ in recorded.kept()] == [70, 100, 40]
    assert "those that took over 60.5x the median of the steps before them" in recorded.errors
    assert recorded.kernels() == 6 * once


def test_a_trigger_keeps_as_many_as_wanted(run):
    recorded = triggered(run, "--trigger", "step>60x", "--keep-slow", "1")
    assert [number for number, _ in recorded.kept()] == [70]
    assert "kept the 1 slowest of 3 steps" in recorded.errors


def test_a_trigger_that_never_fires(run):
    recorded = run("for number in range(1, 61):\n    with nvtx.annotate('step'): time.sleep(0.01)\nsys.exit(7)", "--trigger", "step>999x", expected=7)
    assert recorded.kept() == []
    assert re.search(r"no step took over 999x the median of the steps before it, so none of 60 steps was kept; the slowest after the warm-up was step \d+ \(",
                     recorded.errors)
    assert recorded.meta("slow_steps")
    assert recorded.errors.count("\n") == 2  # one line about the processes, one about the steps


def test_a_report_without_kept_steps_does_not_speak_of_a_program_without_work(run, program):
    options = ("--trigger", "step>999x", "--trace", "cuda,nvtx,cpu")
    recorded = run("for number in range(1, 31):\n    with nvtx.annotate('step'): play(number); time.sleep(0.01)\ntime.sleep(0.3)", *options)
    text = " ".join(program.run("report", recorded.capture).stdout.decode().split())
    assert "no step was kept, so the program's work is not in this recording" in text


def test_steps_whose_texts_are_registered_one_by_one(run):
    """Python's client registers every text that it sees."""
    code = """
for number in range(1, 61):
    with nvtx.annotate(f"ProfilerStep#{number}"): time.sleep({50: 0.6}.get(number, 0.002))
"""
    recorded = run(code, "--keep-slow", "1")
    assert "of 60 steps" in recorded.errors
    assert [number for number, _ in recorded.kept()] == [50]
    assert recorded.ranges() == {"ProfilerStep*": 2}


def test_a_range_of_the_users_choice(run):
    code = """
for number in range(1, 41):
    with nvtx.annotate("batch", domain="mine"):
        with nvtx.annotate("step"): time.sleep({30: 0.6}.get(number, 0.002))
    with nvtx.annotate("batch"): time.sleep({20: 0.8}.get(number, 0.001))
"""
    recorded = run(code, "--keep-slow", "1", "--step-range", "batch@mine")
    assert [number for number, _ in recorded.kept()] == [30]
    assert "of 40 steps" in recorded.errors


def test_steps_within_steps_are_part_of_them(run):
    code = """
for number in range(1, 41):
    with nvtx.annotate("step"):
        for inner in range(3):
            with nvtx.annotate("iteration"): time.sleep({30: 0.3}.get(number, 0.001))
"""
    recorded = run(code, "--keep-slow", "1")
    assert [number for number, _ in recorded.kept()] == [30]
    assert "of 40 steps" in recorded.errors
    assert "120 steps began within a step and are part of it" in recorded.errors


def test_steps_of_two_threads_are_two_series(run):
    code = """
import threading
def loop(length, count, slow):
    for number in range(1, count + 1):
        with nvtx.annotate("step"): time.sleep(slow if number == 25 else length)
threads = [threading.Thread(target=loop, args=arguments) for arguments in [(0.002, 40, 0.9), (0.2, 12, 0.2)]]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    recorded = run(code, "--trigger", "step>40x")
    assert [number for number, _ in recorded.kept()] == [25]
    assert "of 52 steps of 2 threads" in recorded.errors
    assert "step 25 of thread " in recorded.errors


def test_calls_of_step_delimit_steps(run, program):
    code = """
for number in range(1, 41):
    assert gpu_profile.step()
    play(number)
    time.sleep({20: 0.6, 30: 0.8}.get(number, 0.003))
"""
    recorded = run(code, "--keep-slow", "2")
    assert [number for number, _ in recorded.kept()] == [30, 20]
    assert "of 39 steps" in recorded.errors  # the last one has no end
    assert recorded.ranges() == {"step 20": 1, "step 30": 1}
    assert len(program.report(recorded.capture, "steps")["steps"].rows) == 2


def test_ranges_that_end_on_another_thread(run):
    code = """
import threading
for number in range(1, 41):
    step = nvtx.start_range("step")
    time.sleep({30: 0.6}.get(number, 0.002))
    thread = threading.Thread(target=nvtx.end_range, args=(step,))
    thread.start(), thread.join()
"""
    recorded = run(code, "--keep-slow", "1")
    assert [number for number, _ in recorded.kept()] == [30]
    assert "of 40 steps" in recorded.errors


def test_a_step_that_never_ends(run):
    code = "for number in range(1, 21): nvtx.push_range('step'); time.sleep(0.01)"
    recorded = run(code, "--keep-slow", "3")
    ((number, _),) = recorded.kept()
    assert number == 1
    assert "unfinished" in recorded.errors
    assert "19 steps began within a step and are part of it" in recorded.errors


def test_time_between_steps_is_said(run):
    code = """
for number in range(1, 31):
    time.sleep({20: 1.0}.get(number, 0.001))
    with nvtx.annotate("step"): time.sleep(0.005)
"""
    assert re.search(r"up to 1\.\d+ s passed between two steps, more than in any step", run(code, "--keep-slow", "1").errors)


def test_a_program_without_steps(run):
    recorded = run("play(0)\nwith nvtx.annotate('other'): time.sleep(0.01)\nsys.exit(3)", "--keep-slow", "2", expected=3)
    assert "no step ended; nothing of it was kept. A step is an NVTX range or mark called step, iteration or ProfilerStep" in recorded.errors
    assert recorded.kept() == []
    assert recorded.meta("no_steps")


def test_every_process_has_its_own_steps(run):
    code = """
if os.fork() == 0:
    with nvtx.annotate("other"): pass
    os._exit(0)
os.wait()
""" + PLANTED
    recorded = run(code, "--keep-slow", "1")
    assert [number for number, _ in recorded.kept()] == [70]
    assert "1 other process had no steps" in recorded.errors


def test_kernels_that_run_after_their_step_are_kept(run, tmp_path):
    """Launches return at once; their kernels run for a fifth of a second, in other steps."""
    count = 10
    code = """
for number in range(1, 61):
    with nvtx.annotate("step"):
        if number == 40: play(0, b"start")
        time.sleep({40: 0.05}.get(number, 0.01))
time.sleep(0.5)
"""
    recorded = run(code, "--trigger", "step>3x", "--keep-slow", "64", rules="causal", script=slow_kernels(tmp_path, count))
    assert 40 in [number for number, _ in recorded.kept()]
    assert recorded.kernels() == count
    assert recorded.losses() == {}
