"""What commands do on a terminal: a line of progress when something takes long, watching files, a pager for long answers."""

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from patience import HANGS_S
from terminal import Terminal

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "input_bound.json.gz"
OTHER = ROOT / "tests" / "fixtures" / "kineto" / "memory_bound.json.gz"


def test_reading_for_long_shows_progress(program, tmp_path):
    os.mkfifo(pipe := tmp_path / "slow.json.gz")

    def feed():
        with open(pipe, "wb") as file:
            file.write(EXAMPLE.read_bytes()[:1000])
            file.flush()
            time.sleep(3)
            file.write(EXAMPLE.read_bytes()[1000:])

    feeder = threading.Thread(target=feed)
    feeder.start()
    with Terminal([program.path, "report", str(pipe)], rows=60) as terminal:
        terminal.expect(r"reading \(2 s\)")
        terminal.expect("input-bound|Input-bound")
        assert terminal.end()[0] == 0
    feeder.join()


@pytest.fixture
def slow(tmp_path):
    """Recordings that take three seconds to read, as pipes: a function that makes the next one."""
    pipes = []

    def feed(pipe):
        with open(pipe, "wb") as file:
            file.write(EXAMPLE.read_bytes()[:1000])
            file.flush()
            time.sleep(3)
            file.write(EXAMPLE.read_bytes()[1000:])

    def make():
        os.mkfifo(pipe := tmp_path / f"slow-{len(pipes)}.json.gz")
        pipes.append(pipe)
        threading.Thread(target=feed, args=[pipe], daemon=True).start()
        return str(pipe)

    return make


# Of each command that reads a recording: its words, with {} for the recording, and whether a pager shows the answer.
ANSWERS = {
    "report {} kernels gaps ops --limit 60": True, "report {} --verbose": True, "report {} kernels --format csv": False,
    "compare {} {other} kernels metrics --limit 60": True, "whatif {}": None, "query {} .tables": False, "export folded {} -o -": False,
}


def test_nothing_is_drawn_over_an_answer(program, slow):
    """Standard output and the progress line share a terminal of 24 rows, and the pager waits for a person. All at once: each takes seconds."""
    verbose = b"--verbose" in program.run("report", "--help").stdout
    answers = {words: paged for words, paged in ANSWERS.items() if verbose or "--verbose" not in words}
    pager = {"PAGER": "printf PAGER-OPEN; sleep 1.5; cat; printf PAGER-SHUT", "TERM": "dumb"}
    opened = {}
    try:
        for words in answers:
            command = [word.format(slow() if word == "{}" else None, other=OTHER) for word in words.split()]
            opened[words] = Terminal([program.path, *command], rows=24, columns=80, environment=pager)
        for words, terminal in opened.items():
            terminal.expect(r"(reading|analysing)[^\n]*\(2 s\)")
        for words, terminal in opened.items():
            status, shown = terminal.end()
            assert status == 0, (words, shown)
            if answers[words] is not None:
                assert ("PAGER-OPEN" in shown) == answers[words], (words, shown)
            progress = list(re.finditer(r"(reading|analysing)[^\n\r]*\(\d+ s\)\r", shown))
            after = shown[progress[-1].end() if progress else 0:].strip()
            first = shown.index("PAGER-OPEN") if "PAGER-OPEN" in shown else shown.index(after[:20])
            assert after and all(line.start() < first for line in progress), (words, shown)
    finally:
        for terminal in opened.values():
            terminal.__exit__()


def test_no_progress_where_standard_error_is_not_a_terminal(program, tmp_path):
    os.mkfifo(pipe := tmp_path / "slow.json.gz")
    with subprocess.Popen([program.path, "report", str(pipe)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        with open(pipe, "wb") as file:
            time.sleep(2.5)
            file.write(EXAMPLE.read_bytes())
        assert (process.stdout.read() != b"", process.stderr.read(), process.wait()) == (True, b"", 0)


@pytest.mark.parametrize("folder", [False, True])
def test_watch_shows_each_version(program, tmp_path, folder):
    recording = tmp_path / "run.json.gz"
    shutil.copy(EXAMPLE, recording)
    with Terminal([program.path, "report", str(tmp_path if folder else recording), "devices", "--watch"]) as terminal:
        terminal.expect("608")
        (tmp_path / "next").write_bytes(OTHER.read_bytes())
        os.replace(tmp_path / "next", recording)
        terminal.expect(r"\b60\b")
        recording.write_bytes(b"not a recording")
        terminal.expect("gpu-profile: ")
        shutil.copy(EXAMPLE, recording)
        terminal.expect("608")
        terminal.type("\x03")
        assert terminal.end()[0] == -signal.SIGINT


def kernels_of(answer):
    (devices,) = json.loads(answer.read_text())["tables"]
    return dict(zip([column["name"] for column in devices["columns"]], devices["rows"][0]))["kernels"]


def test_watch_keeps_a_file_up_to_date(program, tmp_path):
    recording, answer = tmp_path / "run.json.gz", tmp_path / "answer.json"
    shutil.copy(EXAMPLE, recording)
    with subprocess.Popen([program.path, "report", str(recording), "devices", "--watch", "--format", "json", "-o", str(answer)]) as process:
        deadline = time.monotonic() + HANGS_S
        for source, kernels in ((EXAMPLE, 608), (OTHER, 60)):
            shutil.copy(source, recording)
            while not answer.exists() or kernels_of(answer) != kernels:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        process.kill()


def test_long_answers_go_through_the_pager(program, tmp_path):
    (pager := tmp_path / "pager").write_text("#!/bin/sh\necho PAGED\ncat\n")
    pager.chmod(0o755)
    for rows, paged in ((10, True), (200, False)):
        with Terminal([program.path, "report", str(EXAMPLE)], rows=rows, environment={"PAGER": str(pager)}) as terminal:
            status, shown = terminal.end()
        assert (status, "PAGED" in shown, "608" in shown) == (0, paged, True)
    with Terminal([program.path, "report", str(EXAMPLE)], rows=10, environment={"PAGER": ""}) as terminal:
        assert "PAGED" not in terminal.end()[1]


def test_standard_input_cannot_be_watched(program):
    done = subprocess.run([program.path, "report", "-", "--watch"], input=b"", capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--watch" in done.stderr
