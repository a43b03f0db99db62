"""SQL at the server of `view`: who may ask, what an answer is, and its bounds."""

import json
import time

import pytest
from patience import HANGS_S
from test_view import EARLIER, RECORDING, HANGS_S, view

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


class Client:
    def __init__(self, server):
        self.server = server
        self.cookie = server.open()

    def post(self, path, sql="", **headers):
        given = {"Cookie": self.cookie, "Content-Type": "application/sql", **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.server.ask(path, "POST", given, body=sql.encode())

    def get(self, path):
        status, _, body = self.server.ask(path, headers={"Cookie": self.cookie})
        return json.loads(body) if status == 200 else status

    def start(self, sql):
        status, _, body = self.post("/sql", sql)
        assert status == 202, body
        return json.loads(body)["query"]

    def state(self, number):
        end = time.monotonic() + HANGS_S
        while (state := self.get(f"/sql/{number}"))["state"] in ("running", "cancelling"):
            assert time.monotonic() < end
            time.sleep(0.01)
        return state

    def run(self, sql):
        return self.state(self.start(sql))


@pytest.fixture(scope="module")
def client(program):
    with view(program) as server:
        yield Client(server)


def test_an_answer_is_that_of_query(client, program):
    sql = "SELECT name, count(*), sum(dur_ns) FROM kernel GROUP BY name ORDER BY 3 DESC; SELECT cause, total_ns FROM idle"
    expected = json.loads(program.run("query", RECORDING, sql, "--format", "json").stdout)
    state = client.run(sql)
    assert state["state"] == "done" and state["elapsed_s"] > 0
    assert state["answer"]["tables"] == expected["tables"] and len(expected["tables"]) == 2


def test_times_are_those_of_the_page(client):
    manifest = client.get("/manifest")
    assert client.run("SELECT max(end_ns) FROM kernel")["answer"]["tables"][0]["rows"][0][0] <= manifest["window_ns"]


def test_the_schema_lists_what_can_be_asked(client):
    schema = client.get("/sql/schema")
    tables = {table["name"]: table for table in schema["tables"]}
    assert {"name": "dur_ns", "unit": "ns"} in [{key: column[key] for key in ("name", "unit")} for column in tables["kernel"]["columns"]]
    assert tables["kernel"]["rows"] == 608 and tables["idle"]["rows"] is None
    assert any(function["synopsis"].startswith("busy(") for function in schema["functions"])
    for table in ("kernel", "steps"):
        names = ", ".join(f'"{column["name"]}"' for column in tables[table]["columns"])
        assert client.run(f"SELECT {names} FROM {table}")["state"] == "done"


def test_rows_are_bounded_and_the_bound_is_said(client):
    limit = client.get("/sql/schema")["limits"]["rows"]
    count = lambda rows: f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {rows}) SELECT i FROM n"
    table = client.run(count(limit + 1))["answer"]["tables"][0]
    assert (table["row_count"], table["more"]) == (limit, True)
    table = client.run(count(limit))["answer"]["tables"][0]
    assert (table["row_count"], table["more"]) == (limit, False)


def test_bytes_are_bounded(client):
    limit = client.get("/sql/schema")["limits"]["answer_bytes"]
    table = client.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 100) SELECT hex(zeroblob(500000)) FROM n")["answer"]["tables"][0]
    assert table["more"] and limit / 1_000_000 <= table["row_count"] <= limit / 1_000_000 + 1


def test_a_query_can_be_cancelled_and_holds_nobody_up(client):
    number = client.start(ENDLESS)
    assert client.get(f"/sql/{number}")["state"] == "running"
    assert client.server.ask("/manifest", headers={"Cookie": client.cookie})[0] == 200
    status, _, why = client.post("/sql", "SELECT 1")
    assert status == 409 and b"cancel" in why
    assert client.post(f"/sql/{number}/cancel")[0] == 204
    assert client.state(number)["state"] == "cancelled"
    assert client.run("SELECT 1")["answer"]["tables"][0]["rows"] == [[1]]
    assert client.get(f"/sql/{number}") == 404


@pytest.mark.parametrize("sql", [
    "ATTACH 'x.db' AS x", "ATTACH ':memory:' AS x", "SELECT load_extension('x')", "PRAGMA journal_mode = WAL", "PRAGMA temp_store_directory = '/tmp'",
    "CREATE TABLE t(a)", "DELETE FROM kernel", "INSERT INTO kernel(name) VALUES ('x')", "UPDATE kernel SET name = ''", "DROP TABLE kernel",
    "VACUUM INTO 'x.db'", "CREATE TEMP TABLE t(a)", "SELECT writefile('x', 'y')", "SELECT readfile('/etc/passwd')", "BEGIN", "DETACH main",
    "CREATE VIRTUAL TABLE t USING csv(filename='/etc/passwd')", "SELECT * FROM fsdir('/')", "SELECT 1; ATTACH 'x.db' AS x",
])
def test_sql_reaches_nothing_but_the_recording(client, sql):
    state = client.run(sql)
    assert state["state"] == "failed" and "answer" not in state
    assert any(word in state["problem"] for word in ("read-only", "no such", "not authorized", "load_extension", "may not be modified")), state


def test_an_unknown_name_is_answered_with_the_nearest(client):
    assert client.run("SELECT nam FROM kernel")["problem"].endswith("did you mean 'name'?")


def test_without_a_statement_there_is_no_table(client):
    assert client.run("-- nothing")["answer"]["tables"] == []


@pytest.mark.parametrize("headers", [
    {"Cookie": ""}, {"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
    {"Content_Type": "text/plain"}, {"Content_Type": "application/x-www-form-urlencoded"}, {"Content_Type": ""},
])
@pytest.mark.parametrize("path", ["/sql", "/sql/1/cancel"])
def test_other_pages_run_nothing(client, headers, path):
    before = client.start("SELECT 1")
    client.state(before)
    assert client.post(path, "SELECT 2", **headers)[0] in (401, 403, 415)
    assert client.start("SELECT 3") == before + 1
    client.state(before + 1)


@pytest.mark.parametrize(("path", "status"), [
    ("/sql", 404), ("/sql/0", 404), ("/sql/-1", 404), ("/sql/x", 404), ("/sql/99999999999999999999", 404), ("/sql/1/cancel", 404), ("/sqlite", 404),
    ("/base/sql/schema", 404), ("/rank/0/sql/schema", 404), ("/sql/../etc/passwd", 404),
])
def test_other_paths_are_unknown(client, path, status):
    assert client.get(path) == status


def test_sql_that_is_too_long_is_refused(client):
    limit = client.get("/sql/schema")["limits"]["sql_bytes"]
    assert client.post("/sql", "SELECT 1 --" + "x" * limit)[0] in (400, 413)
    assert client.run("SELECT 1 --" + "x" * (limit - 100))["state"] == "done"


def test_both_sides_of_a_comparison_can_be_asked(program):
    with view(program, "--base", EARLIER) as server:
        client = Client(server)
        counts = []
        for under in ("", "/base"):
            status, _, body = client.post(f"{under}/sql", "SELECT count(*) FROM kernel")
            assert status == 202
            while (state := client.get(f"{under}/sql/{json.loads(body)['query']}"))["state"] == "running":
                time.sleep(0.01)
            counts.append(state["answer"]["tables"][0]["rows"][0][0])
        assert counts[0] == 608 and counts[1] != counts[0]


def test_a_running_query_does_not_keep_the_server(program):
    with view(program) as server:
        Client(server).start(ENDLESS)
        started = time.monotonic()
    assert time.monotonic() - started < HANGS_S / 2
