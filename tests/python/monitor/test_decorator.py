"""@gpu_profile on functions, methods, coroutines and generators: what is monitored, what is returned, what is reported.
Figures come from recordings with known numbers."""

import asyncio
import functools
import inspect
import json

import pytest
import replayed

from gpu_profile import GpuMonitor, GpuSummary, MultiRunResult, ProfiledResult, gpu_profile, profile_repeats


@pytest.fixture
def recording(tmp_path):
    return replayed.write(
        tmp_path / "s.csv", time_s=[0, 1, 2], util_gpu=[10, 20, 60], power_w=[100, 200, 300], mem_used_mb=[1, 5, 3]
    )


@pytest.fixture
def profiled(recording):
    return replayed.profiler(recording)


def test_bare(capsys, monkeypatch):
    @gpu_profile
    def add(a, b=1):
        """Adds."""
        return a + b

    assert (add(2, b=3), add.__name__, add.__doc__) == (5, "add", "Adds.")
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("gpu-profile: ")


def test_report_true_prints_the_summary_to_standard_error(recording, capsys):
    gpu_profile(backend=recording)(lambda: None)()
    output = capsys.readouterr()
    assert output.out == ""
    assert "mean 30.0 %" in output.err
    assert output.err.endswith("\n") and not output.err.endswith("\n\n")


def test_report_false_is_silent(recording, capsys):
    gpu_profile(backend=recording, report=False)(lambda: None)()
    assert capsys.readouterr() == ("", "")


def test_report_function_gets_the_summary(profiled):
    assert profiled()(lambda: "value")() == "value"
    (summary,) = profiled.reports
    assert isinstance(summary, GpuSummary)
    assert (summary.util_gpu_mean, summary.power_max_w, summary.mem_used_max_mb) == (30, 300, 5)


def test_json_lines(recording, tmp_path):
    with open(tmp_path / "runs.jsonl", "w") as file:
        work = gpu_profile(backend=recording, report=lambda summary: print(summary.to_json(), file=file))(lambda: None)
        work()
        work()
    lines = [json.loads(line) for line in (tmp_path / "runs.jsonl").read_text().splitlines()]
    assert [line["util_gpu_mean"] for line in lines] == [30, 30]


def test_return_profile(profiled):
    result = profiled(return_profile=True, store_samples=True)(divmod)(7, 2)
    assert isinstance(result, ProfiledResult)
    assert (result.value, result.gpu.util_gpu_mean) == ((3, 1), 30)
    assert [sample.util_gpu for sample in result.samples] == [10, 20, 60]
    assert result.summaries == [result.gpu]
    assert repr(result).startswith("ProfiledResult(value=(3, 1), gpu=GpuSummary(")


def test_positional_arguments_are_those_of_the_monitor(recording):
    seen = []
    work = gpu_profile(0, 0.5, recording, True, lambda: seen.append("sync"), 0.0, True, seen.append)(lambda: seen.append("work"))
    work()
    assert seen[:3] == ["sync", "work", "sync"]
    assert (seen[3].interval_s, seen[3].util_gpu_mean) == (0.5, 30)


def test_several_devices_are_reported_one_by_one(tmp_path, profiled):
    backend = replayed.write(tmp_path / "two.csv", time_s=[0, 0, 1, 1], device=[0, 1, 0, 1], util_gpu=[10, 80, 20, 100])
    reports = []
    result = gpu_profile("all", backend=backend, report=reports.append, return_profile=True)(lambda: None)()
    assert [(one.device, one.util_gpu_mean) for one in reports] == [(0, 15), (1, 90)]
    assert result.summaries == reports
    assert result.gpu == reports[0]


def test_methods(profiled):
    class Model:
        factor = 3

        @profiled()
        def instance(self, x):
            return self.factor * x

        @classmethod
        @profiled()
        def inner_class(cls, x):
            return cls.factor * x

        @profiled()
        @classmethod
        def outer_class(cls, x):
            return cls.factor * x

        @profiled()
        @staticmethod
        def static(x):
            return x

    model = Model()
    assert (model.instance(2), model.inner_class(2), Model.outer_class(2), model.static(2)) == (6, 6, 6, 2)
    assert len(profiled.reports) == 4


def test_callables_that_are_no_functions(profiled):
    class Twice:
        def __call__(self, x):
            return 2 * x

    assert profiled()(Twice())(4) == 8
    assert profiled()(functools.partial(pow, 2))(5) == 32
    assert len(profiled.reports) == 2
    with pytest.raises(TypeError, match="cannot decorate 3"):
        profiled()(3)


def test_arguments_are_checked_where_the_decorator_stands():
    for wrong in ({"interval_s": 0}, {"repeats": 0}, {"warmup_runs": -1}, {"device": -1}, {"backend": "nvlm"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            gpu_profile(**wrong)


def test_nothing_is_loaded_or_started_by_decorating(profiled):
    profiled()(lambda: None)
    assert profiled.reports == []


# Coroutines


def test_coroutine(profiled):
    @profiled(return_profile=True)
    async def work(x):
        await asyncio.sleep(0)
        return x + 1

    assert inspect.iscoroutinefunction(work)
    result = asyncio.run(work(1))
    assert (result.value, result.gpu.util_gpu_mean) == (2, 30)


def test_coroutines_side_by_side_are_calls_of_their_own(profiled):
    @profiled()
    async def work(x):
        await asyncio.sleep(0.01)
        return x

    async def main():
        return await asyncio.gather(work(1), work(2))

    assert asyncio.run(main()) == [1, 2]
    assert len(profiled.reports) == 2


def test_a_task_that_outlives_its_call_is_monitored_again(profiled):
    tasks = []

    @profiled()
    async def work(depth):
        if depth:
            tasks.append(asyncio.ensure_future(late()))

    async def late():
        await asyncio.sleep(0.01)
        await work(0)

    async def main():
        await work(1)
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert len(profiled.reports) == 2


# Generators


def test_generator(profiled):
    @profiled(return_profile=True)
    def count(n):
        total = 0
        for i in range(n):
            total += (yield i) or 0
        return total

    assert inspect.isgeneratorfunction(count)
    steps = count(3)
    assert profiled.reports == []
    assert next(steps) == 0
    assert steps.send(10) == 1
    assert steps.send(20) == 2
    with pytest.raises(StopIteration) as end:
        steps.send(30)
    assert (end.value.value.value, end.value.value.gpu.util_gpu_mean) == (60, 30)
    assert len(profiled.reports) == 1


def test_generator_catches_what_is_thrown_in(profiled):
    @profiled()
    def steps():
        try:
            yield 1
        except KeyError:
            yield "caught"

    generator = steps()
    next(generator)
    assert generator.throw(KeyError("x")) == "caught"
    assert list(generator) == []
    assert len(profiled.reports) == 1


def test_generator_that_is_left_early_is_closed_and_reported(profiled):
    closed = []

    @profiled()
    def steps():
        try:
            yield from range(10)
        finally:
            closed.append(True)

    for step in steps():
        if step == 2:
            break
    del step
    assert closed == [True]
    (summary,) = profiled.reports
    assert not any("ended with" in note for note in summary.notes)


def test_generators_of_one_function_side_by_side(profiled):
    @profiled()
    def steps(n):
        yield from range(n)

    assert list(zip(steps(3), steps(3))) == [(0, 0), (1, 1), (2, 2)]
    assert len(profiled.reports) >= 1
    profiled.reports.clear()
    for _ in steps(2):
        assert list(steps(2)) == [0, 1]  # the consumer is not the generator: a call of its own
    assert len(profiled.reports) == 3


def test_async_generator(profiled):
    @profiled()
    async def steps(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    async def main():
        return [i async for i in steps(4)]

    assert inspect.isasyncgenfunction(steps)
    assert asyncio.run(main()) == [0, 1, 2, 3]
    assert len(profiled.reports) == 1


def test_async_generator_in_full(profiled):
    log = []

    @profiled()
    async def steps():
        try:
            log.append((yield 1))
            yield 2
        except KeyError:
            yield "caught"
        finally:
            log.append("closed")

    async def main():
        generator = steps()
        assert await generator.__anext__() == 1
        assert await generator.asend("sent") == 2
        assert await generator.athrow(KeyError("x")) == "caught"
        await generator.aclose()

    asyncio.run(main())
    assert log == ["sent", "closed"]
    assert len(profiled.reports) == 1


def test_what_generators_cannot_do(profiled):
    def steps():
        yield 1

    async def async_steps():
        yield 1

    for generator in (steps, async_steps):
        for options in ({"repeats": 2}, {"warmup_runs": 1}):
            with pytest.raises(TypeError, match="steps: a generator can run only once"):
                profiled(**options)(generator)
    with pytest.raises(TypeError, match="use report=FUNCTION"):
        profiled(return_profile=True)(async_steps)


# Several runs


def test_repeats_and_warmup_runs(recording, profiled):
    calls = []
    work = profiled(repeats=3, warmup_runs=2, return_profile=True)(lambda x: calls.append(x) or len(calls))
    result = work("x")
    assert calls == ["x"] * 5
    assert result.value == 5
    (report,) = profiled.reports
    assert report is result.gpu
    assert isinstance(report, MultiRunResult)
    assert [run.util_gpu_mean for run in report.runs] == [30, 30, 30]
    assert (report.util_gpu.mean, report.util_gpu.std, report.util_gpu.values) == (30, 0, (30, 30, 30))
    assert (report.power.mean, report.peak_memory.max, report.peak_temp.mean) == (200, 5, None)


def test_repeats_of_a_coroutine(profiled):
    calls = []

    @profiled(repeats=2, warmup_runs=1)
    async def work():
        calls.append(1)
        return len(calls)

    assert asyncio.run(work()) == 3
    assert len(profiled.reports) == 1
    assert len(profiled.reports[0].runs) == 2


def test_report_of_repeats_is_one_table(recording, capsys):
    gpu_profile(backend=recording, repeats=2)(lambda: None)()
    error = capsys.readouterr().err
    assert "2 runs" in error
    assert error.count("util_gpu") == 1


def test_profile_repeats(tmp_path):
    utils = iter([10, 20, 60])
    file = tmp_path / "s.csv"
    replayed.write(file, time_s=[0, 1], util_gpu=[99, 99])

    def work():
        util = next(utils)
        replayed.write(file, time_s=[0, 1], util_gpu=[util, util])

    # What a run plays is read when it starts: the file that the run before has written.
    result = profile_repeats(work, repeats=2, warmup_runs=1, backend=replayed.all_at_once(file))
    assert result.util_gpu.values == (10, 20)
    assert (result.util_gpu.mean, result.util_gpu.min, result.util_gpu.max) == (15, 10, 20)
    assert result.util_gpu.std == pytest.approx(50**0.5)


def test_profile_repeats_reports_as_the_decorator_does(recording, capsys):
    got = []
    result = profile_repeats(lambda: None, 2, 0, backend=recording, report=got.append)
    assert got == [result]
    profile_repeats(lambda: None, 2, 0, backend=recording)
    assert capsys.readouterr().err == ""
    profile_repeats(lambda: None, 2, 0, backend=recording, report=True)
    assert "over 2 runs" in capsys.readouterr().err


def test_profile_repeats_raises_what_the_function_raises(recording):
    with pytest.raises(ZeroDivisionError):
        profile_repeats(lambda: 1 / 0, 2, 0, backend=recording)
    with pytest.raises(ValueError, match="repeats .*0"):
        profile_repeats(lambda: None, 0)


def test_monitor_in_a_profiled_function(recording, profiled):
    @profiled()
    def work():
        with GpuMonitor(backend=recording) as monitor:
            pass
        return monitor.summary.util_gpu_mean

    assert work() == 30
    assert len(profiled.reports) == 1
