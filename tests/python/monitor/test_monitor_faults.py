"""GpuMonitor where things go wrong: the region fails, sync_fn fails, the process forks or is gone, the library is
missing. The monitored code runs and is told its own errors, nothing hangs, and nothing is left behind."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import pytest
import replayed
from nightly import times

from gpu_profile import Error, GpuBackendError, GpuMonitor
from gpu_profile import native as native_layer
from patience import HANGS_S


@pytest.fixture
def recording(tmp_path):
    return replayed.write(tmp_path / "s.csv", time_s=[0, 1, 2], util_gpu=[10, 20, 60])


@pytest.fixture
def without_library(monkeypatch, tmp_path):
    monkeypatch.setenv("GPUPROF_LIBRARY", str(tmp_path / "absent.so"))
    monkeypatch.setattr(native_layer, "_loaded", None)


def run_python(code, *arguments, **environment):
    """A program of its own, which must end in time."""
    command = [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)]
    return subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=HANGS_S, check=False
    )


def processes_with(marker):
    """Ids of living processes whose environment holds the marker."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as file:
                if marker.encode() in file.read():
                    found.append(int(process))
        except OSError:
            continue
    return found


def test_exception_of_the_region_is_raised_and_the_monitor_stopped(recording):
    monitor = GpuMonitor(backend=recording)
    with pytest.raises(ZeroDivisionError):
        with monitor:
            1 / 0
    assert monitor._region is None
    assert monitor.summary.util_gpu_mean == 30


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
def test_every_way_out(recording, leave):
    monitor = GpuMonitor(backend=recording)
    with pytest.raises(leave):
        with monitor:
            raise leave
    assert monitor._region is None


def test_sync_fn_that_fails_before_starts_nothing(recording):
    def sync():
        raise OSError("device lost")

    monitor = GpuMonitor(backend=recording, sync_fn=sync)
    with pytest.raises(OSError, match="device lost"):
        with monitor:
            pytest.fail("the region ran")
    assert monitor._region is None
    assert monitor._depth == 0
    monitor._sync_fn = None
    with monitor:
        pass
    assert monitor.summary.n_samples == 3


def failing_second_time():
    calls = []

    def sync():
        calls.append(1)
        if len(calls) == 2:
            raise OSError("an earlier kernel failed")

    return sync


def test_sync_fn_that_fails_after_is_raised_with_the_monitor_stopped(recording):
    monitor = GpuMonitor(backend=recording, sync_fn=failing_second_time())
    with pytest.raises(OSError, match="an earlier kernel failed"):
        with monitor:
            pass
    assert monitor._region is None
    assert monitor.summary.util_gpu_mean == 30


def test_the_regions_own_exception_wins_over_sync_fn(recording):
    with pytest.raises(ZeroDivisionError), pytest.warns(RuntimeWarning, match="sync_fn failed .* an earlier kernel"):
        with GpuMonitor(backend=recording, sync_fn=failing_second_time()):
            1 / 0


def test_the_same_where_warnings_are_errors(recording):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ZeroDivisionError):
            with GpuMonitor(backend=recording, sync_fn=failing_second_time()):
                1 / 0


def test_without_the_library_the_region_runs_and_the_summary_says_why(without_library):
    with GpuMonitor(device=2, interval_s=0.1) as monitor:
        time.sleep(0.02)
    found = monitor.summary
    assert (found.device, found.backend, found.n_samples, found.util_gpu_mean) == (2, "none", 0, None)
    assert 0.02 <= found.duration_s < 20
    (note,) = found.notes
    assert note.startswith("no samples: cannot load libgpuprof.so: ")
    assert "absent.so" in note
    assert note in found.format()


def test_without_the_library_strict_refuses(without_library):
    with pytest.raises(GpuBackendError, match="absent.so") as caught:
        with GpuMonitor(strict=True):
            pytest.fail("the region ran")
    assert "\n" not in caught.value.message


def test_where_the_library_is_looked_for(monkeypatch, tmp_path):
    from gpu_profile import program

    monkeypatch.delenv("GPUPROF_LIBRARY", raising=False)
    monkeypatch.setattr(native_layer, "_loaded", None)
    monkeypatch.setattr(program, "__file__", str(tmp_path / "python" / "gpu_profile" / "program.py"))
    with pytest.raises(GpuBackendError, match="libgpuprof.so in .*build it with ./run"):
        native_layer.library()


def test_a_library_of_something_else(monkeypatch):
    monkeypatch.setenv("GPUPROF_LIBRARY", "libc.so.6")
    monkeypatch.setattr(native_layer, "_loaded", None)
    with pytest.raises(GpuBackendError, match="libc.so.6 does not match this package"):
        native_layer.library()


def test_errors_survive_pickling():
    for problem in (Error(3, "cannot read x"), GpuBackendError(None, "no library")):
        copy = pickle.loads(pickle.dumps(problem))
        assert (type(copy), copy.code, copy.message, str(copy)) == (type(problem), problem.code, problem.message, str(problem))


def in_child(work):
    """Forks, runs work() in the child and returns its exit status; a child that hangs is killed and fails the test."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = work()
        finally:
            os._exit(status)
    deadline = time.monotonic() + HANGS_S
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return pytest.fail("the child hangs")


def test_fork_in_the_region(recording):
    syncs = []
    monitor = GpuMonitor(backend=recording, store_samples=True, sync_fn=lambda: syncs.append(os.getpid()))

    def leave():
        monitor.__exit__(None, None, None)
        told = any("forked" in note for note in monitor.summary.notes)
        return 0 if told and monitor.samples == [] and len(syncs) == 1 else 1

    with monitor:
        assert in_child(leave) == 0
    assert (monitor.summary.util_gpu_mean, monitor.summary.n_samples, len(monitor.samples)) == (30, 3, 3)
    assert len(syncs) == 2


def test_a_child_can_monitor_on_its_own(recording):
    monitor = GpuMonitor(backend=recording)

    def work():
        with GpuMonitor(backend=recording) as own:
            pass
        monitor.stop()
        monitor.start()
        monitor.stop()
        return 0 if own.summary.util_gpu_mean == monitor.summary.util_gpu_mean == 30 else 1

    with monitor:
        assert in_child(work) == 0
    assert monitor.summary.util_gpu_mean == 30


def test_fork_while_another_thread_holds_the_lock(recording):
    monitor = GpuMonitor(backend=recording)
    held, release = threading.Event(), threading.Event()

    def hold():
        with monitor._lock:
            held.set()
            release.wait(HANGS_S)

    with monitor:
        holder = threading.Thread(target=hold)
        holder.start()
        held.wait(HANGS_S)
        try:
            assert in_child(lambda: monitor.stop() or 0) == 0
        finally:
            release.set()
            holder.join(HANGS_S)
    assert monitor.summary.n_samples == 3


def monitored_square(backend, number):
    with GpuMonitor(backend=backend) as monitor:
        pass
    return number * number, monitor.summary.util_gpu_mean


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(recording, method):
    with GpuMonitor(backend=recording) as monitor:
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.starmap(monitored_square, [(recording, n) for n in range(4)]) == [(n * n, 30) for n in range(4)]
    assert monitor.summary.util_gpu_mean == 30


def test_os_exit_in_the_region(tmp_path):
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=range(1000), util_gpu=[50] * 1000)
    marker = f"GPUPROF_TEST_MARK=exit-{os.getpid()}"
    name, value = marker.split("=")
    code = """
        import os, sys
        sys.path[:0] = [sys.argv[2], os.path.dirname(sys.argv[2])]
        from test_monitor_faults import processes_with
        from gpu_profile import GpuMonitor
        with GpuMonitor(backend=sys.argv[1], interval_s=0.01):
            print(len(processes_with(sys.argv[3])), "processes", flush=True)
            os._exit(7)
    """
    done = run_python(code, f"replay:{file}", os.path.dirname(__file__), marker, **{name: value})
    assert (done.returncode, done.stdout, done.stderr) == (7, "2 processes\n", "")  # this one and its sampler
    assert_gone(marker)


def assert_gone(marker):
    """The processes with the marker are gone, or go within a while."""
    deadline = time.monotonic() + HANGS_S
    while processes_with(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_with(marker) == []


def test_a_killed_program_leaves_nothing(tmp_path):
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=range(1000), util_gpu=[50] * 1000)
    marker = f"GPUPROF_TEST_MARK=kill-{os.getpid()}"
    name, value = marker.split("=")
    code = """
        import os, signal, sys
        from gpu_profile import GpuMonitor
        with GpuMonitor(backend=sys.argv[1], interval_s=0.01):
            os.kill(os.getpid(), signal.SIGKILL)
    """
    assert run_python(code, f"replay:{file}", **{name: value}).returncode == -signal.SIGKILL
    assert_gone(marker)


@pytest.mark.parametrize("ending", ["pass", "sys.exit(0)", "raise SystemExit(0)"])
def test_daemon_threads_at_interpreter_exit(tmp_path, ending):
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=range(1000), util_gpu=[50] * 1000)
    code = f"""
        import sys, threading, time
        from gpu_profile import GpuMonitor
        def forever():
            while True:
                with GpuMonitor(backend=sys.argv[1], interval_s=0.01, store_samples=True) as monitor:
                    for _ in range(3):
                        monitor.summary
                        time.sleep(0.01)
        for _ in range(4):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.3)
        {ending}
    """
    for _ in range(3):
        done = run_python(code, f"replay:{file}")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_monitor_that_is_never_stopped(tmp_path):
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=range(1000), util_gpu=[50] * 1000)
    marker = f"GPUPROF_TEST_MARK=open-{os.getpid()}"
    name, value = marker.split("=")
    code = """
        import sys
        from gpu_profile import GpuMonitor
        GpuMonitor(backend=sys.argv[1]).start()  # forgotten at once
        kept = GpuMonitor(backend=sys.argv[1]).start()
    """
    done = run_python(code, f"replay:{file}", **{name: value})
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert_gone(marker)


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_many_short_monitors_leave_nothing(recording):
    with GpuMonitor(backend=recording):
        pass
    gc.collect()
    files, threads = open_files(), threading.active_count()
    for _ in range(times(2_000, 200)):
        with GpuMonitor(backend=recording) as monitor:
            pass
        assert monitor.summary.n_samples == 3
    gc.collect()
    assert open_files() <= files + 8
    assert threading.active_count() == threads


def test_sampling_goes_on_while_python_is_busy(tmp_path):
    """The interpreter's lock is held by pure Python work all the time; samples come nevertheless."""
    file = tmp_path / "live.csv"
    replayed.write(file, time_s=[i / 100 for i in range(3000)], util_gpu=[50] * 3000)
    with GpuMonitor(backend=f"replay:{file}", interval_s=0.01, store_samples=True) as monitor:
        end = time.monotonic() + HANGS_S
        while monitor.summary.n_samples <= 10 and time.monotonic() < end:
            work = time.monotonic() + 0.5
            while time.monotonic() < work:
                sum(range(100))
    assert monitor.summary.n_samples > 10
