"""What samples say against a figure: each rule of evaluation/timing.py on samples that are drawn up here, honest ones with the
noise of a busy machine among them. No process and no clock."""

import random
from types import SimpleNamespace

import pytest

from gpu_profile.evaluation import ratio, timing, verdict
from gpu_profile.evaluation.sampler import TimedSample


def shots(count=30, **figures):
    """Samples of one call of 1 ms; a figure is a number, or a function of the sample's index."""
    plain = {"calls": 1, "prepare_ns": 1e5, "busy_ns": 5e5, "outside_ns": 1.1e6, "inside_ns": 1e6, **figures}
    return [TimedSample(**{name: value(index) if callable(value) else value for name, value in plain.items()}) for index in range(count)]


def on_device(**figures):
    return shots(**{"device_ns": 9.8e5, "beyond_ns": 4e3, "idle_wait_ns": 4e3, **figures})


def busy(value, share=0.7, wait=2e7, seed=3):
    """Return the value, increased in most samples by a wait for a CPU."""
    draw = random.Random(seed)
    return lambda _: value + (wait * draw.random() if draw.random() < share else 0)


def test_events_are_the_figure_when_all_samples_have_them():
    both = {"baseline": on_device(), "optimized": on_device(device_ns=5e5)}
    assert timing.timer_of(both) == ("cuda events", None)
    assert timing.per_call_ms(both["optimized"], "cuda events") == [0.5] * 30
    assert timing.per_call_ms(both["optimized"], "host") == [1.0] * 30
    one = shots(1, reason="no stream")
    assert timing.timer_of({**both, "optimized": both["optimized"][1:] + one}) == ("host", "no stream")
    timer, why = timing.timer_of({**both, "baseline": on_device(beyond_ns=5e5)})
    assert timer == "host" and why.startswith("baseline: work is done on another stream: the device is busy for 0.5000 ms")


@pytest.mark.parametrize(("samples", "found"), [
    (on_device(beyond_ns=9e5, device_ns=1e4), True),
    (on_device(beyond_ns=9e4, device_ns=1e4), True),
    (on_device(beyond_ns=lambda i: 9e5 if i % 8 else 0, device_ns=1e4), False),  # not in one of eight
    (on_device(beyond_ns=busy(4e3)), False),
    (on_device(beyond_ns=2.3e4), False),
    (on_device(beyond_ns=9e4, idle_wait_ns=4e4), False),  # waiting takes long here
    (on_device(beyond_ns=9e4, device_ns=1e7), False),  # a hundredth of the time
    (shots(), False),
])
def test_work_elsewhere(samples, found):
    assert (timing.elsewhere(samples) is not None) == found


@pytest.mark.parametrize(("samples", "said"), [
    (shots(), None),
    (shots(outside_ns=6.4e6, busy_ns=6e6), "clocks disagree: 1.0000 ms inside the process, 6.0000 ms outside"),
    (shots(outside_ns=busy(1.1e6)), None),
    (shots(outside_ns=6e6), None),  # the wait for a CPU
    (on_device(), None),
    (on_device(inside_ns=busy(1e6), outside_ns=busy(1.1e6, wait=5e7)), None),
    (on_device(device_ns=1e4), "clocks disagree: 0.0100 ms on the device, 1.0000 ms until completion"),
    (on_device(device_ns=1e4, beyond_ns=9.7e5), None),  # that is what elsewhere() is about
])
def test_clocks(samples, said):
    assert timing.clocks_apart(samples) == said


def test_work_in_the_preparation():
    plain = shots()
    said = timing.prepared_elsewhere(plain, shots(prepare_ns=2e6))
    assert said is not None and "outside the call" in said and "2.0000 ms" in said and "0.1000 ms" in said
    assert timing.prepared_elsewhere(plain, shots(prepare_ns=busy(1e5))) is None
    assert timing.prepared_elsewhere(plain, shots(prepare_ns=3.5e5)) is None, "too little to matter"


def test_too_long_a_wait_for_a_cpu_accuses_nobody():
    """What the baseline's clock has less, in a fifth of the samples, is not what the module does outside."""
    plain = shots(prepare_ns=lambda i: 0 if i % 5 == 0 else 1.15e6, busy_ns=lambda i: 0 if i % 5 == 0 else 1.2e6)
    assert timing.prepared_elsewhere(plain, shots(prepare_ns=1.2e6)) is None
    assert timing.answers_late(plain, shots(busy_ns=1.2e6)) is None


def test_waiting_for_a_processor_is_not_in_the_time_of_the_inputs(monkeypatch):
    """The evaluator's clock, less what the system says that the processes stood in the queue."""
    from gpu_profile.evaluation.sampler import Sampler

    class Side:
        outside_ns, waited_ns = 5_000_000, 4_900_000

        def ask(self, do, **_):
            return {"ns": 1e6, "no_device_time": "none"}, []

    assert Sampler().sample(Side()).prepare_ns == 1e5


def test_the_system_says_how_long_a_side_waited(tmp_path):
    from gpu_profile.evaluation.side import Side

    (tmp_path / "module.py").write_text("def kernel(x):\n    return x\n")
    side = Side("baseline", {"module": str(tmp_path / "module.py"), "inputs": None, "entry": "kernel", "frameworks": []}, 30.0)
    try:
        side.ask("inputs")
        assert 0 <= side.waited_ns <= 2 * side.outside_ns, "two processes"
    finally:
        side.close()


def test_caches_and_the_floor():
    assert timing.cached([5.1] * 5, [0.2] * 5).startswith("results are cached by the value of the inputs: ")
    assert timing.cached([5.1] * 5, [0.2, 4, 9, 7, 5]) is not None, "other work slowed most of the repeated calls"
    assert timing.cached([5.1, 60, 90, 0.3, 7], [0.2] * 5) is None, "one new call was as fast"
    assert timing.cached_undecided([5.1] * 5, [3, 4, 9, 7, 5.2]), "other work may have slowed all repeated calls"
    assert not timing.cached_undecided([5.1] * 5, [5, 4.9, 5.3, 7, 5.2]) and not timing.cached_undecided([5.1] * 5, [0.2] * 5)
    assert timing.floor_broken([1.0], [0.001], 0.9, 1 << 20) == "0.0010 ms is below the floor: moving 1.0 MB takes 0.9000 ms"
    assert timing.floor_broken([0.05], [0.001], 0.9, 1 << 20) is None, "so is the baseline"
    assert timing.floor_broken([1.0], [0.2], 0.9, 1 << 20) is None
    assert timing.floor_broken([1.0], [0.001], None, 1 << 20) is None


def test_medians_that_other_work_slowed_are_named():
    """Rounds of equal ratio, of which other work slowed most of one side's: the medians alone say something else."""
    def told(baseline, optimized, low, high):
        evaluation = SimpleNamespace(
            violations=SimpleNamespace(void=False), ratio=ratio.Ratio(1.28, low, high, "faster", "bootstrap"), times={"baseline": baseline, "optimized": optimized})
        return verdict._apart(evaluation)

    slowed = [9.0, 9.1, 27.2, 27.3, 27.4]
    assert "The medians alone would give 4.6897" in told(slowed, [5.8] * 5, 1.2, 1.4)
    assert told(slowed, [5.8] * 5, 1.2, 4.7) == "" == told(slowed, [5.8] * 5, None, None)
