"""bench() and related functions on CPU code, by the host's clock: figures, options, failures. Times are compared
only where factors lie between them."""

import dataclasses
import json
import pickle
import statistics
import subprocess
import sys
import threading
import types
from array import array

import pytest

from gpu_profile import Comparison, Error, Measurement, bench, bench_compare, benchmark

QUICK = {"min_time_s": 0, "min_warmup_s": 0, "min_samples": 8, "max_samples": 8, "timer": "host"}


def work(count=300):
    return sum(range(count))


def test_figures_are_those_of_the_samples():
    found = bench(work, 500, timer="host", min_time_s=0.01, min_samples=50, max_samples=200)
    times = sorted(found.samples)
    assert 50 <= len(times) <= 200
    assert found.min_ns == times[0] > 0
    assert found.max_ns == times[-1]
    assert found.mean_ns == pytest.approx(statistics.fmean(times))
    assert found.std_ns == pytest.approx(statistics.pstdev(times))
    assert found.min_ns <= found.p5_ns <= found.p25_ns <= found.median_ns <= found.p75_ns <= found.p95_ns <= found.max_ns
    if found.interval is not None:  # absent when noise makes samples resemble their neighbours; exact: test_bench_frameworks.py
        assert found.interval.low <= found.median_ns <= found.interval.high
        assert found.interval.level >= 0.95
    assert found.median_ms == found.median_ns / 1e6
    assert (found.name, found.timer) == ("work", "host")


def test_what_was_not_measured_is_absent():
    found = bench(work, **QUICK)
    for name in ("device", "device_name", "host_ns", "sm_clock_mhz", "throttle", "throttled", "energy_per_call_j", "cycles",
                 "bytes_per_s", "flop_per_s", "memory", "power_w"):
        assert getattr(found, name) is None, name
    assert found.warmup.calls >= 1
    assert found.stopped


def test_arguments_reach_the_function_and_calls_are_counted():
    seen = []
    found = bench(lambda *args, **kwargs: seen.append((args, kwargs)), 1, "b", key=3, name="mine", **QUICK)
    assert set(map(repr, seen)) == {"((1, 'b'), {'key': 3})"}
    assert len(seen) >= found.calls + found.warmup.calls  # besides, calls that find out how many a sample needs
    assert found.calls == found.batch * len(found.samples)
    assert found.name == "mine"


def test_rates_are_of_the_median():
    found = bench(work, bytes=1000, flops=2e6, **QUICK)
    assert found.bytes_per_s == pytest.approx(1000 / (found.median_ns / 1e9))
    assert found.flop_per_s == pytest.approx(2e6 / (found.median_ns / 1e9))
    assert "GB/s" in str(found)
    assert "TFLOP/s" in str(found)


class Surprise(BaseException):
    pass


@pytest.mark.parametrize("after", [0, 5])
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, Surprise])
def test_exceptions_come_through_unchanged(kind, after):
    problem, calls = kind("mine"), []

    def fails():
        calls.append(1)
        if len(calls) > after:
            raise problem

    with pytest.raises(kind) as caught:
        bench(fails, **QUICK)
    assert caught.value is problem
    assert len(calls) == after + 1
    assert any(entry.name == "fails" for entry in caught.traceback)
    assert bench(work, **QUICK).median_ns > 0


def test_prepare_is_called_before_every_call():
    events = []

    def prepare():
        events.append("prepare")
        return (len(events),)

    found = bench(lambda number: events.append(number), prepare=prepare, **QUICK)
    assert events[::2] == ["prepare"] * (len(events) // 2)
    assert events[1::2] == list(range(1, len(events), 2))
    assert found.batch == 1


def test_prepare_that_returns_something_else():
    with pytest.raises(Error, match="prepare .*list"):
        bench(work, prepare=list, **QUICK)
    with pytest.raises(ZeroDivisionError):
        bench(work, prepare=lambda: 1 / 0, **QUICK)


@pytest.mark.parametrize("options, said", [
    ({"timer": "sundial"}, "timer 'sundial'"),
    ({"precision": -1}, "precision .*-1"),
    ({"min_time_s": float("nan")}, "min_time_s .*nan"),
    ({"stop": "never"}, "never"),
    ({"min_samples": 9, "max_samples": 3}, r"min_samples \(9\) must not exceed max_samples \(3\)"),
])
def test_options_that_cannot_be(options, said):
    with pytest.raises(Error, match=said) as caught:
        bench(work, **options)
    assert caught.value.code == 2
    assert "\n" not in caught.value.message


def test_the_timer_for_a_function_of_the_processor_says_so():
    assert any("host's clock" in note for note in bench(work, **{**QUICK, "timer": "auto"}).notes)


def test_stops_by_number_and_by_time():
    found = bench(work, timer="host", stop="samples", min_samples=12, min_time_s=0)
    assert (found.stopped, len(found.samples)) == ("number of samples reached", 12)
    found = bench(work, timer="host", stop="time", min_time_s=0.02, min_samples=1, min_warmup_s=0)
    assert found.stopped == "time reached"
    assert found.sampling_time_ns >= 20_000_000


def test_text_html_dict_json():
    found = bench(work, name="<b>", **QUICK)
    first, *others = str(found).splitlines()
    assert first.startswith("<b>: ")
    assert first.endswith("timer: host")
    assert any("8 samples" in line for line in others)
    assert "&lt;b&gt;" in found._repr_html_()
    values = json.loads(json.dumps(found.to_dict()))
    assert values["samples"] == found.samples.tolist()
    assert values["warmup"]["calls"] == found.warmup.calls
    assert "samples" not in found.to_dict(samples=False)


def test_pandas(monkeypatch):
    found = bench(work, **QUICK)
    fake = types.ModuleType("pandas")
    fake.DataFrame = lambda rows: rows
    monkeypatch.setitem(sys.modules, "pandas", fake)
    assert [row["time_ns"] for row in found.to_pandas()] == found.samples.tolist()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        found.to_pandas()


def test_decorator():
    @benchmark
    def plain(count):
        return sum(range(count))

    @benchmark(name="chosen", **QUICK)
    def configured(timer):  # an option's name, and still the function's
        return timer

    assert plain.__wrapped__(4) == 6
    assert isinstance(configured(timer=3), Measurement)
    assert configured(1).name == "chosen"
    with pytest.raises(Error, match="'colour'"):
        benchmark(colour=1)


def test_comparison_of_measurements_taken_apart():
    slow = dataclasses.replace(bench(work, **QUICK), name="slow", samples=array("d", [200 + i * 7 % 5 / 10 for i in range(40)]))
    fast = dataclasses.replace(slow, name="fast", samples=array("d", [100 + i * 7 % 5 / 10 for i in range(50)]))
    found = fast.compare(slow)
    assert isinstance(found, Comparison)
    assert (found.candidate, found.baseline, found.verdict, found.paired) == ("fast", "slow", "faster", False)
    assert found.speedup == pytest.approx(200.2 / 100.2, rel=0.001)
    assert 1.9 < found.interval.low <= found.speedup <= found.interval.high < 2.1
    assert slow.compare(fast).verdict == "slower"
    assert fast.compare(slow, min_effect=2).verdict != "faster"
    assert json.loads(json.dumps(found.to_dict()))["interval"]["low"] == found.interval.low
    assert str(found).startswith("fast ") and "slow: faster, speedup 1.9" in str(found)
    assert fast.compare(fast).verdict == "same"


def test_coroutines_and_generators_are_refused():
    async def later():
        pass

    def items():
        yield 1

    for fn in (later, items):
        with pytest.raises(Error, match="coroutine or generator"):
            bench(fn, **QUICK)


def test_a_measurement_can_be_sent_to_another_process():
    found = bench(work, memory=True, **QUICK)
    assert pickle.loads(pickle.dumps(found)).to_dict() == found.to_dict()


def test_functions_against_the_first():
    order = []
    functions = {
        "base": lambda count: (order.append("base"), sum(range(count)))[1],
        "quick": lambda count: (order.append("quick"), count)[1],
        "twin": lambda count: sum(range(count)),
    }
    found = bench_compare(functions, (20_000,), timer="host", min_time_s=0.02, timeout_s=1)
    assert list(found.measurements) == ["base", "quick", "twin"]
    assert found.comparisons.keys() == {"quick", "twin"}
    assert found.comparisons["quick"].speedup > 2
    assert found.comparisons["quick"].paired
    assert found.comparisons["quick"].baseline == "base"
    assert found["quick"].median_ns < found["base"].median_ns
    changes = sum(one != other for one, other in zip(order, order[1:]))
    assert changes > 10, "the samples were not taken in turn"
    lines = str(found).splitlines()
    assert lines[0] == "timer: host"
    assert "baseline" in lines[1]
    assert "speedup" in lines[2]
    assert found.rows()[0]["verdict"] == "baseline"
    assert found.to_dict()["comparisons"]["quick"]["speedup"] == found.comparisons["quick"].speedup
    assert "<td>twin</td>" in found._repr_html_()


def test_comparing_needs_two():
    with pytest.raises(Error, match="two functions.* 1"):
        bench_compare({"a": work})
    with pytest.raises(Error, match="'name'"):
        bench_compare({"a": work, "b": work}, name="x")


def test_comparing_a_list_names_functions_by_themselves():
    def same(_):
        return 0

    found = bench_compare([work, same], (1,), **QUICK)
    assert list(found.measurements) == ["work", "same"]
    for functions, said in (([work, work], "'work'"), ([work, 3], "3; pass a dictionary")):
        with pytest.raises(Error, match=said):
            bench_compare(functions, (1,), **QUICK)


def test_large_noise_has_no_exponent():
    found = dataclasses.replace(bench(work, **QUICK), noise=2.17, energy_per_call_j=0.5, energy_per_call_uncertainty_j=0.0421)
    assert "noise 217 %" in str(found)
    assert "0.5 J per call +- 0.042" in str(found)


def test_an_exception_in_the_second_of_two():
    with pytest.raises(ZeroDivisionError):
        bench_compare({"a": work, "b": lambda: 1 / 0}, **QUICK)


def test_within_each_other_and_in_threads():
    inner = []
    outer = bench(lambda: inner.append(bench(work, **QUICK)), **QUICK)
    assert outer.median_ns > inner[0].median_ns
    found = []
    threads = [threading.Thread(target=lambda: found.append(bench(work, **QUICK))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(one.samples) for one in found] == [8, 8, 8]


def test_names_are_not_shadowed_by_modules():
    code = (
        "import gpu_profile; gpu_profile.do_bench; gpu_profile.bench_compare; gpu_profile.Measurement; gpu_profile.memory\n"
        "import gpu_profile.benchmarking, gpu_profile.bench_memory\n"
        "assert all(map(callable, (gpu_profile.bench, gpu_profile.benchmark, gpu_profile.memory)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_old_library_is_told(tmp_path):
    code = (
        "import ctypes, gpu_profile\nfrom gpu_profile import native\n"
        "native._loaded = ctypes.CDLL(None)\n"
        "try: gpu_profile.bench(len, (), timer='host')\n"
        "except gpu_profile.GpuBackendError as problem: print(problem)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "rebuild" in done.stdout
