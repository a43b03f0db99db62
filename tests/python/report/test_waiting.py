"""What a host waited for between units of work: a clock, requests, or nothing, because it computed. Programs of which the truth is
known, as torch.profiler and Nsight Systems would record them, and twins that must keep their verdict."""

import json
import random
import sqlite3
from contextlib import closing

import pytest

US, MS = 1_000, 1_000_000
SM_COUNT = 100
INFERENCE, TRAINING = "aten::linear", "autograd::engine::evaluate_function: AddmmBackward0"
KERNEL = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)"
MAIN, OTHER = 100, 101


def starts_of(kind, seed=1, units=40):
    """When units of work start. clock: lateness of one unit does not delay the next. drift: it does."""
    chance, at, found = random.Random(seed), 0, []
    for unit in range(units):
        if kind == "clock":
            at = 40 * MS * unit + chance.gauss(0, MS)
        else:
            at += {"drift": 40 * MS + chance.gauss(0, MS), "poisson": 5 * MS + chance.expovariate(1 / (60 * MS))}[kind]
        found.append(round(at) + 10 * MS)
    return found


class Recording:
    """Units of eight launches, 20 us apart; the host then waits for the device."""

    def __init__(self, starts, op=INFERENCE, range_name=None, length=1.0):
        self.events, self.units, self.number = [], [], 0
        for start in starts:
            at = start
            for _ in range(8):
                self.number += 1
                if op:
                    self.add("cpu_op", op, MAIN, at, 12 * US)
                ids = {"correlation": self.number}
                self.add("cuda_runtime", "cudaLaunchKernel", MAIN, at + 4 * US, 5 * US, **ids)
                self.add("kernel", KERNEL, 7, at + 10 * US, round(8 * US * length), device=0, stream=7, context=1, grid=[4000, 1, 1],
                         block=[128, 1, 1], **ids)
                at += 20 * US
            self.add("cuda_runtime", "cudaStreamSynchronize", MAIN, at, 10 * US)
            self.units.append((start, at + 10 * US))
            if range_name:
                self.add("user_annotation", range_name, MAIN, start, at + 10 * US - start)

    def add(self, category, name, thread, start, length, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 0 if category == "kernel" else 100, "tid": thread,
                            "ts": start / US, "dur": length / US, "args": args})

    def pauses(self):
        return [(end, start) for (_, end), (start, _) in zip(self.units, self.units[1:], strict=False)]

    def python(self, *frames):
        """Python frames, outermost first, that are open in the pauses."""
        for begin, end in self.pauses():
            for depth, frame in enumerate(frames):
                self.add("python_function", frame, MAIN, begin + (depth + 1) * US, end - begin - 2 * (depth + 1) * US)

    def write(self, folder):
        gpu = {"id": 0, "name": "Drawn GPU", "totalGlobalMem": 1 << 30, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
               "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "regsPerMultiprocessor": 65536, "warpSize": 32,
               "sharedMemPerBlock": 49152, "sharedMemPerMultiprocessor": 233472, "numSms": SM_COUNT, "sharedMemPerBlockOptin": 232448}
        file = folder / "trace.json"
        file.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [gpu], "traceEvents": self.events}))
        return file


@pytest.fixture
def answer(program, tmp_path):
    """The first answer to a recording, as it is or from Nsight Systems with calls of the system and scheduling."""

    def report(recording, os_call=None, runs=None, other_runs=None, other_call=None):
        file = recording.write(tmp_path)
        if os_call or runs:
            database = tmp_path / "trace.sqlite"
            done = program.run("export", "nsys", file, "-o", database)
            assert done.status == 0, done.errors
            with closing(sqlite3.connect(database)) as rows:
                plant(rows, recording, {0: os_call, 1: other_call}, {0: runs, 1: other_runs})
            file = database
        done = program.run("report", file, "--format", "json")
        assert done.status == 0, done.errors
        return json.loads(done.stdout)

    return report


def plant(rows, recording, calls, runs):
    """What two threads did: an operating-system call in each pause, and when they were on a CPU. The first submits."""
    zero, thread = rows.execute("select min(start), min(globalTid) from CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
    zero -= recording.units[0][0] + 4 * US
    rows.execute("create table OSRT_API (start integer, end integer, eventClass integer, globalTid integer, nameId integer)")
    rows.execute("create table SCHED_EVENTS (start integer, cpu integer, isSchedIn integer, globalTid integer, threadState integer, threadBlock integer)")
    for who, name in calls.items():
        if name is None:
            continue
        free = rows.execute("select max(id) + 1 from StringIds").fetchone()[0]
        rows.execute("insert into StringIds (id, value) values (?, ?)", (free, name))
        rows.executemany("insert into OSRT_API values (?, ?, 27, ?, ?)",
                         [(zero + begin + 20 * US, zero + end - 20 * US, thread + who, free) for begin, end in recording.pauses()])
    for who, spans in runs.items():
        for begin, end in spans or []:
            rows.executemany("insert into SCHED_EVENTS values (?, 2, ?, ?, 0, null)", [(zero + begin, 1, thread + who), (zero + end, 0, thread + who)])
    rows.commit()


def predicts_nothing(document):
    assert document["verdict"].get("gives_back_pct") is None
    assert not document["predictions"]
    return True


def awake(recording, more=2 * MS):
    return [(start - MS, end + more) for start, end in recording.units]


@pytest.mark.parametrize("op", [INFERENCE, TRAINING, None])
def test_a_thread_that_sleeps_until_the_next_frame_is_paced(answer, op):
    recording = Recording(starts_of("clock"), op)
    found = answer(recording, runs=awake(recording))
    assert found["verdict"]["name"] == "paced"
    assert "work starts every 40" in found["verdict"]["because"]
    assert predicts_nothing(found)


@pytest.mark.parametrize("kind", ["clock", "drift", "poisson"])
def test_a_thread_on_the_cpu_computes_whatever_its_period(answer, kind):
    recording = Recording(starts_of(kind))
    found = answer(recording, runs=[(begin, end) for begin, end in zip(starts_of(kind), [s - US for s in starts_of(kind)[1:]], strict=False)])
    assert found["verdict"]["name"] == "host-bound (other)"


def test_a_thread_whose_work_another_thread_does_is_host_bound(answer):
    recording = Recording(starts_of("clock"))
    found = answer(recording, os_call="pthread_cond_wait", runs=awake(recording), other_runs=[(b + 2 * MS, e) for b, e in recording.pauses()])
    assert found["verdict"]["name"] == "host-bound (other)"


def test_a_set_sleep_paces_without_a_clock(answer):
    found = answer(Recording(starts_of("drift")), os_call="clock_nanosleep")
    assert found["verdict"]["name"] == "paced"
    assert "clock_nanosleep" in found["verdict"]["because"]


@pytest.mark.parametrize("call", ["epoll_wait", "poll", "select", "accept"])
def test_requests(answer, call):
    found = answer(Recording(starts_of("poisson"), range_name="handle_request"), os_call=call)
    assert found["verdict"]["name"] == "no load"
    assert call in found["verdict"]["because"]
    assert "within a unit of work: " in found["verdict"]["because"]
    assert predicts_nothing(found)


@pytest.mark.parametrize("call", ["pthread_cond_wait", "sem_wait"])
def test_a_worker_waits_for_a_thread_that_waits_for_requests(answer, call):
    """Only then: another thread may compute before it wakes the worker. If nothing of the others was recorded, what it waited for is unknown."""
    recording = Recording(starts_of("poisson"))
    assert answer(recording, os_call=call, other_call="epoll_wait")["verdict"]["name"] == "no load"
    assert answer(recording, os_call=call, other_call="ioctl")["verdict"]["name"] != "no load"
    assert answer(Recording(starts_of("poisson"), TRAINING), os_call=call)["verdict"]["name"] == "cannot tell"


@pytest.mark.parametrize("call", ["read", "ioctl", "pthread_join", "waitpid", "fsync"])
def test_calls_that_work_are_no_waits(answer, call):
    found = answer(Recording(starts_of("poisson"), range_name="handle_request"), os_call=call)
    assert found["verdict"]["name"] == "host-bound (other)"


@pytest.mark.parametrize("frames", [("queue.py(154): get", "threading.py(288): wait"), ("asyncio/base_events.py(1900): _run_once", "selectors.py(451): select"),
                                    ("serve.py(10): loop", "<built-in method poll of select.epoll object at 0x7f>")])
def test_requests_in_python(answer, frames):
    recording = Recording(starts_of("poisson"))
    recording.python(*frames)
    assert answer(recording)["verdict"]["name"] == "no load"


def test_a_loader_that_waits_for_its_workers_is_input(answer):
    recording = Recording(starts_of("drift"), TRAINING)
    recording.python("torch/utils/data/dataloader.py(1200): _get_data", "queue.py(154): get", "threading.py(288): wait")
    assert answer(recording)["verdict"]["name"] == "input-bound"


def test_an_answer_that_the_program_waits_for_is_no_request(answer):
    recording = Recording(starts_of("poisson"))
    recording.python("site-packages/urllib3/connectionpool.py(534): _make_request", "http/client.py(1390): getresponse", "socket.py(706): readinto")
    assert answer(recording)["verdict"]["name"] == "host-bound (other)"


def test_python_that_computes_is_host_code(answer):
    recording = Recording(starts_of("poisson"))
    recording.python("simulation.py(12): advance")
    assert answer(recording)["verdict"]["name"] == "host-bound (other)"


@pytest.mark.parametrize("kind, op, call", [("drift", TRAINING, "poll"), ("poisson", TRAINING, "epoll_wait"), ("poisson", INFERENCE, "recv")])
def test_a_wait_of_which_the_end_is_unknown(answer, kind, op, call):
    """For requests, for the workers of a loader, or for the answer to a request of its own."""
    found = answer(Recording(starts_of(kind), op), os_call=call)
    assert found["verdict"]["name"] == "cannot tell"
    assert "slept" in found["verdict"]["because"]
    assert predicts_nothing(found)


@pytest.mark.parametrize("op, range_name", [(INFERENCE, "handle_request"), (INFERENCE, None), (None, None)])
def test_irregular_times_of_which_nothing_is_known(answer, op, range_name):
    found = answer(Recording(starts_of("poisson"), op, range_name))
    assert found["verdict"]["name"] == "cannot tell"
    assert "no load" in found["verdict"]["because"]
    assert "within a unit of work: " in found["verdict"]["because"]
    assert predicts_nothing(found)


@pytest.mark.parametrize("kind, op, range_name", [("poisson", TRAINING, None), ("poisson", INFERENCE, "train_step"), ("drift", None, None),
                                                  ("drift", INFERENCE, None), ("drift", TRAINING, None), ("clock", TRAINING, "ProfilerStep#1")])
def test_a_slow_host_stays_host_bound(answer, kind, op, range_name):
    assert answer(Recording(starts_of(kind), op, range_name))["verdict"]["name"] == "host-bound (other)"


def test_scheduling_of_nsight_systems(program, tmp_path):
    """Two events are a stretch; what is cut at either end, out of order or without its other half is not made up."""
    recording = Recording(starts_of("drift", units=12))
    file, database = recording.write(tmp_path), tmp_path / "trace.sqlite"
    assert program.run("export", "nsys", file, "-o", database).status == 0
    events = [(50, 1, 0, 7, 0), (100, 1, 1, 7, 0), (300, 1, 0, 7, 2), (250, 3, 1, 8, 0), (400, 3, 0, 8, 1), (500, 2, 1, 7, 0), (600, 2, 1, 7, 0), (700, 2, 0, 7, 0), (800, 4, 1, 9, 0), (900, 5, 0, 5, 0)]
    with closing(sqlite3.connect(database)) as rows:
        rows.execute("create table SCHED_EVENTS (start integer, cpu integer, isSchedIn integer, globalTid integer, threadState integer, threadBlock integer)")
        rows.executemany("insert into SCHED_EVENTS values (?, ?, ?, (100 << 24) | ?, ?, null)", events)
        rows.commit()
    done = program.run("query", database, "SELECT start_ns, dur_ns, thread, cpu, end_state FROM cpu_slice ORDER BY start_ns", "--format", "csv")
    assert done.stdout.decode().split()[1:] == ["100,200,100/7,1,blocked", "250,150,100/8,3,preempted", "600,100,100/7,2,", "800,100,100/9,4,"]
    losses = program.report(database, "losses")["losses"].rows
    assert [(row["kind"], row["count"]) for row in losses] == [("missing_field", 1)]
