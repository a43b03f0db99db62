"""`compare` on pairs whose truth is known: simulated programs whose host runs ahead, other programs, kernels without steps, single steps."""

import json
import random
import sys
from pathlib import Path

import pytest

from conftest import FIXTURES

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "simulate"))

import compared  # noqa: E402  (needs the path above)
from kineto import trace_of  # noqa: E402

KINETO = FIXTURES / "kineto"


def verdict(program, base, new, *more):
    outcome = program.run("compare", base, new, "metrics", "--format", "json", *more)
    assert outcome.status == 0, outcome.errors
    document = json.loads(outcome.stdout)
    return document["verdict"], document


@pytest.fixture
def pair(tmp_path):
    """The files of two runs of a loop that synchronises after every ten steps; the host takes a third of the device's time."""
    loop = compared.Loop(random.Random(1), "kernel")
    loop.every, loop.steps, loop.between = 10, 60, False
    loop.host = sum(kernel.alone for kernel in loop.kernels) / len(loop.kernels) / 3

    def files(**factors):
        changes = []
        for name, given in (("base", {}), ("new", factors)):
            machine, time = loop.run(name, **given)
            (tmp_path / f"{name}.json").write_text(trace_of(machine))
            changes.append(time)
        return str(tmp_path / "base.json"), str(tmp_path / "new.json"), 100 * (changes[1] / changes[0] - 1)

    return files


def test_work_that_runs_ahead_between_synchronisations_is_seen(program, pair):
    base, new, truth = pair(kernel_factor=1.25)
    found, document = verdict(program, base, new)
    assert truth > 20 and found["name"] == "slower" and "low confidence" in document["lead"][0]
    step = dict(zip((column["name"] for column in document["tables"][0]["columns"]), document["tables"][0]["rows"][0]))
    assert step["metric"] == "step_p50" and step["change_pct"] == pytest.approx(truth, abs=2)
    assert any("the host runs ahead" in line["text"] for line in document["trust"])
    assert program.run("compare", base, new, "--fail-on", "step_p50>5%").status == 1


def test_a_slower_host_that_the_device_hides_is_the_same(program, pair):
    base, new, truth = pair(host_factor=1.25)
    assert abs(truth) < 1 and verdict(program, base, new)[0]["name"] == "same"
    assert program.run("compare", base, new, "--fail-on", "step_p50>5%").status == 0


def test_different_programs_are_neither_faster_nor_slower(program):
    found, document = verdict(program, str(KINETO / "input_bound.json.gz"), str(KINETO / "overlap.json.gz"))
    warning, = (line for line in document["trust"] if line.get("code") == "different_programs")
    assert found["name"] == "cannot tell" and "the programs differ" in found["because"] and "0 % of the kernel time" in warning["text"]
    outcome = program.run("compare", str(KINETO / "input_bound.json.gz"), str(KINETO / "overlap.json.gz"), "--fail-on", "step_p50<-5%")
    assert outcome.status == 0 and "not evaluated: the programs differ" in outcome.errors[0]


def test_a_replaced_kernel_is_the_same_program(program, tmp_path):
    r = random.Random(5)
    base = compared.drawn(tmp_path / "base.json", [r.gauss(1, 0.01) for _ in range(30)])
    fast = compared.drawn(tmp_path / "fast.json", [r.gauss(0.6, 0.01) for _ in range(30)])
    text = (tmp_path / "fast.json").read_text()
    (tmp_path / "fast.json").write_text(text.replace('"work"', '"tiled<32>(float*)"'))
    assert verdict(program, base, fast)[0]["name"] == "faster"


def kernels_alone(path, durations):
    """Launches of one kernel, 50 us apart, and no steps."""
    events, now = [], 1000.0
    for i, dur in enumerate(durations):
        events.append({"ph": "X", "cat": "kernel", "name": "solve", "pid": 0, "tid": 7, "ts": now, "dur": dur, "args": {"device": 0, "stream": 7, "correlation": i + 1}})
        now += dur + 50
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [compared.DEVICE], "traceEvents": events}))
    return str(path)


def test_a_kernel_with_disjoint_durations_decides_without_steps(program, tmp_path):
    r = random.Random(1)
    base = kernels_alone(tmp_path / "base.json", [r.uniform(800, 900) for _ in range(12)])
    fast = kernels_alone(tmp_path / "fast.json", [r.uniform(150, 200) for _ in range(12)])
    near = kernels_alone(tmp_path / "near.json", [r.uniform(700, 750) for _ in range(11)] + [890])
    found, document = verdict(program, base, fast)
    assert (found["name"], found["metric"]) == ("faster", "kernel_time") and "low confidence" in document["lead"][0] and "solve" in found["because"]
    assert verdict(program, fast, base)[0]["name"] == "slower"
    assert verdict(program, base, near)[0]["name"] == "cannot tell"


def test_a_single_step_with_a_cause_that_vanished_is_told(program, tmp_path):
    def steps(name, count, wait, noise):
        events, now = [], 1000.0
        for step in range(count):
            length = wait + 11000 * (1 + noise * (step % 3))
            events += [
                {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": now, "dur": length},
                {"ph": "X", "cat": "cpu_op", "name": "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "pid": 1, "tid": 1, "ts": now, "dur": wait or 10},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": now + wait + 20, "dur": 5, "args": {"correlation": step + 1}},
                {"ph": "X", "cat": "kernel", "name": "work", "pid": 0, "tid": 7, "ts": now + wait + 30, "dur": length - wait - 100,
                 "args": {"device": 0, "stream": 7, "correlation": step + 1}},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "pid": 1, "tid": 1, "ts": now + wait + 40, "dur": length - wait - 60, "args": {"correlation": 1000 + step}},
            ]  # fmt: skip
            now += length
        (tmp_path / name).write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [compared.DEVICE], "traceEvents": events}))
        return str(tmp_path / name)

    one, five, other = steps("one.json", 1, 60000, 0), steps("five.json", 5, 0, 0.02), steps("other.json", 1, 3000, 0)
    found, document = verdict(program, one, five)
    assert found["name"] == "faster" and "low confidence" in document["lead"][0] and "is gone: idle input pipeline" in found["because"]
    assert verdict(program, five, one)[0]["name"] == "slower"
    assert verdict(program, other, five)[0]["name"] == "cannot tell"


def test_what_varies_slowly_within_a_recording_explains_a_difference(program, tmp_path):
    r = random.Random(3)

    def file(name, lengths):
        return compared.drawn(tmp_path / name, [length * r.gauss(1, 0.005) for length in lengths])

    slow_half, fast = file("half.json", [1.1] * 25 + [1.0] * 15), file("fast.json", [1.0] * 40)
    assert verdict(program, fast, slow_half)[0]["name"] == "cannot tell"
    drifting = file("drift.json", [1 + 0.004 * step for step in range(40)])
    assert verdict(program, fast, drifting)[0]["name"] == "cannot tell"
    assert verdict(program, fast, file("half_slow.json", [1.3] * 40))[0]["name"] == "slower"


def test_drawn_pairs_have_no_wrong_sign(program, tmp_path):
    for seed in range(12):
        what, loop, base, new, truth = compared.program_pair(random.Random(f"test {seed}"))
        for name, machine in (("base", base), ("new", new)):
            (tmp_path / f"{name}.json").write_text(trace_of(machine))
        word = verdict(program, str(tmp_path / "base.json"), str(tmp_path / "new.json"))[0]["name"]
        wrong = {"faster": truth > -1, "slower": truth < 1, "same": abs(truth) > 4}.get(word, abs(truth) > 10)
        assert not wrong, (seed, what, loop.every, truth, word)
