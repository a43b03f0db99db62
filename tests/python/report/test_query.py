"""`gpu-profile query`: answers, refusals, cancellation; and the SQL that checks each analysis, over real recordings."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import HANGS_S
from program import Program

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))
FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
ENDLESS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT {} FROM n"


def query(file, sql, *options, text=None, cwd=None):
    return subprocess.run(
        [PROGRAM, "query", str(file), *([sql] if sql else []), *options],
        input=text, stdin=None if text is not None else subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS_S, cwd=cwd,
        check=False,
    )


def rows(file, *statements, options=()):
    """The rows of each statement."""
    done = query(file, "; ".join(statements), "--format", "json", *options)
    assert done.returncode == 0, (statements, done.stderr)
    return [table for table in json.loads(done.stdout)["tables"]]


def same(one, other):
    if isinstance(one, float) or isinstance(other, float):
        return one is not None and other is not None and abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))
    return one == other


def by_key(table):
    return sorted(table["rows"], key=lambda row: [(value is not None, isinstance(value, str), str(value)) for value in row if not isinstance(value, float)])


CHECKS = Program(PROGRAM).declared("sql_checks")


def test_every_analysis_says_how_sql_would_check_it(program):
    assert CHECKS and sorted(row["name"] for row in program.declared("analyses")) == sorted(check["analysis"] for check in CHECKS)
    assert all(check["sql"] or check["why"] for check in CHECKS)


@pytest.mark.parametrize("file", ["kineto/transformer.json.zst", "kineto/overlap.json.gz", "nsys/h100_2gpu_1s.sqlite.zst", "memory/growth.snapshot.pickle.gz", "jax/mlp.xplane.pb.zst"])
@pytest.mark.parametrize("check", [check for check in CHECKS if check["sql"]], ids=lambda check: check["analysis"])
def test_sql_agrees_with_the_analysis(file, check):
    analysis, out_of = check["analysis"], check["against"]
    expected = rows(FIXTURES / file, check["sql"], options=("--whole",))[0]
    if out_of is None:
        table = analysis + "_summary" if analysis in ("memcpy", "memset") else analysis
        out_of = f"SELECT {', '.join(column['name'] for column in expected['columns'])} FROM {table}"
    found = rows(FIXTURES / file, out_of, options=("--whole",))[0]
    assert found["row_count"] == expected["row_count"]
    for one, other in zip(by_key(expected), by_key(found)):
        assert all(same(a, b) for a, b in zip(one, other)), (one, other)


def test_analyses_cover_the_part_that_reports_cover():
    file = FIXTURES / "jax" / "mlp.trace.json.zst"
    busy = [rows(file, "SELECT window_ns FROM devices", options=options)[0]["rows"][0][0] for options in ((), ("--whole",))]
    assert busy[0] < busy[1]


def test_formats_agree():
    sql = "SELECT name, start_ns, grid_x, dur_ns / 3.0 AS third FROM kernel LIMIT 50"
    table = rows(EXAMPLE, sql)[0]
    read = list(csv.reader(io.StringIO(query(EXAMPLE, sql, "--format", "csv").stdout)))
    assert read[0] == ["name", "start_ns", "grid_x", "third"]
    assert [[a, int(b), int(c), float(d)] for a, b, c, d in read[1:]] == table["rows"]
    assert len(query(EXAMPLE, sql).stdout.splitlines()) == 51


def test_limit_is_said():
    done = query(EXAMPLE, "SELECT name FROM kernel", "--limit", "3")
    assert done.stdout.splitlines()[-1] == "... only the first 3 rows shown; --limit 0 shows all"
    table = json.loads(query(EXAMPLE, "SELECT name FROM kernel", "--limit", "3", "--format", "json").stdout)["tables"][0]
    assert (table["row_count"], table["more"]) == (3, True)


def test_standard_input_holds_several_statements():
    done = query(EXAMPLE, None, "--format", "csv", text="SELECT 1 AS a; -- a comment ;\nSELECT 'x;y' AS b;\n")
    assert (done.returncode, done.stdout) == (0, "a\n1\n\nb\nx;y\n")


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT nam FROM kernel", "no such column: nam (character 8: nam FROM kernel); did you mean 'name'"),
        ("SELECT * FROM kernal", "no such table: kernal; did you mean 'kernel'"),
        ("SELEC", "syntax error"),
        (".schema kernal", "unknown table 'kernal'; did you mean 'kernel'"),
        (".nothing", "'.nothing'"),
    ],
)
def test_wrong_sql_is_one_line(sql, said):
    done = query(EXAMPLE, sql)
    assert done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "sql",
    ["ATTACH 'out.db' AS o", "VACUUM INTO 'out.db'", "CREATE TABLE t(a)", "INSERT INTO kernel(name) VALUES ('x')", "DELETE FROM kernel",
     "PRAGMA journal_mode = DELETE", "SELECT load_extension('out')", "SELECT writefile('out.db', 'x')",
     "SELECT 1; ATTACH 'out.db' AS o; CREATE TABLE o.t(a)"],
)
def test_nothing_can_be_written(sql, tmp_path):
    assert query(EXAMPLE, sql, cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_time_out():
    begun = time.monotonic()
    done = query(EXAMPLE, ENDLESS.format("count(*)"), "--time-out", "0.3")
    assert done.returncode == 2 and "0.3 s" in done.stderr and time.monotonic() - begun < HANGS_S / 2


def test_ctrl_c_cancels():
    with subprocess.Popen([PROGRAM, "query", str(EXAMPLE), ENDLESS.format("i"), "--format", "csv"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as started:
        started.stdout.readline()  # rows are written as they come
        started.send_signal(signal.SIGINT)
        started.stdout.read()
        assert started.wait(timeout=HANGS_S) == 130
        assert b"cancelled" in started.stderr.read()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_long_answers_need_no_memory():
    sql = ENDLESS.format("i, 'some text' || i") + " LIMIT 3000000"
    with subprocess.Popen([PROGRAM, "query", str(EXAMPLE), sql, "--format", "json"], stdout=subprocess.PIPE) as started:
        size = 0
        while piece := started.stdout.read(1 << 20):
            size += len(piece)
            status = Path(f"/proc/{started.pid}/status").read_text()
            peak = re.search(r"VmHWM:\s*(\d+) kB", status)
            assert peak is None or int(peak[1]) < 200_000
        assert started.wait() == 0 and size > 60_000_000


def test_read_only_file(tmp_path):
    copy = tmp_path / "trace.json.gz"
    copy.write_bytes(EXAMPLE.read_bytes())
    copy.chmod(0o444)
    assert rows(copy, "SELECT count(*) AS n FROM kernel")[0]["rows"] == [[608]]
    assert [p.name for p in tmp_path.iterdir()] == ["trace.json.gz"]
