"""`gpu-profile record -- CMD` on real programs without a GPU: NVTX comes through the real client, the command is untouched.

What needs CUDA is tested against the fake libcuda and libcupti in test_record_cuda.py.
"""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from patience import HANGS_S

pytest.importorskip("nvtx")


def script(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text("import nvtx, os, threading, time\n" + textwrap.dedent(text))
    return path


def record(program, tmp_path, text, *options):
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", "-o", capture, *options, "--", sys.executable, script(tmp_path, text))
    return outcome, capture


def rows(program, capture, analysis="ranges"):
    return program.report(capture, analysis)[analysis].rows


def test_ranges_of_a_real_client(program, tmp_path):
    outcome, capture = record(program, tmp_path, """
        with nvtx.annotate("outer"):
            for _ in range(3):
                with nvtx.annotate("inner", domain="mine"):
                    time.sleep(0.002)
        def work():
            with nvtx.annotate("elsewhere"):
                time.sleep(0.002)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        print("said")
    """)
    assert outcome.status == 0, outcome.errors
    assert outcome.stdout == b"said\n"
    counts = {row["path"].split("/")[-1]: row["count"] for row in rows(program, capture)}
    assert {"outer": 1, "inner": 3, "elsewhere": 1}.items() <= counts.items()
    inner = next(row for row in rows(program, capture) if row["path"].endswith("inner"))
    assert inner["host_total_ns"] >= 3 * 2_000_000
    assert rows(program, capture, "losses") == []


def test_every_event_of_many_threads_is_there(program, tmp_path):
    outcome, capture = record(program, tmp_path, """
        def work():
            for _ in range(5000):
                with nvtx.annotate("tick"):
                    pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    """)
    assert outcome.status == 0
    ticks = sum(row["count"] for row in rows(program, capture) if row["path"].endswith("tick"))
    lost = sum(row["count"] for row in rows(program, capture, "losses"))
    assert ticks == 20_000 or (lost > 0 and ticks + lost >= 20_000)


@pytest.mark.parametrize("death", ["os._exit(9)", "os.abort()", "os.kill(os.getpid(), 9)"])
def test_what_a_killed_program_wrote_is_kept(program, tmp_path, death):
    outcome, capture = record(program, tmp_path, f"""
        with nvtx.annotate("before"):
            time.sleep(0.005)
        time.sleep(0.2)
        {death}
    """)
    assert outcome.status == {"os._exit(9)": 9, "os.abort()": -signal.SIGABRT}.get(death, -signal.SIGKILL)
    assert [row["path"] for row in rows(program, capture)] == ["before"]
    left = [] if death == "os._exit(9)" else ["killed_process"]  # _exit is seen; its file is complete
    assert [row["kind"] for row in rows(program, capture, "losses")] == left


def test_children_by_fork_and_by_spawn(program, tmp_path):
    outcome, capture = record(program, tmp_path, """
        import subprocess, sys
        with nvtx.annotate("parent"):
            pid = os.fork()
            if pid == 0:
                with nvtx.annotate("forked"):
                    os._exit(0)
            os.waitpid(pid, 0)
            subprocess.run([sys.executable, "-c", "import nvtx\\nwith nvtx.annotate('spawned'): pass"], check=True)
    """)
    assert outcome.status == 0
    paths = {row["path"].split("/")[-1] for row in rows(program, capture)}
    assert {"parent", "forked", "spawned"} <= paths
    assert "3 processes recorded" in "\n".join(outcome.errors)


def test_many_forks_do_not_hang(program, tmp_path):
    outcome, capture = record(program, tmp_path, """
        with nvtx.annotate("all"):
            for _ in range(30):
                pid = os.fork()
                if pid == 0:
                    nvtx.push_range("child")
                    os._exit(0)
                os.waitpid(pid, 0)
    """)
    assert outcome.status == 0
    counts = {row["path"].split("/")[-1]: row["count"] for row in rows(program, capture)}
    assert counts == {"all": 1, "child": 30}


def test_a_program_without_gpu_work_is_untouched(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", "-o", capture, "--", "sh", "-c", "cat; exit 5", stdin=b"through")
    assert (outcome.status, outcome.stdout) == (5, b"through")
    assert len(outcome.errors) == 1
    assert "neither CUDA nor NVTX" in outcome.errors[0]
    assert not list(tmp_path.glob("*.parts-*"))


def test_the_capture_says_which_options_were_given(program, tmp_path):
    """Each setting of the reference by itself; what was not given has no row."""
    tables = json.loads(program.run("schema", "--format", "json").stdout)["tables"]
    settings = next(table["rows"] for table in tables if table["name"] == "record_settings")
    assert {"--launch-stacks", "--keep-slow N"} <= {option for option, _, _ in settings}
    needed = {"--stack-depth": ["--launch-stacks"]}
    words = {"--api": "all", "--graph": "graph", "--cupti": "yield"}
    for option, key, _ in settings:
        flag, *value = option.split()
        if flag in ("--standby", "--aggregate"):
            continue  # make captures only when triggered, or none: test_record_trigger.py, test_record_aggregate.py
        given = words.get(flag, "2") if value else ""
        capture = tmp_path / f"{flag}.gpuprof"
        outcome = program.run("record", "-o", capture, "--sample", "0", flag, *([given] if value else []), *needed.get(flag, []), "--", "true")
        assert outcome.status == 0, outcome.errors
        found = {row["key"]: row["value"] for row in program.stored(capture, "meta") if row["key"].startswith("record.")}
        for needs in needed.get(flag, []):
            assert found.pop(needs.replace("--", "record.").replace("-", "_")) == "1"
        assert found == {key: "2000000000" if value == ["S"] else given or "1"}


def test_another_tools_injection_is_left_alone(program, tmp_path):
    environment = {**os.environ, "NVTX_INJECTION64_PATH": "/no/such/other_tool.so"}
    done = subprocess.run([program.path, "record", "-o", tmp_path / "x", "--", "true"], env=environment,
                          capture_output=True, check=False, timeout=HANGS_S)
    assert done.returncode == 0
    assert b"NVTX_INJECTION64_PATH" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["--"], 2, "no command"),
        (["-o", "/no/such/folder/x", "--", "true"], 2, "/no/such/folder/x"),
        (["--api", "some", "--", "true"], 2, "--api"),
        (["--", "/no/such/program"], 127, "/no/such/program"),
    ],
)
def test_wrong_command_lines_are_one_clear_line(program, tmp_path, arguments, status, words):
    if "-o" not in arguments:
        arguments = ["-o", str(tmp_path / "x"), *arguments]
    outcome = program.run("record", *arguments)
    assert outcome.status == status
    assert len(outcome.errors) == 1
    assert words in outcome.errors[0]


def test_a_full_disk_leaves_the_command_alone(program, tmp_path):
    capture = tmp_path / "run.gpuprof"
    path = script(tmp_path, """
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        for i in range(20000):
            with nvtx.annotate("a text of some length that fills the file"):
                pass
        print("done")
    """)
    command = f"trap '' XFSZ; ulimit -f 100; exec {program.path} record -o {capture} -- {sys.executable} {path}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=HANGS_S)
    assert done.stdout == b"done\n"
    assert done.returncode == 0
    assert b"process" in done.stderr
