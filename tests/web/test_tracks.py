"""Tracks that come from no event of their own: queues of streams, states of threads. What the pointer reads from them is
what the program says about the same times."""

import gzip
import sqlite3
import sys
from contextlib import closing

import pytest
from conftest import ROOT
from sql_answers import sql
from track_places import place, tip_at
from waiting import settled

expect = pytest.importorskip("playwright.sync_api").expect

EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
NSYS = ROOT / "tests" / "fixtures" / "nsys" / "mock.sqlite.gz"
THREAD = 283004824020018  # of the calls in that file, as its tables name it

QUEUED = """with work as (select start_ns, correlation from kernel union all select start_ns, correlation from memcpy
            union all select start_ns, correlation from memset),
            ops as (select work.start_ns as begins, api_call.start_ns as asked from work join api_call using (correlation))
            select sum(asked <= {a} and begins > {a}) n, max(asked) last from ops where asked <= {a}"""


def shown_around(visit, file, time, span):
    page = visit(file, f"page=timeline&t={time - span // 2}-{time + span // 2}")
    page.wait_for_selector("canvas[data-complete]")
    return page


def test_the_queue_of_a_stream_is_opened_and_read(visit, exported, program):
    """A third of a step after its first launch the host is ahead, and the queue is long."""
    calls = sql(program, EXAMPLE, "select start_ns from api_call where name = 'cudaLaunchKernel' order by start_ns")
    time = calls[len(calls) // 2]["start_ns"] + 2_000
    page = shown_around(visit, exported(EXAMPLE), time, 100_000)
    queue = page.locator("li.name", has=page.get_by_text("queued ops", exact=True))
    expect(queue).to_have_count(0)
    page.get_by_role("button", name="Unfold stream 7").click()
    expect(queue).to_be_visible()
    seen = set()
    for at in range(time - 40_000, time + 40_000, 10_000):
        name, value, _ = tip_at(page, "queued ops", (at - (time - 50_000)) / 100_000)
        assert name == "queued ops"
        read = int(value.removesuffix(" ops").removesuffix(" op"))
        near = {sql(program, EXAMPLE, QUEUED, each)[0]["n"] for each in range(at - 100, at + 101, 50)}  # a pixel is 100 ns
        assert read in near
        seen.add(read)
    assert len(seen) > 1
    page.get_by_role("button", name="Fold stream 7").focus()
    page.keyboard.press("Enter")
    expect(queue).to_have_count(0)


@pytest.fixture
def with_system_calls(tmp_path):
    """A file of Nsight Systems whose thread polls for 10 ms between its two kernels."""
    file = tmp_path / "calls.sqlite"
    file.write_bytes(gzip.decompress(NSYS.read_bytes()))
    with closing(sqlite3.connect(file)) as database:
        (first_end,) = database.execute("select min(end) from CUPTI_ACTIVITY_KIND_KERNEL").fetchone()
        database.execute("insert into StringIds values (900001, 'poll')")
        database.execute("create table OSRT_API (start integer, end integer, eventClass integer, globalTid integer, correlationId integer, nameId integer, returnValue integer)")
        database.execute("insert into OSRT_API values (?, ?, 27, ?, 1, 900001, 0)", (first_end + 2_000_000, first_end + 12_000_000, THREAD))
        database.commit()
    return file


def test_states_of_a_thread_in_system_calls(visit, program, with_system_calls, tmp_path):
    out = tmp_path / "calls.html"
    assert program.run("export", "html", with_system_calls, "-o", out).status == 0
    (call,) = sql(program, with_system_calls, "select start_ns, end_ns from os_call")
    middle = (call["start_ns"] + call["end_ns"]) // 2
    page = shown_around(visit, out, middle, 16_000_000)
    begins, ends = (0.5 + (at - middle) / 16_000_000 for at in (call["start_ns"], call["end_ns"]))
    for share in (begins + 0.02, 0.5, ends - 0.02):
        name, length, _ = tip_at(page, "state", share)
        assert name == "in a system call"
        assert length == "state of the thread, 10.0 ms"
    page.mouse.move(*place(page, "state", begins - 0.02))
    expect(page.locator(".tooltip")).to_have_count(0)
    page.mouse.click(*place(page, "state", 0.5))  # a state is no event
    settled(page)
    assert "sel=" not in page.url


WORK = "import time; end = time.monotonic() + 1\nwhile time.monotonic() < end: pass\ntime.sleep(1)"


def state_of(share):
    return "on the CPU" if share >= 0.9 else "partly on the CPU" if share > 0.1 else "off the CPU"


def test_states_of_a_thread_by_its_cpu_time(visit, program, tmp_path):
    """A recorded program works for a second and sleeps for a second."""
    recording, out = tmp_path / "cpu.gpuprof", tmp_path / "cpu.html"
    done = program.run("record", "-o", recording, "--", sys.executable, "-c", WORK)
    if done.status != 0 and "library" in done.errors:
        pytest.skip("this program has no library to record with")
    assert done.status == 0, done.errors
    assert program.run("export", "html", recording, "-o", out).status == 0
    rows = sql(program, recording, "select thread, time_ns, dur_ns, coalesce(user_ns, 0) + coalesce(system_ns, 0) used_ns from cpu_sample where thread is not null and dur_ns > 50000000 order by time_ns")
    states = [state_of(row["used_ns"] / row["dur_ns"]) for row in rows]
    assert len({row["thread"] for row in rows}) == 1
    asleep, awake = states.index("off the CPU", len(states) // 2), next(at for at, state in enumerate(states) if state != "off the CPU")
    assert awake < asleep
    for row, state in ((rows[awake], states[awake]), (rows[asleep], states[asleep])):
        middle = row["time_ns"] + row["dur_ns"] // 2
        page = shown_around(visit, out, middle, row["dur_ns"] // 2)
        thread = page.locator("li.name.thread .text").inner_text()
        assert tip_at(page, thread, 0.5)[0] == state
