"""`record --debug-env`: variables for the command alone, the logs of libraries in the recording, and what the answer says.

No library writes here: a script writes the lines to the files that the variables name. Origin of the lines: tests/unit/logs.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest
from drawn import kineto_of

WRITER = """
import os, time
pid, now = os.getpid(), time.time()
second = time.strftime("%Y-%m-%d{}%H:%M:%S", time.localtime(now))
def write(variable, text):
    path = os.environ[variable].replace("%i", str(pid)).replace("%p", str(pid)).replace("%h", "node")
    with open(path, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path
"""
LINES = """
head = f"[{now:.6f}] node:{pid}:{pid} [0] "
write("NCCL_DEBUG_FILE", head + "NCCL INFO NET/IB : No device found.\\n"
      + f"node:{pid}:{pid} [0] NCCL INFO Using network Socket\\n"
      + head + "transport/net.cc:12 NCCL WARN Call to connect failed, retrying\\n"
      + head + "NCCL INFO AllReduce: 4 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..3}\\n")
write("CUDNN_LOGDEST_DBG", "W! CuDNN (v90100 17) function cudnnBackendFinalize() called:\\n"
      "w!     Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: engine.finalize()\\n"
      f"w! Time: {second.replace('{}', 'T')}.000000 (0d+0h+0m+0s since start)\\n"
      f"w! Process={pid}; Thread={pid}; GPU=0; Handle=NULL; StreamId=NULL.\\n")
write("CUBLASLT_LOG_FILE", f"[{second.replace('{}', ' ')}][cublasLt][{pid}][Trace][cublasLtMatmul] A=0X7F\\n")
write("TORCH_LOGS_OUT", time.strftime("V%m%d %H:%M:%S", time.localtime(now)) + f".5 {pid} x.py:1] Graph break: print\\n")
"""


@pytest.fixture
def record(program, tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("NCCL_", "CUDNN_", "CUBLAS", "TORCH_", "CUDA_LAUNCH")):
            monkeypatch.delenv(name)

    def run(text, *options, name="run.gpuprof"):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(text))
        outcome = program.run("record", "-o", tmp_path / name, *options, "--", sys.executable, script)
        left = [path.name for path in tmp_path.iterdir() if ".parts-" in path.name]
        assert not left, f"scratch folders remain: {left}"
        return outcome, tmp_path / name

    return run


def log_rows(program, capture):
    return [row for row in program.stored(capture, "range") if row["domain"].startswith("log:")]


def test_lines_are_on_the_timeline(program, record):
    outcome, capture = record(WRITER + LINES, "--debug-env")
    assert outcome.status == 0, outcome.errors
    rows = {row["name"]: row for row in log_rows(program, capture)}
    socket = rows["nccl: Using network Socket"]
    assert socket["domain"] == "log:nccl" and socket["category"] == "info"
    assert socket["thread"].split("/")[1] == socket["thread"].split("/")[0].split(":")[1]  # the main thread
    assert rows["nccl warning: Call to connect failed, retrying"]["category"] == "warning"
    assert any(name.startswith("cudnn warning: CuDNN") and "engine.finalize()" in name for name in rows)
    assert rows["cublas: [Trace][cublasLtMatmul] A=0X7F"]["thread"].endswith("/log of cublas")
    assert rows["torch: x.py:1] Graph break: print"]["start"]


def test_the_answer_says_what_it_means(program, record):
    _, capture = record(WRITER + LINES, "--debug-env")
    answer = " ".join(program.run("report", capture).stdout.decode().split())
    assert "timing is not representative: CUDA_LAUNCH_BLOCKING was set" in answer
    findings = " ".join(program.run("report", capture, "findings").stdout.decode().split())
    for text in ("NCCL uses a slow transport", "no InfiniBand device was found", "CUDNN_STATUS_NOT_SUPPORTED",
                 "retrying", "TREE/LL with up to 4 channels"):
        assert text in findings, text


SHOW = """
import os
for name, value in sorted(os.environ.items()):
    if name.startswith(("NCCL_", "CUDNN_", "CUBLAS", "TORCH_", "CUDA_LAUNCH")):
        print(name, value)
"""


def test_only_the_command_has_the_variables(program, record):
    before = dict(os.environ)
    outcome, capture = record(SHOW)
    assert outcome.stdout == b""
    assert "not representative" not in program.run("report", capture).stdout.decode()
    outcome, _ = record(SHOW, "--debug-env", "sync", name="sync.gpuprof")
    assert outcome.stdout == b"CUDA_LAUNCH_BLOCKING 1\n"
    outcome, _ = record(SHOW, "--debug-env", "nccl", name="nccl.gpuprof")
    assert {line.split("_")[0] for line in outcome.stdout.decode().splitlines()} == {"NCCL"}
    assert dict(os.environ) == before


def test_what_the_user_set_is_kept(record, monkeypatch):
    monkeypatch.setenv("NCCL_DEBUG", "WARN")
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    outcome, _ = record(SHOW, "--debug-env")
    assert b"NCCL_DEBUG WARN\n" in outcome.stdout and b"CUDA_LAUNCH_BLOCKING 0\n" in outcome.stdout
    told = [line for line in outcome.errors if "keeps what was set already" in line]
    assert len(told) == 1 and "CUDA_LAUNCH_BLOCKING, NCCL_DEBUG" in told[0]


def test_no_claim_of_waiting_launches_that_did_not_wait(program, record, monkeypatch):
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "0")
    _, capture = record("pass", "--debug-env", "sync")
    assert "not representative" not in program.run("report", capture).stdout.decode()


def test_an_unknown_group_names_the_choices(record):
    outcome, capture = record("pass", "--debug-env", "sync,foo")
    assert outcome.status == 2 and not capture.exists()
    assert outcome.errors == [
        "gpu-profile: unknown group 'foo' of --debug-env; expected one or more of: sync, torch, cudnn, cublas, nccl"]


HOSTILE = {
    "binary": 'write("NCCL_DEBUG_FILE", os.urandom(1 << 20))',
    "one line of 100 MB": 'write("NCCL_DEBUG_FILE", b"x" * 100_000_000)',
    "deleted": 'os.unlink(write("NCCL_DEBUG_FILE", "x"))',
    "folder deleted": 'import shutil; shutil.rmtree(os.path.dirname(write("NCCL_DEBUG_FILE", "x")))',
    "missing": "pass",
    "a pipe": 'os.mkfifo(os.path.dirname(os.environ["NCCL_DEBUG_FILE"]) + "/nccl-pipe")',
    "a link": 'os.symlink("/etc/passwd", os.path.dirname(os.environ["NCCL_DEBUG_FILE"]) + "/nccl-link")',
    "unreadable": 'os.chmod(write("NCCL_DEBUG_FILE", "x"), 0)',
    "many lines": 'write("NCCL_DEBUG_FILE", "a:1:1 [0] NCCL INFO x\\n" * 300_000)',
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_logs_do_no_harm(program, record, what):
    outcome, capture = record(WRITER + HOSTILE[what] + "\nprint('done')\nraise SystemExit(7)\n", "--debug-env", "nccl")
    assert outcome.status == 7 and outcome.stdout == b"done\n"
    assert program.run("report", capture, "findings").status == 0
    rows = log_rows(program, capture)
    assert not any("root:" in row["name"] for row in rows)
    losses = " ".join(row["place"] for row in program.stored(capture, "loss"))
    if what == "one line of 100 MB":
        assert len(rows) == 1 and len(rows[0]["name"]) < 1100
        assert "bytes beyond 16 MiB" in losses and "longer than 8192 bytes" in losses
    if what == "many lines":
        assert len(rows) == 200_000
        assert "entries beyond 200000" in losses


@pytest.mark.parametrize("fact", ["debug_env = sync", "cuda_launch_blocking = 1"])
def test_compare_says_that_they_are_not_comparable(program, tmp_path, fact):
    drawn = "# 1 char = 1 us\nhost main |L...L...|\nstream 7 |.GGG.GGG|\n"
    plain, slow = tmp_path / "plain.json", tmp_path / "slow.json"
    plain.write_text(kineto_of(drawn))
    slow.write_text(kineto_of(drawn + f"fact {fact}\n"))
    text = " ".join(program.run("compare", plain, slow).stdout.decode().split())
    assert "not comparable: variables for debugging change the timing" in text
    assert "variables for debugging" not in program.run("compare", slow, slow).stdout.decode()


def test_an_interrupted_recording_keeps_the_logs(program, tmp_path):
    """`record` is killed; the command ends later, and --merge reads what the libraries wrote."""
    script = tmp_path / "program.py"
    script.write_text(WRITER + LINES + "import signal; os.kill(os.getppid(), signal.SIGKILL)\n")
    capture = tmp_path / "run.gpuprof"
    killed = program.run("record", "-o", capture, "--debug-env", "torch,cudnn,cublas,nccl", "--", sys.executable, script)
    assert killed.status == -signal.SIGKILL, killed.errors
    [folder] = tmp_path.glob("run.gpuprof.parts-*")
    merged = program.run("record", "--merge", folder, "-o", capture)
    assert merged.status == 0, merged.errors
    assert "nccl: Using network Socket" in {row["name"] for row in log_rows(program, capture)}


def test_its_own_environment_does_not_change(program, tmp_path, monkeypatch):
    """Threads of `record` read it while the command starts; setenv(3) in another one ended it now and then with SIGSEGV."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler")
    source, library = tmp_path / "strict.c", tmp_path / "strict.so"
    source.write_text("#include <stdlib.h>\n" + "".join(
        f"int {call} {{ abort(); }}\n" for call in ("setenv(const char *name, const char *value, int over)", "unsetenv(const char *name)", "putenv(char *text)")))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    outcome = program.run("record", "-o", tmp_path / "run.gpuprof", "--debug-env", "--os-calls", "--capture-range", "nvtx:step", "--", "true")
    assert outcome.status == 0, outcome.errors


def test_scrub_removes_what_the_lines_say(program, record, tmp_path):
    _, capture = record(WRITER + LINES, "--debug-env")
    clean = tmp_path / "clean.gpuprof"
    assert program.run("scrub", capture, "-o", clean).status == 0
    assert {row["name"] for row in log_rows(program, clean)} <= {
        "nccl: ***", "nccl warning: ***", "cudnn warning: ***", "cublas: ***", "torch: ***"}
