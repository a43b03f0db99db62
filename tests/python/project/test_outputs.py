"""Files that the program writes: whole or absent, never one of the inputs, private where they may hold secrets. The long run, with
a fault at every disk call of every kind of output, is tests/soak/outputs.py."""

import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import gpu_profile

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "soak"))

from outputs import BURSTY, ERRORS, TRACE, Kind, full, small_disk  # noqa: E402
from patience import HANGS_S  # noqa: E402

OTHER = ROOT / "tests" / "fixtures" / "kineto" / "memory_bound.json.gz"


JOB = ROOT / "examples" / "ranks"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


# Whole or absent.


@pytest.mark.parametrize("name", ["report", "profile capture", "history"])
def test_a_disk_call_that_fails_leaves_the_old_file(program, tmp_path, name):
    kind = Kind(program.path, name, tmp_path / "files")
    calls = kind.calls(tmp_path / "calls")
    assert {"create", "write", "sync"} <= set(calls)
    # The first and the last of each call: what lies between them is alike.
    telling = {calls.index(call) + 1 for call in calls} | {len(calls) - calls[::-1].index(call) for call in calls}
    for number in sorted(telling):
        for what in random.Random(number).sample(ERRORS, 3):
            kind.fault(number, calls[number - 1], what)


@pytest.mark.parametrize("name", ["export nsys", "query", "bench save"])
def test_a_full_disk_leaves_the_old_file(program, tmp_path, name):
    assert full(program.path, name, tmp_path / "small") is not None


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_while_writing_leaves_the_old_file(program, tmp_path, how):
    kind = Kind(program.path, "bench save", tmp_path / "files")
    kind.prepare()
    kind.command[-1:] = ["sleep", "0.2"]
    kind.command[kind.command.index("--min-time") + 1] = "60"
    process = subprocess.Popen(kind.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
    while not kind.beside():
        time.sleep(0.005)
    os.killpg(process.pid, how)
    process.communicate(timeout=HANGS_S)
    assert process.returncode != 0
    assert kind.state() == "old"
    assert len(kind.beside()) == (how == signal.SIGKILL)


def test_a_query_that_is_interrupted_twice_leaves_nothing(program, tmp_path):
    out, endless = tmp_path / "out", "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n"
    process = subprocess.Popen([program.path, "query", TRACE, endless, "-o", out], stderr=subprocess.PIPE)
    while not list(tmp_path.iterdir()):
        time.sleep(0.005)
    for _ in range(40):
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=0.05)
            break
        except subprocess.TimeoutExpired:
            pass
    process.communicate(timeout=HANGS_S)
    assert process.returncode in (130, -signal.SIGINT)
    assert list(tmp_path.iterdir()) == []


def test_an_answer_that_ends_in_an_error_is_no_file(program, tmp_path):
    out = tmp_path / "out"
    out.write_text("old")
    outcome = program.run("query", TRACE, "select 1; select nothing from nowhere", "-o", out)
    assert outcome.status != 0
    assert out.read_text() == "old"


def test_a_command_that_does_not_start_leaves_the_files(program, tmp_path):
    for option in ("--csv", "--capture", "--output"):
        (tmp_path / option).write_text("old")
    options = [word for option in ("--csv", "--capture", "--output") for word in (option, tmp_path / option)]
    assert program.run(*options, "--backend", f"replay:{BURSTY}@max", "--", "/no/such/program").status == 127
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(("--csv", "--capture", "--output"), "old")


def test_a_capture_that_cannot_be_completed_is_kept_beside(program, tmp_path):
    with small_disk(tmp_path / "small") as how:
        capture = tmp_path / "small" / "run.gpuprof"
        if how == "tmpfs":
            (tmp_path / "small" / "filler").write_bytes(bytes(60 * 1024))
        outcome = program.run("--backend", f"replay:{BURSTY}@max", "--capture", capture, "--", "true")
        (said,) = [line for line in outcome.errors if line.startswith("gpu-profile: cannot write")]
        part = said.split(" is in ")[1].split(",")[0]
        assert not capture.exists()
        assert program.report(part, "losses").document["source"]["importer"] == "capture"


# What is no regular file is written as before.


def test_pipes_devices_and_links(program, tmp_path):
    whole = program.run("report", TRACE, "kernels").stdout
    assert program.run("report", TRACE, "kernels", "-o", "/dev/stdout").stdout == whole
    assert program.run("report", TRACE, "kernels", "-o", "/dev/null").status == 0
    done = subprocess.run(["bash", "-c", '"$0" report "$1" kernels -o >(cat)', program.path, TRACE], capture_output=True, timeout=HANGS_S, check=True)
    assert done.stdout == whole
    with (tmp_path / "shared").open("wb") as shared:  # by its parent, which continues to write
        subprocess.run([program.path, "report", TRACE, "kernels", "-o", "/dev/stdout"], stdout=shared, timeout=HANGS_S, check=True)
        assert (tmp_path / "shared").stat().st_ino == os.fstat(shared.fileno()).st_ino
    (tmp_path / "link").symlink_to("target")
    assert program.run("report", TRACE, "kernels", "-o", tmp_path / "link").status == 0
    assert (tmp_path / "target").read_bytes() == whole


# Never one of the inputs.


@pytest.fixture
def files(tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    for name, source in (("a.json.gz", TRACE), ("b.json.gz", OTHER)):
        (folder / name).write_bytes(source.read_bytes())
    (tmp_path / "hard").hardlink_to(folder / "a.json.gz")
    (tmp_path / "soft").symlink_to(folder / "a.json.gz")
    (tmp_path / "bench.py").write_text("def one(): pass\n")
    (tmp_path / "result.json").write_text("{}")
    (tmp_path / "series.csv").write_bytes(BURSTY.read_bytes())
    return tmp_path


@pytest.mark.parametrize("words", [
    "report A -o A", "report A -o hard", "report soft -o A", "report runs -o B", "report B A -o soft",
    "report A kernels --format csv -o A", "compare A B -o B", "compare A B -o hard", "compare A A --repeat-base B -o B",
    "query A select(1) -o A", "export capture A -o A", "export html B --base A -o hard", "export chrome runs -o A",
    "scrub A -o hard",
    "history add A --label x --db A", "history list --db A -o A", "record -o A -- cat A", "record -o hard -- cat A",
    "bench bench.py -o bench.py", "bench bench.py:one --save ./bench.py --force", "bench compare ./result.json B -o result.json",
    "bench --nvbench-json bench.py -- python3 bench.py", "--csv series.csv --backend replay:series.csv@max -- true",
    "--capture A -- cat A", "--output series.csv --backend replay:series.csv -- true",
])
def test_an_input_is_not_written(program, files, words):
    names = {"A": "runs/a.json.gz", "B": "runs/b.json.gz"}
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    done = subprocess.run([program.path, *(names.get(word, word) for word in words.split())], cwd=files, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 2, done.stderr
    assert "cannot write" in done.stderr and "choose another output" in done.stderr
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


def test_standard_input_is_not_written(program, files):
    with (files / "soft").open("rb") as trace:
        done = subprocess.run([program.path, "report", "-", "-o", files / "hard"], stdin=trace, capture_output=True, timeout=HANGS_S, check=False)
    assert done.returncode == 2 and b"also the standard input" in done.stderr


def test_two_outputs_are_two_files(program, tmp_path):
    outcome = program.run("--csv", tmp_path / "x", "--capture", tmp_path / "." / "x", "--", "true")
    assert outcome.status == 2 and "give each output its own file" in outcome.errors[0]


# Private.


def test_captures_and_histories_are_the_owners_alone(program, tmp_path):
    before = os.umask(0o022)
    try:
        assert program.run("export", "capture", TRACE, "-o", tmp_path / "capture").status == 0
        assert program.run("--backend", f"replay:{BURSTY}@max", "--capture", tmp_path / "samples", "--csv", tmp_path / "csv", "--", "true").status == 0
        assert program.run("record", "--quiet", "--sample", "0", "-o", tmp_path / "recording", "--", "true").status == 0
        assert program.run("history", "add", TRACE, "--label", "x", "--db", tmp_path / "history").status == 0
        assert program.run("ranks", JOB, "--cache", tmp_path / "cache", "--save", tmp_path / "job").status == 0
        assert program.run("ranks", "reduce", JOB / "rank00000.json.gz", "-o", tmp_path / "summary").status == 0
        gpu_profile.ranks(JOB, cache=tmp_path / "cache", client=ThreadPoolExecutor(2))
    finally:
        os.umask(before)
    assert {path.name: oct(mode_of(path)) for path in tmp_path.iterdir() if path.is_file()} == {
        "capture": "0o600", "samples": "0o600", "recording": "0o600", "history": "0o600", "job": "0o600", "summary": "0o600", "csv": "0o644"}
    summaries = list((tmp_path / "cache").iterdir())
    assert len(summaries) == 8 and {oct(mode_of(path)) for path in summaries} == {"0o600"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("kind", ["owner", "link"])
def test_a_summary_that_another_put_there_is_refused(program, tmp_path, kind):
    assert program.run("ranks", JOB, "--cache", tmp_path / "cache").status == 0
    first = min((tmp_path / "cache").iterdir())
    if kind == "owner":
        os.chown(first, 12345, 12345)
    else:
        first.rename(tmp_path / "elsewhere")
        first.symlink_to(tmp_path / "elsewhere")
    outcome = program.run("ranks", JOB, "--cache", tmp_path / "cache", "--format", "json")
    assert f"{first} is {'another user' if kind == 'owner' else 'not a file'}" in outcome.stdout.decode()
    ranks = gpu_profile.ranks(JOB, cache=tmp_path / "cache", client=ThreadPoolExecutor(2)).table("ranks")
    assert f"{first} is {'another user' if kind == 'owner' else 'not a file'}" in str(ranks.to_dict())


def test_what_killed_processes_left_in_a_cache_is_removed(program, tmp_path):
    (tmp_path / "cache").mkdir()
    old, new, other = (tmp_path / "cache" / name for name in (".a.gpuprof.part-aaaaaa", ".b.gpuprof.part-bbbbbb", "of the user.part-cccccc"))
    for path in (old, new, other):
        path.write_bytes(b"x")
    for path in (old, other):
        os.utime(path, (1, 1))
    assert program.run("ranks", JOB, "--cache", tmp_path / "cache").status == 0
    assert not old.exists() and new.exists() and other.exists()


def test_a_replaced_file_keeps_its_mode(program, tmp_path):
    for name, format_of, mode in (("capture", "capture", 0o640), ("trace", "chrome", 0o600)):
        (tmp_path / name).write_text("old")
        (tmp_path / name).chmod(mode)
        assert program.run("export", format_of, TRACE, "-o", tmp_path / name).status == 0
        assert mode_of(tmp_path / name) == mode


# The output that streams.


def test_csv_can_be_followed(program, tmp_path):
    csv = tmp_path / "series.csv"
    csv.write_text("old")
    process = subprocess.Popen([program.path, "--backend", f"replay:{BURSTY}", "--csv", csv, "--interval", "0.05", "--", "sleep", "100"],
                               stderr=subprocess.DEVNULL)
    try:
        begun, lines = time.monotonic(), []
        while len(lines) < 3:
            assert time.monotonic() - begun < HANGS_S
            text = csv.read_text()
            assert text == "old" or text.endswith("\n")
            lines = text.splitlines()
            time.sleep(0.02)
        assert lines[0].startswith("time_s,")
    finally:
        process.kill()
        process.wait()
    assert csv.read_text().endswith("\n")


# Histories.


def half_an_addition(database):
    """What a process leaves that is killed within a transaction whose pages are in the file already."""
    script = """if True:
        import os, sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("pragma cache_size=1")
        database.execute("begin immediate")
        database.executemany("insert into value values (1, ?, 0)", [(f"metric {i} {'x' * 500}",) for i in range(100)])
        os.kill(os.getpid(), 9)
    """
    subprocess.run([sys.executable, "-c", script, database], check=False, timeout=HANGS_S)
    assert Path(f"{database}-journal").stat().st_size > 0


@pytest.mark.parametrize("command", [["list"], ["check", TRACE, "--label", "x"], ["add", TRACE, "--label", "x"]])
def test_half_an_addition_of_another_program_is_left_to_it(program, tmp_path, command):
    """Only who knows where the journal is from may let SQLite follow it. This program leaves none (test_history.py)."""
    database = tmp_path / "history"
    assert program.run("history", "add", TRACE, "--label", "x", "--db", database).status == 0
    half_an_addition(database)
    before = database.read_bytes()
    outcome = program.run("history", *command, "--db", database)
    assert outcome.status == 3 and f"{database}-journal" in outcome.errors[0] and database.read_bytes() == before
    with sqlite3.connect(database) as undone:  # as the message says
        assert undone.execute("select count(*) from value where metric like 'metric%'").fetchone() == (0,)
    assert program.run("history", *command, "--db", database).status == 0


# Commands that do not start.


@pytest.mark.parametrize("before", [["--"], ["record", "-o", "out", "--"], ["bench", "--"]])
def test_a_command_that_does_not_start_ends_as_in_a_shell(program, tmp_path, before):
    (tmp_path / "text").write_text("no program\n")
    for command, status in (("no-such-command", 127), ("./no-such-file", 127), ("./text", 126), ("./", 126), ("./text/below", 126)):
        done = subprocess.run([program.path, *before, command], cwd=tmp_path, capture_output=True, text=True, timeout=HANGS_S, check=False)
        assert (done.returncode, done.stderr.count("cannot start")) == (status, 1), (command, done.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


LONG = "a" * 300


@pytest.mark.parametrize("words", [["record", "--quiet", "--sample", "0", "-o", LONG, "--", "true"], ["report", OTHER, "-o", LONG], ["export", "folded", OTHER, "-o", LONG],
                                   ["scrub", OTHER, "-o", LONG], ["history", "add", OTHER, "--db", LONG], ["query", OTHER, "-o", LONG, "SELECT 1"]])
def test_a_name_that_is_too_long_is_one_line(program, tmp_path, words):
    done = subprocess.run([program.path, *map(str, words)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode in (2, 6) and done.stderr.count("\n") == 1
    assert "File name too long" in done.stderr and "internal error" not in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("output", ["/dev/full", "/dev/null", "folder", "pipe"])
def test_a_capture_is_a_file(program, tmp_path, output):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(os.listdir("/dev"))
    done = subprocess.run([program.path, "record", "--sample", "0", "-o", output, "--", "touch", "ran"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert done.returncode == 2 and done.stderr == f"gpu-profile: cannot write {output}: it is not a file; name a file for the capture\n"
    assert sorted(os.listdir(tmp_path)) == ["folder", "pipe"]
    assert [name for name in os.listdir("/dev") if "parts" in name] == [name for name in before if "parts" in name]


@pytest.mark.parametrize("file", ["/proc/kmsg", "/proc/self/environ", "/sys/kernel/uevent_seqnum"])
def test_files_of_the_kernel_are_not_read(program, tmp_path, file):
    """Reading some of them waits for ever."""
    if not os.path.exists(file):
        pytest.skip("there is no such file here")
    link = tmp_path / "trace.json"
    link.symlink_to(file)
    for name in (file, link):
        outcome = program.run("report", name)
        assert outcome.status == 3 and "a device of the kernel" in outcome.errors[0] and len(outcome.errors) == 1
