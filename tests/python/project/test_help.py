"""`help`: topics and pages in a pipe, on a terminal, and by a pager."""

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest
from patience import HANGS_S

ROOT = Path(__file__).resolve().parents[3]


def test_every_command_has_a_page(program):
    listed = program.run("help").stdout.decode()
    commands = re.findall(r"^  (\S+)", listed.split("\n\n")[1], re.MULTILINE)
    assert "report" in commands and "help" in commands
    for command in commands:
        shown = program.run("help", command)
        assert shown.status == 0
        assert shown.stdout.decode().startswith(f"{command}: ")


def test_every_page_of_the_documentation_is_a_topic(program):
    listed = set(re.findall(r"^  (\S+)", program.run("help").stdout.decode(), re.MULTILINE))
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.name != "README.md" and path.name != "schema.md"]
    pages = {path.stem for path in pages if path.parent.name not in ("decisions", "benchmarks")}
    assert listed == pages | {"schema", "glossary"}


def test_a_page_in_a_pipe_is_plain_text(program):
    shown = program.run("help", "troubleshooting").stdout.decode()
    assert "\x1b" not in shown
    assert shown.startswith("Troubleshooting\n")
    assert "gpu-profile help" in shown.rstrip().splitlines()[-1]


def test_an_unknown_topic_suggests_the_nearest(program):
    done = program.run("help", "verdict")
    assert done.status == 2
    assert "'verdicts'" in done.stderr.decode()


def on_a_terminal(program, topic, **environment):
    """What a terminal of 10 lines is sent."""
    controller, terminal = pty.openpty()
    os.set_inheritable(terminal, True)
    subprocess.run(["stty", "rows", "10", "cols", "80"], stdin=terminal, check=True)
    environment = {**os.environ, "TERM": "xterm", **environment}
    running = subprocess.Popen([program.path, "help", topic], stdin=terminal, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    seen = b""
    while True:
        try:
            piece = os.read(controller, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        seen += piece
    os.close(controller)
    assert running.wait(timeout=HANGS_S) == 0
    return seen.decode()


def test_a_terminal_has_headings_in_bold_and_a_pager(program):
    assert "\x1b[1mConcepts\x1b[0m" in on_a_terminal(program, "concepts", PAGER="cat")
    assert on_a_terminal(program, "concepts", PAGER="head -n 1").count("\n") == 1
    assert "Concepts" in on_a_terminal(program, "concepts", PAGER="no-such-pager-here"), "shown without it"


def test_the_name_alone_shows_six_commands(program):
    shown = program.run()
    lines = shown.stdout.decode().splitlines()
    assert (shown.status, shown.stderr) == (2, b"")
    assert [line.split()[0] for line in lines if line.startswith("  ")] == ["record", "report", "view", "compare", "bench", "top"]
    assert lines[-1] == "all commands: gpu-profile help"


@pytest.mark.parametrize("columns", [50, 80, 140])
def test_help_is_as_wide_as_the_terminal(program, columns):
    commands = re.findall(r"^  (\S+)", program.run("help").stdout.decode().split("\n\n")[1], re.MULTILINE)
    wide = {}
    for words in [[], ["--help"], ["help"], *([command, "--help"] for command in commands)]:
        done = subprocess.run([program.path, *words], capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": str(columns)})
        for line in done.stdout.splitlines():
            if len(line) > columns and not line.startswith("usage: ") and len(max(line.split(), key=len)) < columns / 2:
                wide.setdefault(" ".join(words), []).append(line)
    assert wide == {}


def test_every_analysis_is_in_a_group_with_its_sentence(program):
    shown = program.run("report", "--help").stdout.decode()
    names = [row["name"] for row in program.declared("analyses")]
    listed = shown[shown.index("\nAnalyses\n"):]
    assert sorted(re.findall(r"^  (\w+) +\S", listed, re.MULTILINE)) == sorted(names)
    assert len(re.findall(r"^[A-Z][\w ]+: ", listed, re.MULTILINE)) >= 8


def test_a_program_in_place_of_a_command(program, tmp_path):
    assert "to record a program, use gpu-profile record -- python3 train.py" in program.run("python3", "train.py").stderr.decode()
    (tmp_path / "report.json").write_text("{}")
    assert f"to read a file, use gpu-profile report {tmp_path}/report.json" in program.run(tmp_path / "report.json").stderr.decode()


def test_titles_are_titles(program):
    shown = program.run("help").stdout.decode()
    assert "<!--" not in shown and "Your first job of many ranks" in shown
    assert program.run("help", "torchrun").stdout.decode().startswith("Your first job of many ranks")
