"""`async with GpuMonitor`: the region of `with`, while other tasks of the event loop continue."""

import asyncio
import threading

import pytest
import replayed

from gpu_profile import GpuMonitor
from patience import HANGS_S

BURSTY = replayed.all_at_once(replayed.BURSTY)


def test_the_same_figures_as_with():
    async def sampled():
        async with GpuMonitor(backend=BURSTY, interval_s=0.01) as monitor:
            await asyncio.sleep(0)
        return monitor.summary

    found = asyncio.run(sampled())
    for field, figure in replayed.expected(replayed.BURSTY).items():
        assert getattr(found, field) == pytest.approx(figure, rel=1e-9, abs=1e-6), field


def test_other_tasks_continue_while_it_starts_and_stops():
    async def continued():
        ticks, during = [], []

        async def tick():
            while True:
                ticks.append(1)
                await asyncio.sleep(0.01)

        def until_it_ticks():  # never, if the event loop is blocked
            before = len(ticks)
            during.append(replayed.until(lambda: len(ticks) > before + 10))

        ticking = asyncio.ensure_future(tick())
        async with GpuMonitor(backend="none", sync_fn=until_it_ticks):
            pass
        ticking.cancel()
        return during

    assert asyncio.run(continued()) == [True, True]


def test_an_exception_of_the_block_is_raised_and_the_region_ends():
    calls = []

    async def failing():
        async with GpuMonitor(backend="none", sync_fn=lambda: calls.append(1)):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(failing())
    assert len(calls) == 2


def test_a_task_cancelled_during_the_start_leaves_no_region():
    calls, starting, cancelling = [], threading.Event(), threading.Event()
    monitor = GpuMonitor(backend="none", sync_fn=lambda: (starting.set(), cancelling.wait(HANGS_S), calls.append(1)))

    async def cancelled():
        async def enter():
            async with monitor:
                raise AssertionError("the task was cancelled before")

        task = asyncio.ensure_future(enter())
        while not starting.is_set():
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.sleep(0)  # it is delivered
        cancelling.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert len(calls) == 2  # started and ended
    with monitor:
        pass
    assert len(calls) == 4  # a region of its own


def test_tasks_share_a_region():
    monitor = GpuMonitor(backend="none")
    calls = []

    async def one():
        async with monitor:
            calls.append(monitor.summary)
            await asyncio.sleep(0.02)

    async def both():
        await asyncio.gather(one(), one())

    asyncio.run(both())
    assert len(calls) == 2
