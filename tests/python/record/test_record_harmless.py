"""The recorded program is never harmed: its files, its descriptors, its way of ending; and what it does to ours costs no records.

Python programs play a script through the fake libcuda; the kernels of one play are known.
"""

import os
import subprocess
import sys

import pytest
from patience import HANGS_S
from played import fake_environment
from recordings_of_cupti import KERN, ROOT, kernels_in, lines, script_of

PLAY = """
import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def init(): assert cuda.cuInit(0) == 0
def play(turn, how="time=start live inline"): assert cuda.fake_cuda_play(sys.argv[1].encode(), f"{how} first={turn}".encode()) == 0
"""


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    return script_of(KERN, tmp_path_factory.mktemp("scripts"), lanes=1)


@pytest.fixture(scope="module")
def once():
    return len(kernels_in(lines()))


@pytest.fixture
def run(program, script, tmp_path):
    """Records Python code; returns the number of kernels, the losses that are data by kind, and what it printed."""

    def record(code, *options, expected=0, **variables):
        capture = tmp_path / "run.gpuprof"
        environment = fake_environment(program, PYTHONPATH=str(ROOT / "python"), **variables)
        done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", *options, "--", sys.executable, "-c",
                               PLAY + code, script], env=environment, capture_output=True, text=True, timeout=HANGS_S, check=False, cwd=tmp_path)
        assert done.returncode == expected, done.stderr
        assert "Traceback" not in done.stderr, done.stderr
        report = program.report(capture, "kernels", "losses")
        losses = {row["kind"]: row["count"] for row in report["losses"].rows if row["severity"] == "data"}
        return sum(row["count"] for row in report["kernels"].rows), losses, done.stdout

    record.capture = tmp_path / "run.gpuprof"
    return record


# Descriptors.

CLOSE_AND_OPEN = """
init(); play(0)
time.sleep(0.3)
os.closerange(3, 65536)
mine = os.open("mine", os.O_RDWR | os.O_CREAT)
{take}
play(1)
time.sleep(0.5)
print(os.fstat(mine).st_size)
"""


def test_a_program_that_closes_everything_and_opens_its_own(run, once):
    """Nothing is written to its files, and the recording goes on in its own."""
    take = "for number in range(3, 800): mine == number or os.dup2(mine, number)"
    assert run(CLOSE_AND_OPEN.format(take=take)) == (2 * once, {}, "0\n")


def test_a_program_that_takes_every_descriptor_there_is(run, once):
    """The file cannot be opened again: what was written stays, and that the rest is missing is said."""
    take = "for number in range(3, os.sysconf('SC_OPEN_MAX')): mine == number or os.dup2(mine, number)"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))\n"
    kernels, losses, size = run(limit + CLOSE_AND_OPEN.format(take=take))
    assert (kernels, size) == (once, "0\n")
    assert losses == {"killed_process": 1}


# Ends.


@pytest.mark.parametrize("end", ["os._exit(0)", "ctypes.CDLL(None)._Exit(0)"])
def test_an_end_right_after_the_work(run, once, end):
    assert run(f"init(); play(0); {end}")[:2] == (once, {})


def test_workers_of_multiprocessing(run, once):
    code = """
import multiprocessing
def work(turn): init(); play(turn)
workers = [multiprocessing.get_context("fork").Process(target=work, args=(turn,)) for turn in range(3)]
for worker in workers: worker.start()
for worker in workers: worker.join()
assert all(worker.exitcode == 0 for worker in workers)
"""
    assert run(code)[:2] == (3 * once, {})


@pytest.mark.parametrize("pause", ["", "time.sleep(0.5); "])
def test_an_exit_that_no_library_sees_is_counted(run, pause):
    """A system call: the file has whole chunks and no end, which is not a file that was cut. At once, or after some were written."""
    assert run(f"init(); play(0); {pause}ctypes.CDLL(None).syscall(231, 0)")[1] == {"killed_process": 1}


def test_a_part_without_a_byte_is_counted(run, program):
    """The machine failed before the first chunk was on its disk."""
    run("init(); play(0)")
    folder = run.capture.parent / "kept"
    folder.mkdir()
    (folder / "4711-1.gpuprof").write_bytes(b"")
    run.capture.rename(folder / "4712-1.gpuprof")
    done = subprocess.run([program.path, "record", "--merge", folder, "-o", run.capture, "--quiet"], capture_output=True, text=True,
                          timeout=HANGS_S, check=False)
    assert done.returncode == 0, done.stderr
    (loss,) = program.report(run.capture, "losses")["losses"].rows
    assert (loss["kind"], loss["count"]) == ("killed_process", 1)
    assert "4711-1.gpuprof" in loss["place"]


def test_a_child_of_vfork_leaves_its_parent_alone(run, once):
    """subprocess uses vfork; a program that is not found makes the child call _exit with its parent's memory."""
    code = """
import subprocess
init(); play(0)
for _ in range(3):
    try: subprocess.run(["/nonexistent/program"])
    except FileNotFoundError: pass
play(1)
"""
    assert run(code)[:2] == (2 * once, {})


# Forks.

ANNOTATING_PARENT = """
import gpu_profile, nvtx
gpu_profile.step()
nvtx.push_range("of the parent", domain="shared")
"""


def ranges(program, capture):
    return {row["path"].split("/")[-1]: row["count"] for row in program.report(capture, "ranges")["ranges"].rows}


def test_a_child_whose_parent_has_not_started_cuda(run, program, once):
    """The collector runs in the parent, for its annotations; the child uses CUDA, the parent after it too."""
    code = ANNOTATING_PARENT + """
child = os.fork()
if child == 0:
    init(); play(0)
    with nvtx.annotate("in the child", domain="shared"): pass
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
nvtx.pop_range(domain="shared")
init(); play(1)
"""
    assert run(code)[:2] == (2 * once, {})
    assert ranges(program, run.capture) == {"of the parent": 1, "in the child": 1}


def test_a_child_whose_parent_uses_cuda(run, program, once):
    """CUDA does not work in it; its annotations do, and the parent's recording is untouched."""
    code = ANNOTATING_PARENT + """
init(); play(0)
child = os.fork()
if child == 0:
    with nvtx.annotate("in the child"): pass
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
play(1)
"""
    assert run(code)[:2] == (2 * once, {})
    assert ranges(program, run.capture) == {"of the parent": 1, "in the child": 1}


# Where it is installed.


@pytest.mark.parametrize("name", ["with space", "with:colon", "plain"])
def test_the_path_of_the_installation(program, script, tmp_path, name, once):
    """The dynamic linker takes spaces and colons for the end of a path, and says so on the program's standard error."""
    folder = tmp_path / name
    folder.mkdir()
    for file in ("gpu-profile", "libgpuprof_inject.so"):
        os.link(os.path.join(os.path.dirname(program.path), file), folder / file)
    capture = tmp_path / "run.gpuprof"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run([folder / "gpu-profile", "record", "-o", capture, "--sample", "0", "--trace", "cuda,nvtx", "--quiet", "--",
                           sys.executable, "-c", PLAY + "init(); play(0); os.system('true'); os._exit(0)", script],
                          env=fake_environment(program, TMPDIR=str(scratch)), capture_output=True, text=True, timeout=HANGS_S, check=False)
    assert done.returncode == 0
    assert done.stderr.replace(str(capture), "FILE") == "gpu-profile: 1 process recorded in FILE\n"
    kernels = program.report(capture, "kernels")["kernels"].rows
    assert sum(row["count"] for row in kernels) == once
    assert list(scratch.iterdir()) == []
