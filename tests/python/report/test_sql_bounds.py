"""SQL that would use all memory or never end: it is ended, in `query` and at the server of `view`."""

import json
import os
import signal
import subprocess
import time

import pytest
from patience import HANGS_S
from test_bombs import bombs
from test_view import RECORDING, Server, view
from test_view_sql import Client

ROWS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n)"
# Inside a single call of a function, which SQLite cannot interrupt: some 10^13 comparisons.
ONE_CALL = "SELECT instr(replace(hex(zeroblob(7000000)), '00', '0'), replace(hex(zeroblob(3500000)), '00', '0') || '1')"
AT_ONCE = {  # what the error says
    "nested repetitions": ("SELECT 'aaaa' REGEXP '((((a{1,100}){1,100}){1,100}){1,100})'", "invalid pattern"),
    "a backreference": (r"SELECT printf('%.*c', 60000, 'a') REGEXP '((a|b)*)\1*c'", "invalid pattern"),
    "a long text": ("SELECT printf('%.*c', 300000, 'a') REGEXP 'b'", "256 KiB"),
    "forty wide columns": ("SELECT " + ", ".join(["hex(zeroblob(7000000))"] * 40), "narrow the query"),
    "seventy wide columns": ("SELECT " + ", ".join(["hex(zeroblob(8000000))"] * 70), "out of memory"),
    "a wide row": ("SELECT " + ", ".join(["hex(zeroblob(3000000))"] * 4), "16 MiB"),
    "a text that grows": ("SELECT group_concat(hex(zeroblob(1000000))) FROM kernel", "too long"),
    "a long pattern": ("SELECT 'a' LIKE printf('%.*c', 5000, 'a')", "pattern"),
}
ENDLESS = {
    "one aggregate": f"{ROWS} SELECT median(i) FROM n",
    "many aggregates": f"{ROWS} SELECT median(i), median(-i), percentile(i + 0.5, 3.0), busy(-i, i) FROM n",
    "a recursion that keeps its texts": f"{ROWS} SELECT DISTINCT hex(randomblob(50000)) FROM n",
    "a sort of texts": f"{ROWS} SELECT i FROM n ORDER BY hex(randomblob(50000))",
    "wide rows": f"{ROWS} SELECT hex(zeroblob(5000000)) FROM n",
    "one call": ONE_CALL,
}


def ask(program, sql, seconds):
    return bombs.measured([program.path, "query", RECORDING, "--limit", 0, "--time-out", seconds, sql])


@pytest.mark.parametrize("name", AT_ONCE)
def test_it_is_refused(program, name):
    sql, why = AT_ONCE[name]
    status, said, memory, seconds = ask(program, sql, 100)
    assert status in (2, 6) and len(said) == 1 and why in said[0], said
    assert memory < 1200 << 20 and seconds < 20


@pytest.mark.parametrize("name", ENDLESS)
def test_it_is_ended(program, name):
    status, said, memory, seconds = ask(program, ENDLESS[name], 1)
    assert status == 2 and said == ["gpu-profile: the query exceeded its time limit of 1 s"]
    assert memory < 1200 << 20 and seconds < 20


def test_repetitions_that_backtracking_never_ends(program):
    sql = "SELECT printf('%.*c', 200000, 'a') REGEXP '(a*)*b', printf('%.*c', 200000, 'a') REGEXP '(a|aa)+$'"
    assert json.loads(program.run("query", RECORDING, sql, "--format", "json").stdout)["tables"][0]["rows"] == [[0, 1]]


def resident(process):
    with open(f"/proc/{process}/statm") as sizes:
        return int(sizes.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_the_page_can_cancel_a_call_that_never_ends(program):
    with view(program) as server:
        client = Client(server)
        number = client.start(ONE_CALL)
        time.sleep(0.2)  # so that it is inside; either way it ends
        began = time.monotonic()
        assert client.post(f"/sql/{number}/cancel")[0] == 204
        assert client.state(number)["state"] == "cancelled"
        assert time.monotonic() - began < HANGS_S / 10
        assert client.run("SELECT count(*) FROM kernel")["state"] == "done"


def test_the_server_of_a_page_keeps_its_memory(program):
    with view(program) as server:
        client = Client(server)
        before = resident(server.process.pid)
        for name in ("forty wide columns", "a wide row"):
            state = client.run(AT_ONCE[name][0])
            assert state["state"] == "failed" and AT_ONCE[name][1] in state["problem"]
        assert resident(server.process.pid) < before + (100 << 20)


def children(process):
    with open(f"/proc/{process}/task/{process}/children") as listed:
        return [int(each) for each in listed.read().split()]


def test_a_query_whose_process_is_killed_says_so(program):
    with view(program) as server:
        client = Client(server)
        number = client.start(ENDLESS["one aggregate"])
        for child in children(server.process.pid):
            os.kill(child, signal.SIGKILL)
        state = client.state(number)
        assert state["state"] == "failed" and "the process of the query ended" in state["problem"]
        assert client.run("SELECT 1")["state"] == "done"


def test_no_process_outlives_the_server(program):
    with subprocess.Popen([program.path, "view", "--no-open", RECORDING], stdout=subprocess.PIPE, text=True) as process:
        Client(Server(process)).start(ONE_CALL)
        started = children(process.pid)
        assert started
        process.kill()
    end = time.monotonic() + HANGS_S
    while any(os.path.exists(f"/proc/{child}") for child in started):
        assert time.monotonic() < end
        time.sleep(0.05)
