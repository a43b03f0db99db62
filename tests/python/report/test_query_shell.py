"""The SQL shell of `query` on a pseudo-terminal: completion, Ctrl-C, dot commands, history; and the same entries as a script."""

import json
import subprocess
from pathlib import Path

import pytest
from patience import HANGS_S
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = "examples/input_bound.json.gz"
PROMPT = r"gpu-profile> "
ENDLESS = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;"


@pytest.fixture
def shell(program, tmp_path):
    with Terminal([program.path, "query", EXAMPLE], cwd=ROOT, environment={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
        terminal.expect_editing(PROMPT)
        yield terminal


def leave(shell):
    shell.type(".quit\n")
    return shell.end()[0]


def test_tab_completes_tables_columns_and_commands(shell):
    shell.type("SELECT count(*) FROM profiled\t;\n")
    shell.expect(r"\n *0\n")
    shell.expect_editing(PROMPT)
    shell.type("SELECT sum(dur\t) FROM kernel;\n")
    shell.expect(r"\n *\d{6,}\n")
    shell.expect_editing(PROMPT)
    shell.type("SELECT max(gaps.dur\t) > 0 AS any FRO\tga\t;\n")
    shell.expect(r"any\n *1\n")
    shell.expect_editing(PROMPT)
    shell.type(".sche\tgap\t\n")
    shell.expect(r"cause +TEXT")
    assert leave(shell) == 0


def test_tab_lists_what_is_ambiguous(shell):
    shell.type("SELECT * FROM mem\t")
    listed = shell.expect(r"memset_summary\n")
    assert "memcpy" in listed and "memset" in listed
    shell.type("cpy LIMIT 0;\n")
    shell.expect("start_ns")
    assert leave(shell) == 0


def test_ctrl_c_discards_the_line_and_keeps_the_shell(shell):
    shell.type("SELECT 'half of a")
    shell.expect("half of a")
    shell.type("\x03")
    shell.expect_editing(PROMPT)
    shell.type("SELECT 6 * 7;\n")
    shell.expect(r"\n *42\n")
    shell.expect_editing(PROMPT)
    shell.type("SELECT\n")
    shell.expect(r"\.\.\.> ")
    shell.type("\x03")
    shell.expect_editing(PROMPT)
    shell.type("SELECT 6 * 8;\n")
    shell.expect(r"\n *48\n")
    assert leave(shell) == 0


def test_ctrl_c_ends_a_query_and_keeps_the_shell(shell):
    shell.type(ENDLESS + "\n")
    shell.expect_running()  # a Ctrl-C on the line would discard that
    shell.type("\x03")
    shell.expect("cancelled")
    shell.expect_editing(PROMPT)
    shell.type("SELECT 6 * 7;\n")
    shell.expect(r"\n *42\n")
    assert leave(shell) == 0


def test_mode_and_timer(shell):
    shell.type(".mode csv\n")
    shell.expect_editing(PROMPT)
    shell.type("SELECT 1 AS a, 'x,y' AS b;\n")
    shell.expect(r'\na,b\n1,"x,y"\n')
    shell.expect_editing(PROMPT)
    shell.type(".timer on\n")
    shell.expect_editing(PROMPT)
    shell.type("SELECT count(*) FROM kernel;\n")
    shell.expect(r"\d (?:ns|us|ms|s)\n")
    shell.expect_editing(PROMPT)
    shell.type(".mode jsn\n")
    shell.expect("json")
    shell.expect_editing(PROMPT)
    shell.type(".mode json\nSELECT 3 AS c;\n")
    shown = shell.expect(r"\n\}\n")
    document = json.loads(shown[shown.index("{"):])
    assert document["tables"][0]["rows"] == [[3]]
    assert leave(shell) == 0


@pytest.mark.parametrize("wrong, meant", [
    ("SELECT nam FROM kernel;", "name"),
    ("SELECT * FROM kernels_;", "kernels"),
    ("SELECT stdev(dur_ns) FROM kernel;", "stddev"),
    (".tabels", ".tables"),
    (".schema kernls", "kernels"),
])
def test_suggestions(shell, wrong, meant):
    shell.type(wrong + "\n")
    assert meant in shell.expect(r"did you mean [^\n]*\n").split("did you mean")[1]
    assert leave(shell) == 0


def test_end_of_input_leaves(shell):
    shell.type("\x04")
    assert shell.end()[0] == 0


def test_the_history_comes_back(program, tmp_path):
    for typed in ("SELECT 1234 * 2;\n", "\x1b[A\x1b[A\n"):  # in the second session: up, past .quit
        with Terminal([program.path, "query", EXAMPLE], cwd=ROOT, environment={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
            terminal.expect_editing(PROMPT)
            terminal.type(typed)
            terminal.expect(r"\n *2468\n")
            assert leave(terminal) == 0
    assert (tmp_path / "gpu-profile" / "query_history").stat().st_mode & 0o777 == 0o600


def script(program, text, *options):
    return subprocess.run([program.path, "query", EXAMPLE, *options], cwd=ROOT, input=text, capture_output=True, text=True, check=False, timeout=HANGS_S)


def test_scripts_mix_statements_and_commands(program):
    done = script(program, ".mode csv\nSELECT 1 AS a;\nSELECT\n 2 AS b;\n.schema gaps\nSELECT 3 AS c")
    assert done.returncode == 0, done.stderr
    assert "a\n1\n" in done.stdout and "b\n2\n" in done.stdout and done.stdout.endswith("c\n3\n") and "cause" in done.stdout


def test_the_first_error_ends_a_script(program):
    done = script(program, "SELECT 1 AS a;\nSELECT nothing;\nSELECT 2 AS b;\n", "--format", "csv")
    assert (done.returncode, done.stdout) == (2, "a\n1\n")
    assert "nothing" in done.stderr


def test_time_out_holds_for_a_whole_script(program):
    done = script(program, f"{ENDLESS}\n{ENDLESS}\n", "--time-out", "0.3")
    assert done.returncode == 2


def test_without_libedit_the_shell_still_works(program, tmp_path):
    (math,) = {line.split()[2] for line in subprocess.run(["ldd", program.path], capture_output=True, text=True, check=True).stdout.splitlines()
               if line.strip().startswith("libm.so")}
    (tmp_path / "libedit.so.2").write_bytes(Path(math).read_bytes())  # a library without libedit's functions
    with Terminal([program.path, "query", EXAMPLE], cwd=ROOT, environment={"LD_LIBRARY_PATH": str(tmp_path)}) as shell:
        shell.expect(PROMPT)
        shell.type("SELECT 'half\x03")
        shell.expect(PROMPT)
        shell.type("SELECT 6 * 7;\n")
        shell.expect(r"\n *42\n")
        assert leave(shell) == 0
