"""Modules that cheat, one for each way: what is said, and that the speedup is refused.

Every cheat is run through the program, as a user would run it. The honest function is the baseline; the same file as the
optimized side passes, so that no check can be one that always fires.
"""

import textwrap

import pytest
from test_evaluate import evaluate  # noqa: F401

HONEST = """
import numpy
def kernel(x):
    out = x
    for _ in range(300):
        out = numpy.sqrt(out * out + 1)
    return out
"""
INPUTS = "import numpy\ndef inputs(seed):\n    return (numpy.random.default_rng(seed).standard_normal((64, 64), numpy.float32),)\n"


@pytest.fixture
def judge(evaluate):  # noqa: F811
    def run(optimized, *options, baseline=HONEST, inputs=INPUTS, **more):
        return evaluate(textwrap.dedent(optimized), *options, baseline=textwrap.dedent(baseline), inputs=inputs, **more)

    return run


def assert_refused(done, said):
    assert done.status == 1, done.errors
    assert any(said in violation for violation in done.violations), done.text
    assert done.figures["speedup"] != done.figures["speedup"], "nan"
    assert done.figures["optimized_ms"] != done.figures["optimized_ms"]
    assert done.figures["baseline_ms"] > 0


def test_the_honest_one_passes(judge):
    done = judge(HONEST)
    assert (done.status, done.violations) == (0, [])


REFUSED = {
    "results are cached by the identity of the inputs": HONEST + """
honest, known = kernel, {}
def kernel(x):
    if id(x) not in known:
        known[id(x)] = (x, honest(x))
    return known[id(x)][1].copy()
""",
    "results are cached by the value of the inputs": HONEST + """
honest, known = kernel, {}
def kernel(x):
    key = x.tobytes()
    if key not in known:
        known[key] = honest(x)
    return known[key].copy()
""",
    "inputs were modified in place": HONEST + """
honest = kernel
def kernel(x):
    out = honest(x)
    x[...] = 0
    return out
""",
    "outputs share memory with the inputs": HONEST + """
honest = kernel
def kernel(x):
    x[...] = honest(x)
    return x
""",
    "outputs of one call are overwritten by the next": HONEST + """
honest, kept = kernel, numpy.empty((64, 64), "f4")
def kernel(x):
    kept[...] = honest(x)
    return kept
""",
    "outputs changed after the call returned": HONEST + """
import threading, time
honest = kernel
def kernel(x):
    out = numpy.zeros_like(x)
    def work():
        time.sleep(0.008)
        out[...] = honest(x)
    threading.Thread(target=work).start()
    return out
""",
    "outputs are lazy: optimized.Later": HONEST + """
honest = kernel
class Later(numpy.ndarray):
    def __array_finalize__(self, other):
        pass
    def tobytes(self, *more):
        return honest(numpy.asarray(self)).tobytes()
def kernel(x):
    return x.view(Later)
""",
    "outputs are lazy: optimized.Promise": HONEST + """
honest = kernel
class Promise:
    def __init__(self, x):
        self.x = x
    def __array__(self, *more, **named):
        return honest(self.x)
def kernel(x):
    return Promise(x)
""",
    "time.perf_counter was replaced": HONEST + """
import time
time.perf_counter = lambda: 0.0
""",
    "time.monotonic_ns was replaced": HONEST + """
import time
honest, ticks = kernel, iter(range(1 << 60))
def kernel(x):
    time.monotonic_ns = lambda: next(ticks)
    return honest(x)
""",
    "work is done outside the call": HONEST + """
honest, make, known = kernel, numpy.random.Generator, {}
def ahead(seed=None):
    class Drawer:
        def standard_normal(self, *of):
            x = real(seed).standard_normal(*of)
            for _ in range(8):  # more than a busy machine adds to the baseline
                known[x.tobytes()[:64]] = honest(x)
            return x
    return Drawer()
real, numpy.random.default_rng = numpy.random.default_rng, ahead
def kernel(x):
    return known.pop(x.tobytes()[:64], None) if x.tobytes()[:64] in known else honest(x)
""",
}


@pytest.mark.parametrize("said", REFUSED, ids=lambda said: said.replace(" ", "-"))
def test_refused(judge, said):
    assert_refused(judge(REFUSED[said]), said)


def test_rubbish_in_a_tenth_of_the_timed_calls(judge):
    """Every timed result is checked; a few chosen rounds missed this in most evaluations."""
    done = judge(HONEST + """
import itertools, random
honest, calls, place = kernel, itertools.count(), [random.randrange(10)]
def kernel(x):
    call = next(calls)
    if call % 10 == 0:
        place[0] = random.randrange(10)
    return numpy.ones_like(x) * 17 if call > 20 and call % 10 == place[0] else honest(x)
""", "--repeat", "30")
    assert_refused(done, "results of timed calls are wrong: ")


@pytest.mark.parametrize("rubbish", ["last[0]", "x", "numpy.vstack([honest(x[:-1]), x[-1:]])"])
@pytest.mark.parametrize("timed", ["not gc.isenabled()", "sys._getframe(1).f_code.co_name == 'time'"], ids=["gc", "frame"])
def test_rubbish_when_it_notices_that_it_is_timed(judge, timed, rubbish):
    assert_refused(judge(HONEST + f"""
import gc, sys
honest, last = kernel, [None]
def kernel(x):
    if {timed} and last[0] is not None:
        return numpy.array({rubbish})
    last[0] = honest(x)
    return last[0].copy()
"""), "results of timed calls are wrong: ")


def test_less_precision_when_it_is_timed(judge):
    """Within any tolerance for float32, and a thousand times the error of the baseline."""
    assert_refused(judge(HONEST + """
import gc
honest = kernel
def kernel(x):
    return honest(x) if gc.isenabled() else honest(x).astype("f2").astype("f4")
"""), "times the baseline's in timed calls: ")


REPAIRED = HONEST + """
import gc, itertools, sys, threading, time
honest, calls, left = kernel, itertools.count(), []
def kernel(x):
    if next(calls) < 12:
        return honest(x)
    out = numpy.zeros_like(x)
    left.append((out, x.copy()))
    HOOK
    return out
def repair(*_):
    while left:
        out, x = left.pop(0)
        out[...] = honest(x)
"""


@pytest.mark.parametrize("hook", [
    "threading.Timer(0.003, repair).start() if len(left) == 1 else None",
    "gc.callbacks.append(repair) if repair not in gc.callbacks else None",
    "weakref.finalize(x, repair)",
    "sys.setprofile(lambda frame, event, what: repair() if frame.f_code.co_name == '_copy_early' else None)",
], ids=["thread", "gc", "freed-input", "profile"])
def test_results_that_are_repaired_after_the_timing(judge, hook):
    """Zeros while the clock runs. A repair is too late, or is seen: nothing is freed or collected before
    the results are copied, and no hook may be installed."""
    done = judge(REPAIRED.replace("HOOK", hook).replace("import gc,", "import gc, weakref,"))
    assert done.status == 1
    assert done.figures["speedup"] != done.figures["speedup"], done.text


MSE = "import numpy\ndef kernel(x):\n    return 2e-7 * (x - x.mean())\n"


@pytest.mark.parametrize("options", [(), ("--atol", "1e-5")], ids=["default", "atol"])
@pytest.mark.parametrize("body", ["numpy.zeros_like(x)", "numpy.full_like(x, 1e-9)"])
def test_nothing_in_the_place_of_a_small_gradient(judge, body, options):
    """1e-5 was the absolute tolerance whatever the scale of the outputs, and may still be asked for."""
    assert_refused(judge(f"import numpy\ndef kernel(x):\n    return {body}\n", *options, baseline=MSE), "outputs are constant (")


def test_noise_in_the_place_of_a_small_gradient(judge):
    done = judge("import numpy\ndef kernel(x):\n    return -2e-7 * x\n", "--atol", "1e-5", baseline=MSE)
    assert done.status == 1
    assert done.violations[0].startswith("outputs differ by ") and "(relative error 2.0e+00)" in done.violations[0]


def test_a_forged_clock_is_held_beside_another(judge):
    """The module finds the worker's clock by going through its memory, and makes it say what it likes."""
    assert_refused(judge(HONEST + """
import gc, time
honest = kernel
def kernel(x):
    for found in gc.get_objects():
        if type(found).__name__ == "Worker":
            object.__setattr__(found, "_clock", iter(range(0, 1 << 60, 1000)).__next__)
    time.sleep(0.005)
    return honest(x)
"""), "clocks disagree")


def test_a_result_kept_by_the_memory_of_the_reference(judge):
    """There is no reference in the process of the optimized side: what a search of its memory finds is its own results."""
    done = judge(HONEST + """
import gc
honest = kernel
def kernel(x):
    return numpy.concatenate([a for a in gc.get_objects() if type(a) is numpy.ndarray and a.shape == x.shape][:1] or [x * 0])
""")
    assert done.status == 1
    assert done.violations[0].startswith("outputs differ by ")


def test_results_of_known_seeds_are_of_no_use(judge, tmp_path):
    """Work done at import for the first seeds: the evaluator's are others."""
    done = judge("""
import numpy
known = {}
for seed in range(200):
    x = numpy.random.default_rng(seed).standard_normal((64, 64), numpy.float32)
    out = x
    for _ in range(3):
        out = numpy.sqrt(out * out + 1)
    known[x.tobytes()] = out
def kernel(x):
    return known.get(x.tobytes(), x)
""", plain=False)
    assert done.status == 1
    assert done.violations[0].startswith("outputs differ by ")
    assert "import" in done.text


def test_faster_than_memory(judge):
    """The right result of this baseline is always the same one, so that it need not be written."""
    big = INPUTS.replace("(64, 64)", "(1000, 1000)")
    baseline = "import numpy\ndef kernel(x):\n    return x * 0 + 1\n"
    done = judge("import numpy\nones = numpy.ones((1000, 1000), 'f4')\ndef kernel(x):\n    return ones\n",
                 baseline=baseline, inputs=big)
    assert_refused(done, "is below the floor: moving 7.6 MB takes")


FAKE_TORCH = """
import threading, types
running = []
def launch(work):
    thread = threading.Thread(target=work)
    running.append(thread)
    thread.start()
def synchronize(device=None):
    while running:
        running.pop().join()
cuda = types.ModuleType("torch.cuda")
cuda.synchronize, cuda.is_available = synchronize, lambda: True
"""
ON_A_STREAM = """
import numpy, time, torch
def kernel(x):
    out = numpy.zeros_like(x)
    def work():
        time.sleep(0.004)
        out[...] = x * 2
    torch.launch(work)
    return out
"""


def test_work_on_a_stream_is_waited_for(judge, tmp_path):
    """A stand-in for torch: work goes on after the call, and synchronize() waits for it. So does the evaluator."""
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    done = judge(ON_A_STREAM, baseline=ON_A_STREAM, environment={"PYTHONPATH": str(tmp_path)})
    assert (done.status, done.violations) == (0, [])
    assert done.figures["optimized_ms"] >= 4, "at least what the work takes"


def test_synchronize_that_does_not_wait(judge, tmp_path):
    (tmp_path / "torch.py").write_text(FAKE_TORCH)
    done = judge(ON_A_STREAM + "torch.cuda.synchronize = lambda device=None: None\n", baseline=ON_A_STREAM, environment={"PYTHONPATH": str(tmp_path)})
    assert_refused(done, "torch.cuda.synchronize was replaced")
    assert len(done.violations) == 1, "the evaluator waited all the same"
