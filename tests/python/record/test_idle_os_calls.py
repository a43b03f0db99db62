"""Operating-system calls that cover idle time, planted into a drawn timeline (as Nsight Systems would record them)."""

import sqlite3

import pytest

from drawn import kineto_of

# In columns: launches at 0, 26 and 28; idle are 0-2, 8-28 and 34-36.
DRAWN = """
# 1 char = 100 us
host main |L.S#####..................L.L......|
stream 7  |..AAAAAA....................BBBBBB..C|
"""
LOADING = DRAWN + "range main |.......[load batch-------].........|\n"
UNIT = 100_000  # ns
PROFILER = 27  # event class of OSRT_API


@pytest.fixture
def planted(program, tmp_path):
    """Reports of the timeline with calls: (start and end in columns, name, whether on the thread that submits the work)."""
    drawn, database = tmp_path / "timeline.json", tmp_path / "timeline.sqlite"

    def report(calls, *analyses, timeline=DRAWN):
        drawn.write_text(kineto_of(timeline))
        done = program.run("export", "nsys", drawn, "-o", database)
        assert done.status == 0, done.errors
        rows = sqlite3.connect(database)
        zero, thread = rows.execute("select min(start), min(globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
        rows.execute("create table OSRT_API (start integer, end integer, eventClass integer, globalTid integer, nameId integer)")
        free = rows.execute("select max(id) from StringIds").fetchone()[0] + 1
        for number, (start, end, name, submits) in enumerate(calls):
            rows.execute("insert into StringIds (id, value) values (?, ?)", (free + number, name))
            rows.execute("insert into OSRT_API (start, end, eventClass, globalTid, nameId) values (?, ?, ?, ?, ?)",
                         (zero + start * UNIT, zero + end * UNIT, PROFILER, thread + (0 if submits else 1), free + number))
        rows.commit()
        rows.close()
        return program.report(database, *analyses)

    return report


def gap(tables):
    """The long one."""
    return max(tables["gaps"].rows, key=lambda row: row["dur_ns"])


def test_a_call_that_covers_the_gap_is_named(planted):
    found = gap(planted([(9, 24, "read", True)], "gaps"))
    assert found["dur_ns"] == 20 * UNIT
    assert found["host_what"] == "read"


@pytest.mark.parametrize("end, named", [(17, None), (18, "poll"), (19, "poll")])
def test_half_of_the_gap_must_be_covered(planted, end, named):
    assert gap(planted([(1, end, "poll", True)], "gaps"))["host_what"] == named  # the gap begins at 8


def test_several_calls_of_one_function_add_up(planted):
    calls = [(9, 13, "read", True), (13, 14, "write", True), (15, 19, "read", True), (20, 23, "read", True)]
    assert gap(planted(calls, "gaps"))["host_what"] == "read"


def test_a_range_and_the_call_in_it(planted):
    assert gap(planted([(9, 24, "read", True)], "gaps", timeline=LOADING))["host_what"] == "load batch (in read)"


def test_calls_of_another_thread_do_not_count(planted):
    assert gap(planted([(8, 28, "nanosleep", False)], "gaps"))["host_what"] is None


def test_time_in_two_calls_at_once_counts_once(planted):
    found = gap(planted([(9, 21, "sem_wait", True), (10, 20, "write", True), (15, 26, "poll", True)], "gaps"))
    assert found["host_what"] == "sem_wait"


def test_idle_time_by_cause(planted, program, tmp_path):
    planted([(9, 24, "read", True), (24, 25, "poll", True), (8, 28, "nanosleep", False)], "idle")
    text = program.run("report", tmp_path / "timeline.sqlite", "idle").stdout.decode()
    assert "host compute: host threads spent 1.50 ms of 1.70 ms in read." in text
    assert "nanosleep" not in text


def test_less_than_a_tenth_of_a_cause_is_not_told(planted, program, tmp_path):
    planted([(9, 10, "fsync", True)], "idle")
    for analysis in ("idle", "findings"):
        assert b"fsync" not in program.run("report", tmp_path / "timeline.sqlite", analysis).stdout
    assert program.run("report", tmp_path / "timeline.sqlite", "idle").stdout.count(b"host compute") == 1


def test_findings_name_it(planted, program, tmp_path):
    planted([(9, 24, "read", True)], "gaps")
    text = " ".join(program.run("report", tmp_path / "timeline.sqlite", "findings").stdout.decode().split())
    assert "which spent 1.50 ms of it in read" in text
    assert "1.50 ms of this time in the operating-system call read" in text


def test_without_calls_nothing_is_named(planted, program, tmp_path):
    rows = planted([], "gaps")["gaps"].rows
    assert sorted(str(row["host_what"]) for row in rows) == ["None", "cudaLaunchKernel", "cudaLaunchKernel"]
    assert b"record --os-calls" in program.run("report", tmp_path / "timeline.sqlite", "os_calls").stdout
