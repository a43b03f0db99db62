"""`history`: what is kept, what is comparable, and what happens to files that cannot be used."""

import fcntl
import json
import os
import signal
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

import pytest
from patience import HANGS_S
from test_compare import recording, rows


@pytest.fixture
def database(tmp_path):
    return str(tmp_path / "history.sqlite")


def add(program, database, file, label="train", *more):
    outcome = program.run("history", "add", file, "--label", label, "--db", database, *more)
    assert outcome.status == 0, outcome.errors


def check(program, database, file, *more, label="train"):
    return program.run("history", "check", file, "--label", label, "--db", database, "--format", "json", *more)


def grown(program, database, tmp_path, *more):
    """A history of five runs that hardly differ."""
    for seed in range(5):
        add(program, database, recording(tmp_path / f"{seed}.json", seed, factor=1 + 0.001 * (seed % 3)), "train", *more)


def test_a_slower_run_fails_and_an_equal_one_does_not(program, database, tmp_path):
    grown(program, database, tmp_path)
    slow = recording(tmp_path / "slow.json", 77, factor=1.05)
    alike = recording(tmp_path / "alike.json", 78, factor=1.001)
    outcome = check(program, database, slow, "--fail-on", "step_p50>2%")
    assert outcome.status == 1 and json.loads(outcome.stdout)["verdict"]["name"] == "slower"
    outcome = check(program, database, alike, "--fail-on", "step_p50>2%")
    assert outcome.status == 0 and json.loads(outcome.stdout)["verdict"]["name"] == "same"
    step = rows(json.loads(outcome.stdout), "metrics")[0]
    assert (step["base_samples"], step["new_samples"]) == (5, 1)


def test_only_the_last_comparable_runs_count(program, database, tmp_path):
    grown(program, database, tmp_path)
    add(program, database, recording(tmp_path / "label.json", 9, factor=3), "other")
    add(program, database, recording(tmp_path / "hardware.json", 9, factor=3, sms=114))
    add(program, database, recording(tmp_path / "machine.json", 9, factor=3), "train", "--machine", "elsewhere")
    file = recording(tmp_path / "new.json", 10)
    assert rows(json.loads(check(program, database, file).stdout), "metrics")[0]["base_samples"] == 5
    assert rows(json.loads(check(program, database, file, "--last", "3").stdout), "metrics")[0]["base_samples"] == 3


def test_without_comparable_runs_nothing_is_judged(program, database, tmp_path):
    file = recording(tmp_path / "new.json", 1)
    outcome = check(program, database, file, "--fail-on", "step_p50>2%")
    assert outcome.status == 0 and "--fail-on step_p50>2%" in outcome.errors[0]
    assert json.loads(outcome.stdout)["verdict"]["name"] == "cannot tell"


def test_it_is_plain_sqlite(program, database, tmp_path):
    add(program, database, recording(tmp_path / "a.json", 1, noise=0))
    with sqlite3.connect(database) as connection:
        value, = connection.execute("SELECT value FROM value JOIN run ON run.id = value.run WHERE metric = 'step_p50' AND label = 'train'").fetchone()
    assert value == pytest.approx(1_000_000, abs=1)


def test_many_writers_at_once_lose_nothing(program, database, tmp_path):
    file = recording(tmp_path / "a.json", 1)
    command = [str(program.path), "history", "add", file, "--label", "train", "--db", database]
    writers = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(12)]
    assert [(writer.wait(), writer.stderr.read()) for writer in writers] == [(0, b"")] * 12
    listed = program.run("history", "list", "--db", database, "--format", "csv", "--limit", "0")
    assert listed.stdout.count(b"\n") == 13


@pytest.mark.parametrize("damage", ["text", "head", "middle", "foreign", "newer", "view", "folder"])
def test_a_file_that_cannot_be_used_is_refused_and_left_alone(program, database, tmp_path, damage):
    file = recording(tmp_path / "a.json", 1)
    if damage == "folder":
        (tmp_path / "history.sqlite").mkdir()
    elif damage == "text":
        (tmp_path / "history.sqlite").write_text("no database\n" * 100)
    elif damage == "foreign":
        with sqlite3.connect(database) as connection:
            connection.execute("CREATE TABLE mine (x)")
    else:
        add(program, database, file)
        if damage == "newer":
            with sqlite3.connect(database) as connection:
                connection.execute("PRAGMA user_version = 9")
        elif damage == "view":  # one that never ends
            with sqlite3.connect(database) as connection:
                connection.executescript("DROP TABLE value; CREATE VIEW value AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
                                         " SELECT x AS run, 'wall_time' AS metric, x AS value FROM n")
        else:
            content = bytearray((tmp_path / "history.sqlite").read_bytes())
            begin = 100 if damage == "head" else 4096
            content[begin:begin + 600] = b"\xff" * 600
            (tmp_path / "history.sqlite").write_bytes(content)
    before = None if damage == "folder" else (tmp_path / "history.sqlite").read_bytes()
    for arguments in (["add", file, "--label", "train"], ["list"], ["check", file, "--label", "train"]):
        outcome = program.run("history", *arguments, "--db", database)
        assert outcome.status in (3, 5), (arguments, outcome.stdout, outcome.errors)
        assert len(outcome.errors) == 1 and database in outcome.errors[0]
    if before is not None:
        assert (tmp_path / "history.sqlite").read_bytes() == before


def hot_journal(database, named):
    """A journal as SQLite leaves it when it is killed in the middle of a change of several databases: `named` is their super-journal, which
    SQLite removes when it has undone the change."""
    magic = bytes.fromhex("d9d505f920a163d7")
    page = struct.unpack(">H", database[16:18])[0]
    name = os.fsencode(named)
    header = magic + struct.pack(">5I", 0, 1, len(database) // page, 512, page)
    pending = struct.pack(">I", 0x40000000 // page + 1)
    return header.ljust(512, b"\0") + pending + name + struct.pack(">2I", len(name), sum(name)) + magic


@pytest.mark.parametrize("arguments", [["list"], ["check", "FILE", "--label", "train"], ["add", "FILE", "--label", "train"]])
def test_a_planted_journal_removes_nothing(program, database, tmp_path, arguments):
    file = recording(tmp_path / "a.json", 1)
    add(program, database, file)
    private = tmp_path / "private"
    private.write_text("of the user")
    before = (tmp_path / "history.sqlite").read_bytes()
    journal = tmp_path / "history.sqlite-journal"
    journal.write_bytes(hot_journal(before, private))
    outcome = program.run("history", *(file if word == "FILE" else word for word in arguments), "--db", database)
    assert private.exists() and journal.exists() and (tmp_path / "history.sqlite").read_bytes() == before
    assert outcome.status == 3 and str(journal) in outcome.errors[0] and "delete it" in outcome.errors[0]
    with sqlite3.connect(database) as connection:  # the journal is one that SQLite believes
        connection.execute("SELECT count(*) FROM run").fetchone()
    assert not private.exists() and not journal.exists()


@pytest.mark.parametrize("suffix", ["-journal", "-wal"])
@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_nothing_beside_a_history_is_read(program, database, tmp_path, suffix, kind):
    add(program, database, recording(tmp_path / "a.json", 1))
    beside = tmp_path / f"history.sqlite{suffix}"
    {"file": lambda: beside.write_bytes(b"x"), "link": lambda: beside.symlink_to("/dev/zero"), "pipe": lambda: os.mkfifo(beside)}[kind]()
    outcome = program.run("history", "list", "--db", database)
    assert outcome.status == 3 and str(beside) in outcome.errors[0]
    beside.unlink()
    beside.touch()  # what SQLite leaves with journal_mode=TRUNCATE
    assert program.run("history", "list", "--db", database).status == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(("owner", "mode", "status"), [(12345, 0o777, 3), (12345, 0o755, 0), (0, 0o777, 0)])
def test_a_history_of_another_user_in_a_shared_folder_is_refused(program, tmp_path, owner, mode, status):
    file, shared = recording(tmp_path / "a.json", 1), tmp_path / "shared"
    shared.mkdir()
    database = str(shared / "history.sqlite")
    add(program, database, file)
    os.chown(database, owner, owner)
    shared.chmod(mode)
    outcome = program.run("history", "list", "--db", database)
    assert outcome.status == status
    assert status == 0 or "another user (12345)" in outcome.errors[0]


@pytest.mark.parametrize("target", ["a history", "nothing"])
@pytest.mark.parametrize("action", ["add", "list", "check"])
def test_a_link_in_a_received_folder_leads_nowhere(program, database, tmp_path, action, target):
    """The usual name in the current folder, which nobody gave."""
    received, file = tmp_path / "received", recording(tmp_path / "a.json", 1)
    received.mkdir()
    if target == "a history":
        add(program, database, file)
    before = Path(database).read_bytes() if target == "a history" else None
    (received / "gpu-profile-history.sqlite").symlink_to(database)
    words = [action, "--label", "train"] if action == "list" else [action, str(file), "--label", "train"]
    done = subprocess.run([program.path, "history", *words], cwd=received, capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 5 and done.stderr.count("\n") == 1 and "is a link, which is only followed if it is given with --db" in done.stderr
    assert (Path(database).read_bytes() if Path(database).exists() else None) == before
    assert program.run("history", *words, "--db", received / "gpu-profile-history.sqlite").status == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_link_of_another_user_is_not_followed(program, database, tmp_path):
    file, link = recording(tmp_path / "a.json", 1), tmp_path / "link.sqlite"
    add(program, database, file)
    before = Path(database).read_bytes()
    link.symlink_to(database)
    os.lchown(link, 12345, 12345)
    outcome = program.run("history", "add", file, "--label", "train", "--db", link)
    assert outcome.status == 3 and "a link of another user (12345)" in outcome.errors[0]
    assert Path(database).read_bytes() == before


def test_a_kill_leaves_a_whole_history(program, database, tmp_path):
    file = recording(tmp_path / "a.json", 1)
    add(program, database, file)
    command = [str(program.path), "history", "add", file, "--label", "train", "--db", database]
    for number in range(20):
        writer = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        time.sleep(0.002 * number)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert program.run("history", "list", "--db", database).status == 0
    add(program, database, file)


def test_it_waits_for_sqlite(program, database, tmp_path):
    """Locks are those of SQLite: while another program writes, nothing is read, and the other way round."""
    file = recording(tmp_path / "a.json", 1)
    add(program, database, file)
    writer = sqlite3.connect(database, isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    command = [str(program.path), "history", "add", file, "--label", "train", "--db", database]
    waiting = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    assert waiting.poll() is None
    writer.execute("UPDATE run SET label = 'other'")
    writer.execute("COMMIT")
    writer.close()
    assert waiting.wait(HANGS_S) == 0
    with sqlite3.connect(database) as connection:
        assert sorted(connection.execute("SELECT label FROM run")) == [("other",), ("train",)]


def test_a_lock_that_nobody_gives_up_is_said(program, database, tmp_path):
    add(program, database, recording(tmp_path / "a.json", 1))
    with open(database, "r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX, 512, 0x40000000)
        outcome = program.run("history", "list", "--db", database)
    assert outcome.status == 5 and "locked by another process for 10 s" in outcome.errors[0]


def test_where_nothing_can_be_written(program, tmp_path):
    file = recording(tmp_path / "a.json", 1)
    outcome = program.run("history", "add", file, "--label", "train", "--db", "/proc/history.sqlite")
    assert outcome.status == 5 and "--db" in outcome.errors[0]


@pytest.mark.parametrize("arguments", [["add"], ["add", "FILE"], ["check", "--label", "x"], ["remove"], ["list", "--format", "xml"]])
def test_usage(program, arguments):
    assert program.run("history", *arguments).status == 2
