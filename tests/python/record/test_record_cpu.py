"""CPU use of a recorded command: processes, threads and what they used, whatever else the command does or does not use."""

import socket
import sys
import textwrap

import pytest


def record(program, tmp_path, *command, options=()):
    capture = tmp_path / "run.gpuprof"
    return program.run("record", "-o", capture, "--sample", "0", *options, "--", *command), capture


def record_python(program, tmp_path, text, options=()):
    path = tmp_path / "program.py"
    path.write_text("import os, subprocess, sys, threading, time\n" + textwrap.dedent(text))
    return record(program, tmp_path, sys.executable, path, options=options)


def cpu(program, capture):
    return program.report(capture, "cpu")["cpu"].rows


BURN = """
def burn(seconds):
    while time.thread_time() < seconds:
        sum(range(1000))
"""


def test_a_command_that_only_sleeps_is_a_recording(program, tmp_path):
    outcome, capture = record(program, tmp_path, "sleep", "0.5")
    assert outcome.status == 0
    assert len(outcome.errors) == 1
    assert "neither CUDA nor NVTX" in outcome.errors[0]
    rows = cpu(program, capture)
    whole = [row for row in rows if row["thread"] is None]
    assert len(whole) == 1
    assert whole[0]["name"].endswith("sleep")
    assert whole[0]["process"].startswith(socket.gethostname() + ":")
    assert whole[0]["seen_ns"] >= 450_000_000
    assert whole[0]["resident_max_bytes"] > 0
    first = program.run("report", capture)
    assert first.status == 0, first.errors


@pytest.mark.parametrize(("command", "status"), [("exit 7", 7), ("kill -9 $$", 128 + 9)])
def test_the_exit_status_and_command_line_are_kept(program, tmp_path, command, status):
    _, capture = record(program, tmp_path, "sh", "-c", command, "x", "--token", "hush", "--password=hush")
    processes = program.stored(capture, "process")
    assert [row["exit_status"] for row in processes] == [str(status)]
    assert processes[0]["command"] == f"sh -c {command} x --token *** --password=***"


def test_cpu_time_is_all_there(program, tmp_path):
    outcome, capture = record_python(program, tmp_path, BURN + """
burn(0.4)
used = os.times()
print(used.user + used.system)
""")
    said = float(outcome.stdout) * 1e9
    whole = next(row for row in cpu(program, capture) if row["thread"] is None)
    assert whole["cpu_ns"] >= said - 20_000_000
    assert whole["cpu_ns"] <= said + 500_000_000  # its end is work too
    assert whole["user_ns"] + whole["system_ns"] == whole["cpu_ns"]


def test_threads_have_names_and_their_own_use(program, tmp_path):
    _, capture = record_python(program, tmp_path, BURN + """
def name_it():
    with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w") as comm:
        comm.write("a busy one")
    burn(0.3)
    time.sleep(0.3)
threads = [threading.Thread(target=name_it), threading.Thread(target=time.sleep, args=(0.6,))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
""")
    rows = {row["name"]: row for row in cpu(program, capture) if row["thread"] is not None}
    assert "a busy one" in rows
    assert rows["a busy one"]["cpu_ns"] >= 200_000_000


def test_children_and_orphans_belong_to_the_command(program, tmp_path):
    _, capture = record_python(program, tmp_path, """
        subprocess.run(["sh", "-c", "setsid sleep 0.77 & exit 0"])
        subprocess.run(["sleep", "0.33"])
        time.sleep(0.3)
    """)
    commands = [row["command"] for row in program.stored(capture, "process")]
    assert "sleep 0.33" in commands
    assert any(command.endswith("sleep 0.77") for command in commands)


def test_others_do_not_belong(program, tmp_path):
    import subprocess

    other = subprocess.Popen(["sleep", "5.55"])
    try:
        _, capture = record(program, tmp_path, "sleep", "0.3")
    finally:
        other.kill()
        other.wait()
    assert [row["command"] for row in program.stored(capture, "process")] == ["sleep 0.3"]


def test_a_process_that_both_sides_know_is_one_row(program, tmp_path):
    pytest.importorskip("nvtx")
    _, capture = record_python(program, tmp_path, """
        import nvtx
        with nvtx.annotate("here"):
            time.sleep(0.3)
    """, options=["--quiet"])
    processes = program.stored(capture, "process")
    assert len(processes) == 1
    assert processes[0]["exit_status"] == "0"
    threads = [row for row in cpu(program, capture) if row["thread"] is not None]
    assert len(threads) == len({row["thread"] for row in threads})
    ranges = program.report(capture, "ranges")["ranges"].rows
    assert [row["path"] for row in ranges] == ["here"]


def test_short_lived_children_leave_no_trace_of_trouble(program, tmp_path):
    outcome, capture = record(program, tmp_path, "sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done")
    assert outcome.status == 0
    assert program.report(capture, "losses")["losses"].rows == []


def test_command_lines_can_be_left_out(program, tmp_path):
    capture = tmp_path / "out.gpuprof"
    outcome = program.run("record", "--quiet", "--no-command-line", "-o", capture, "--", "sh", "-c", "exec sleep 0.15", "told-nowhere")
    assert outcome.status == 0, outcome.errors
    assert program.stored(capture, "process") and all("command" not in row for row in program.stored(capture, "process"))
    assert b"told-nowhere" not in program.run("export", "csv", capture).stdout
