"""GpuMonitor against recorded series: its figures are those that an independent computation gives, and its parts
(samples, several devices, warm-up, nesting, threads, running again) do what they say."""

import json
import math
import threading
import time

import pytest
import replayed

from gpu_profile import Error, GpuBackendError, GpuMonitor, GpuSummary
from patience import HANGS_S

BURSTY = replayed.all_at_once(replayed.BURSTY)
NOT_RECORDED = (
    "mem_total_mb", "mem_util_pct", "sm_clock_limit_mhz", "gpm_sm_active_mean", "gpm_sm_occupancy_mean",
    "gpm_tensor_mean", "gpm_dram_mean",
)


@pytest.fixture(scope="module")
def bursty():
    recorded = len(replayed.read(replayed.BURSTY)["t_s"])
    with GpuMonitor(backend=BURSTY, interval_s=0.01, store_samples=True) as monitor:
        replayed.until(lambda: len(monitor.samples) == recorded)  # the start waits for the first ones
    return monitor


def test_figures_of_a_recording(bursty):
    found = bursty.summary
    for field, figure in replayed.expected(replayed.BURSTY).items():
        assert getattr(found, field) == pytest.approx(figure, rel=1e-9, abs=1e-6), field
    for field in NOT_RECORDED:
        assert getattr(found, field) is None, field
    assert (found.device, found.backend, found.interval_s) == (0, "replay", 0.01)
    assert len(found.sparkline) > 10


def test_a_replay_says_so(bursty):
    assert any("replayed from" in note for note in bursty.summary.notes)
    assert "replayed" in bursty.summary.format()


def test_samples_are_the_recording(bursty):
    recorded = replayed.read(replayed.BURSTY)
    samples = bursty.samples
    assert len(samples) == len(recorded["t_s"])
    times = [sample.time_s for sample in samples]
    assert times == sorted(times)
    for field in ("util_gpu", "util_mem", "mem_used_mb", "power_w", "energy_j"):
        assert [getattr(sample, field) for sample in samples] == pytest.approx(recorded[field]), field
    assert [sample.throttle_reasons for sample in samples] == [int(bits) for bits in recorded["throttle"]]
    begun = recorded["t_s"][0]
    assert [time - times[0] for time in times] == pytest.approx([t - begun for t in recorded["t_s"]], abs=1e-5)
    assert {sample.mem_total_mb for sample in samples} == {None}


def test_percentiles_interpolate(tmp_path):
    backend = replayed.write(tmp_path / "four.csv", time_s=[0, 1, 2, 3], util_gpu=[0, 10, 20, 100])
    with GpuMonitor(backend=backend) as monitor:
        pass
    found = monitor.summary
    assert (found.util_gpu_p5, found.util_gpu_p50) == pytest.approx((1.5, 15))
    assert (found.util_gpu_p95, found.util_gpu_p99) == pytest.approx((88, 97.6))
    assert (found.idle_pct, found.active_pct, found.duration_s) == (25, 25, 3)


def test_one_sample_has_no_deviation(tmp_path):
    backend = replayed.write(tmp_path / "one.csv", time_s=[5], util_gpu=[40])
    with GpuMonitor(backend=backend) as monitor:
        pass
    assert (monitor.summary.util_gpu_mean, monitor.summary.util_gpu_std) == (40, None)


def test_absent_is_absent(tmp_path):
    backend = replayed.write(tmp_path / "holes.csv", time_s=[0, 1, 2], util_gpu=[None, 50, None], power_w=[None] * 3)
    with GpuMonitor(backend=backend, store_samples=True) as monitor:
        pass
    assert (monitor.summary.util_gpu_mean, monitor.summary.power_mean_w, monitor.summary.energy_j) == (50, None, None)
    assert [sample.util_gpu for sample in monitor.samples] == [None, 50, None]
    assert json.loads(monitor.summary.to_json())["power_mean_w"] is None


def test_several_devices(tmp_path):
    file = tmp_path / "two.csv"
    backend = replayed.write(file, time_s=[0, 0, 1, 1], device=[0, 1, 0, 1], util_gpu=[10, 80, 20, 100])
    with GpuMonitor(device="all", backend=backend, store_samples=True) as monitor:
        pass
    assert [(one.device, one.util_gpu_mean) for one in monitor.summaries] == [(0, 15), (1, 90)]
    assert [(sample.device, sample.util_gpu) for sample in monitor.samples] == [(0, 10), (1, 80), (0, 20), (1, 100)]
    assert monitor.summary == monitor.summaries[0]
    with GpuMonitor(device=[1], backend=backend) as monitor:
        pass
    assert [(one.device, one.util_gpu_mean) for one in monitor.summaries] == [(1, 90)]


def test_samples_are_stored_only_when_asked(tmp_path):
    backend = replayed.write(tmp_path / "s.csv", time_s=[0, 1], util_gpu=[1, 2])
    with GpuMonitor(backend=backend) as monitor:
        pass
    assert monitor.samples == []


def test_more_samples_than_are_kept(tmp_path):
    count = 2_000
    backend = replayed.write(tmp_path / "s.csv", time_s=range(count), util_gpu=[i % 100 for i in range(count)])
    with GpuMonitor(backend=backend, store_samples=True, max_samples=500) as monitor:
        pass
    found = monitor.summary
    assert (found.n_samples, found.util_gpu_mean) == (count, pytest.approx(49.5))
    assert len(monitor.samples) == 500
    assert any("500 of 2000" in note.replace(",", "") for note in found.notes)
    # 95 % of choices are within the error that the note states, and the choice is always the same one.
    assert abs(found.util_gpu_p50 - 49.5) < 100 * math.sqrt(math.log(2 / 0.05) / (2 * 500))


def live(tmp_path, seconds=30, step=0.01):
    """A long recording, played as if live."""
    count = int(seconds / step)
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=[i * step for i in range(count)], util_gpu=[100 if i % 2 else 0 for i in range(count)])
    return f"replay:{file}"


def test_live_replay_takes_as_long_as_the_region(tmp_path):
    begun = time.perf_counter()
    with GpuMonitor(backend=live(tmp_path), interval_s=0.01, store_samples=True) as monitor:
        entered = time.perf_counter()
        time.sleep(0.4)
        assert replayed.until(lambda: monitor.summary.n_samples > 5)
        within = time.perf_counter() - entered
    found = monitor.summary
    assert within - 0.01 <= found.duration_s <= time.perf_counter() - begun
    assert 5 < found.n_samples <= len(monitor.samples) <= found.duration_s / 0.01 + 20
    assert 20 < found.util_gpu_mean < 80


def test_warmup_is_left_out(tmp_path):
    backend = live(tmp_path)
    begun = time.perf_counter()
    with GpuMonitor(backend=backend, interval_s=0.01, store_samples=True, warmup_s=0.3) as monitor:
        time.sleep(0.5)
    passed = time.perf_counter() - begun
    found = monitor.summary
    assert found.n_samples < len(monitor.samples)
    assert 0.15 <= found.duration_s <= passed - 0.25
    counted = [sample for sample in monitor.samples if sample.time_s >= 0.3]
    assert abs(found.n_samples - len(counted)) <= 2


def test_summary_while_it_runs(tmp_path):
    monitor = GpuMonitor(backend=live(tmp_path), interval_s=0.01, store_samples=True).start()
    try:
        replayed.until(lambda: monitor.summary.n_samples >= 3)
        early = monitor.summary
        assert early.n_samples >= 3
        assert len(monitor.samples) >= 3
    finally:
        monitor.stop()
    assert monitor.summary.n_samples >= early.n_samples
    assert monitor.summary.duration_s > early.duration_s


def test_used_again_begins_anew(tmp_path):
    first = replayed.write(tmp_path / "s.csv", time_s=[0, 1], util_gpu=[10, 10])
    monitor = GpuMonitor(backend=first)
    for util in (10, 70):
        replayed.write(tmp_path / "s.csv", time_s=[0, 1], util_gpu=[util, util])
        with monitor:
            pass
        assert (monitor.summary.util_gpu_mean, monitor.summary.n_samples) == (util, 2)


def test_nested_use_of_one_monitor_is_one_region(tmp_path):
    calls = []
    monitor = GpuMonitor(backend=live(tmp_path), interval_s=0.01, sync_fn=lambda: calls.append(monitor._region is None))
    with monitor:
        with monitor:
            time.sleep(0.05)
        inner = monitor.summary  # it goes on
        time.sleep(0.2)
    assert monitor.summary.duration_s >= inner.duration_s + 0.19
    assert calls == [True, False]  # once before, once at the end


def test_nested_monitors_are_independent(tmp_path):
    backend = live(tmp_path)
    with GpuMonitor(backend=backend, interval_s=0.01) as outer:
        with GpuMonitor(backend=backend, interval_s=0.01) as inner:
            time.sleep(0.1)
        time.sleep(0.2)
    assert outer.summary.duration_s >= inner.summary.duration_s + 0.19


def test_start_and_stop_may_come_twice(tmp_path):
    backend = replayed.write(tmp_path / "s.csv", time_s=[0, 1], util_gpu=[10, 20])
    monitor = GpuMonitor(backend=backend)
    monitor.stop()
    assert monitor.start() is monitor
    monitor.start()
    monitor.stop()
    monitor.stop()
    assert monitor.summary.util_gpu_mean == 15


def test_before_the_first_region_there_is_no_summary():
    with pytest.raises(Error, match="has not run yet"):
        GpuMonitor().summary
    assert GpuMonitor().samples == []


def test_two_monitors_in_two_threads(tmp_path):
    found = {}

    def work(name, util):
        backend = replayed.write(tmp_path / f"{name}.csv", time_s=[0, 1, 2], util_gpu=[util] * 3)
        for _ in range(20):
            with GpuMonitor(backend=backend) as monitor:
                time.sleep(0.001)
            found.setdefault(name, set()).add((monitor.summary.util_gpu_mean, monitor.summary.n_samples))

    threads = [threading.Thread(target=work, args=(name, util)) for name, util in (("a", 10), ("b", 90))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_S)
    assert found == {"a": {(10, 3)}, "b": {(90, 3)}}


def test_one_monitor_in_many_threads(tmp_path):
    monitor = GpuMonitor(backend=live(tmp_path), interval_s=0.01, store_samples=True)
    problems = []

    def work():
        try:
            for _ in range(10):
                with monitor:
                    monitor.summary
                    monitor.samples
                monitor.start()
                monitor.stop()
        except BaseException as problem:  # noqa: BLE001
            problems.append(problem)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_S)
    assert problems == []
    assert monitor._region is None
    assert isinstance(monitor.summary, GpuSummary)


@pytest.mark.parametrize("arguments, message", [
    ({"interval_s": 0}, "interval_s .*0"),
    ({"interval_s": 0.0001}, "at least 0.001"),
    ({"interval_s": math.nan}, "interval_s .*nan"),
    ({"interval_s": math.inf}, "interval_s .*inf"),
    ({"warmup_s": -1}, "warmup_s .*-1"),
    ({"warmup_s": math.nan}, "warmup_s .*nan"),
    ({"max_samples": 0}, "max_samples .*0"),
    ({"device": -1}, "device -1"),
    ({"device": " "}, "device ''"),
    ({"backend": "nvlm"}, "backend 'nvlm'.*'nvml'"),
])
def test_wrong_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        GpuMonitor(**arguments)


@pytest.mark.parametrize("arguments", [
    {"device": True}, {"device": None}, {"device": 1.5}, {"device": [0, None]}, {"sync_fn": 3}, {"backend": None}, {"backend": 3},
])
def test_wrong_types(arguments):
    with pytest.raises(TypeError, match="expected"):
        GpuMonitor(**arguments)


def test_a_recording_that_does_not_exist(tmp_path):
    backend = f"replay:{tmp_path}/absent.csv"
    with GpuMonitor(backend=backend) as monitor:
        time.sleep(0.01)
    assert monitor.summary.n_samples == 0
    assert monitor.summary.duration_s >= 0.01
    assert any("absent.csv" in note for note in monitor.summary.notes)
    with pytest.raises(GpuBackendError, match="absent.csv"):
        GpuMonitor(backend=backend, strict=True).start()


def test_backend_none_measures_the_time():
    begun = time.perf_counter()
    with GpuMonitor(device=3, backend="none", interval_s=0.5) as monitor:
        time.sleep(0.05)
    found = monitor.summary
    assert (found.device, found.backend, found.n_samples, found.interval_s) == (3, "none", 0, 0.5)
    assert (found.util_gpu_mean, found.busy_time_est_s, found.energy_j) == (None, None, None)
    assert 0.05 <= found.duration_s <= time.perf_counter() - begun
    assert found.notes


def test_samples_as_a_capture(tmp_path):
    import gpu_profile

    capture = tmp_path / "run.gpuprof"
    with GpuMonitor(backend=BURSTY, capture=capture):
        pass
    (table,) = gpu_profile.report(capture, "samples", limit=0)["tables"]
    assert table["rows"]


def test_output_is_untouched(capfd):
    with GpuMonitor(backend=BURSTY):
        pass
    assert capfd.readouterr() == ("", "")
