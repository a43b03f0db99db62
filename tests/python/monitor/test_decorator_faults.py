"""@gpu_profile where things go wrong: functions that raise, recurse, fork or end the process; reports that fail. The
function's caller sees what the function did, and nothing else."""

import os
import sys
import threading
import warnings

import pytest
import replayed
from patience import HANGS_S
from test_monitor_faults import failing_second_time, in_child, run_python, without_library  # noqa: F401

from gpu_profile import GpuBackendError, gpu_profile


@pytest.fixture
def recording(tmp_path):
    return replayed.write(tmp_path / "s.csv", time_s=[0, 1, 2], util_gpu=[10, 20, 60])


@pytest.fixture
def profiled(recording):
    return replayed.profiler(recording)


def test_exception_is_raised_again_and_noted(profiled):
    @profiled()
    def work():
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        work()
    (summary,) = profiled.reports
    assert summary.util_gpu_mean == 30
    assert "the region ended with KeyError" in summary.notes


@pytest.mark.parametrize("leave", [KeyboardInterrupt, SystemExit, StopIteration])
def test_every_way_out(profiled, leave):
    def work():
        raise leave

    with pytest.raises(leave):
        profiled()(work)()
    assert len(profiled.reports) == 1


def test_exception_of_a_generator(profiled):
    @profiled()
    def steps():
        yield 1
        raise KeyError("x")

    generator = steps()
    assert next(generator) == 1
    with pytest.raises(KeyError):
        next(generator)
    assert "the region ended with KeyError" in profiled.reports[0].notes


def test_exception_in_the_third_of_four_runs(profiled):
    calls = []

    @profiled(repeats=4)
    def work():
        calls.append(1)
        if len(calls) == 3:
            raise KeyError("x")

    with pytest.raises(KeyError):
        work()
    (report,) = profiled.reports
    assert len(report.runs) == 2
    assert "2 of 4 runs; the next one ended with KeyError" in report.format()


def test_exception_in_the_warmup_is_no_run(profiled):
    with pytest.raises(ZeroDivisionError):
        profiled(warmup_runs=1)(lambda: 1 / 0)()
    assert profiled.reports == []


def test_recursion_is_one_call(profiled):
    @profiled(return_profile=True)
    def factorial(n):
        return 1 if n == 0 else n * factorial(n - 1)

    result = factorial(20)
    assert result.value == 2432902008176640000
    assert len(profiled.reports) == 1
    assert factorial(3).value == 6  # and the next call is monitored again
    assert len(profiled.reports) == 2


def test_recursion_of_a_generator(profiled):
    @profiled()
    def walk(n):
        yield n
        if n:
            yield from walk(n - 1)

    assert list(walk(5)) == [5, 4, 3, 2, 1, 0]
    assert len(profiled.reports) == 1


def test_endless_recursion_ends_as_it_would_without(profiled):
    @profiled()
    def deeper():
        return deeper()

    with pytest.raises(RecursionError):
        deeper()
    assert len(profiled.reports) == 1


def test_threads_have_calls_of_their_own(profiled):
    barrier = threading.Barrier(3)
    work = profiled()(lambda: barrier.wait(HANGS_S))
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_S)
    assert [summary.util_gpu_mean for summary in profiled.reports] == [30, 30, 30]


def test_fork_in_the_function(profiled):
    @profiled(return_profile=True)
    def work():
        return os.fork()

    reader, writer = os.pipe()
    result = work()
    if result.value == 0:
        # The child leaves through the decorator: no report of its own, and a summary that says what it is.
        told = any("forked" in note for note in result.gpu.notes)
        os.write(writer, b"well" if told and not profiled.reports else b"ill")
        os._exit(0)
    os.close(writer)
    assert os.read(reader, 10) == b"well"
    os.waitpid(result.value, 0)
    os.close(reader)
    assert len(profiled.reports) == 1
    assert result.gpu.util_gpu_mean == 30


def test_a_forked_child_calls_the_function_itself(profiled):
    @profiled()
    def work(depth):
        return in_child(lambda: 0 if work(0) == "leaf" and len(profiled.reports) == 1 else 1) if depth else "leaf"

    assert work(1) == 0
    assert len(profiled.reports) == 1


def test_os_exit_in_the_function(recording):
    code = """
        import os, sys
        from gpu_profile import gpu_profile
        gpu_profile(backend=sys.argv[1])(lambda: os._exit(5))()
    """
    done = run_python(code, recording)
    assert (done.returncode, done.stdout, done.stderr) == (5, "", "")


def test_sync_fn_that_fails(profiled):
    ran = []
    with pytest.raises(OSError, match="an earlier kernel failed"):
        profiled(sync_fn=failing_second_time())(lambda: ran.append(1))()
    assert ran == [1]
    assert "the region ended with OSError" in profiled.reports[0].notes


def test_a_report_that_fails_is_a_warning(profiled):
    def report(summary):
        raise ValueError("disk full")

    with pytest.warns(RuntimeWarning, match="the report failed: ValueError: disk full"):
        assert profiled(report=report)(lambda: "value")() == "value"


def test_a_report_that_fails_where_warnings_are_errors(profiled):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert profiled(report=lambda summary: 1 / 0)(lambda: "value")() == "value"


def test_standard_error_that_is_closed_or_gone(recording, monkeypatch):
    class Broken:
        def write(self, text):
            raise OSError("broken pipe")

    work = gpu_profile(backend=recording)(lambda: "value")
    monkeypatch.setattr(sys, "stderr", None)
    assert work() == "value"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(sys, "stderr", Broken())
        assert work() == "value"


def test_what_the_report_raises_on_purpose_passes(profiled):
    def report(summary):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profiled(report=report)(lambda: None)()


def test_without_the_library_the_function_runs(without_library, capsys):  # noqa: F811
    assert gpu_profile(lambda: "value")() == "value"
    assert "no samples: cannot load libgpuprof.so" in capsys.readouterr().err


def test_without_the_library_strict_refuses(without_library):  # noqa: F811
    with pytest.raises(GpuBackendError, match="absent.so"):
        gpu_profile(strict=True)(lambda: pytest.fail("the function ran"))()


def test_repeats_without_the_library(without_library):  # noqa: F811
    result = gpu_profile(repeats=2, report=False, return_profile=True)(lambda: "value")()
    assert (result.value, result.gpu.util_gpu.values, len(result.gpu.duration.values)) == ("value", (), 2)
    assert result.gpu.format().count("no samples: ") == 1
