"""What `record` does around the command: which children it records, its line of progress, its limits of size and disk."""

import errno
import fcntl
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import textwrap
import time

import pytest

from patience import HANGS_S

pytest.importorskip("nvtx")

ANNOTATE = "import nvtx\nwith nvtx.annotate({name!r}): pass\n"


def ranges(program, capture):
    return {row["path"].split("/")[-1]: row["count"] for row in program.report(capture, "ranges")["ranges"].rows}


def write_program(tmp_path, text, name="program.py"):
    path = tmp_path / name
    path.write_text("import nvtx, os, subprocess, sys, time\n" + textwrap.dedent(text))
    return path


# Which children are recorded.


@pytest.fixture
def called_make(tmp_path):
    """A Python with the file name of a program that is not recorded."""
    folder = tmp_path / "tools"
    folder.mkdir()
    real = os.path.realpath(sys.executable)
    shutil.copy2(real, folder / "make")
    return folder / "make"


def run_as_child(program, tmp_path, tool, *options):
    environment = {**os.environ, "PYTHONHOME": sys.base_prefix, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                   "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"}
    inner = write_program(tmp_path, "with nvtx.annotate('in the tool'): pass", "inner.py")
    outer = write_program(tmp_path, f"""
        with nvtx.annotate("in the command"):
            subprocess.run([{str(tool)!r}, {str(inner)!r}], check=True)
    """)
    capture = tmp_path / "run.gpuprof"
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--quiet", *options, "--",
                           sys.executable, outer], env=environment, capture_output=True, text=True, check=False, timeout=HANGS_S)
    assert done.returncode == 0, done.stderr
    return ranges(program, capture), done


def test_tools_are_left_out(program, tmp_path, called_make):
    found, _ = run_as_child(program, tmp_path, called_make)
    assert found == {"in the command": 1}


def test_all_children_has_them_too(program, tmp_path, called_make):
    found, _ = run_as_child(program, tmp_path, called_make, "--all-children")
    assert found == {"in the command": 1, "in the tool": 1}


def test_the_command_itself_is_never_left_out(program, tmp_path, called_make):
    environment = {**os.environ, "PYTHONHOME": sys.base_prefix, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
                   "LD_LIBRARY_PATH": f"{sys.base_prefix}/lib"}
    capture = tmp_path / "run.gpuprof"
    done = subprocess.run([program.path, "record", "-o", capture, "--sample", "0", "--", called_make, "-c",
                           ANNOTATE.format(name="top")], env=environment, capture_output=True, check=False, timeout=HANGS_S)
    assert done.returncode == 0
    assert ranges(program, capture) == {"top": 1}


# The line of progress.


def on_terminal(command, stdout=None):
    """Runs a command with standard error on a terminal of its own; what the terminal was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=stdout or theirs, stderr=theirs)
    os.close(theirs)
    fcntl.fcntl(ours, fcntl.F_SETFL, os.O_NONBLOCK)
    sent = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 0.2)
        try:
            piece = os.read(ours, 65536) if ready else b""
        except OSError as error:
            assert error.errno == errno.EIO  # closed on the other side
            break
        sent += piece
        if not ready and process.poll() is not None:
            break
    os.close(ours)
    process.wait(timeout=HANGS_S)
    return sent.decode(errors="replace")


def progress_lines(sent):
    return re.findall(r"\r\x1b\[K(recording \d+ s, [\d.]+ \w+ in \d+ parts?)\r", sent)


def test_progress_is_drawn_and_erased(program, tmp_path):
    with open(tmp_path / "out.txt", "wb") as out:
        sent = on_terminal([program.path, "record", "-o", tmp_path / "x", "--sample", "0", "--", "sh", "-c",
                            "sleep 2.7; echo said"], stdout=out)
    lines = progress_lines(sent)
    assert 1 <= len(lines) <= 3
    rest = sent[sent.rindex("recording "):]
    assert "\r\x1b[K" in rest[:rest.index("gpu-profile:")]
    assert (tmp_path / "out.txt").read_bytes() == b"said\n"


@pytest.mark.parametrize("why", ["quiet", "the command shares the terminal"])
def test_no_progress_where_it_would_disturb(program, tmp_path, why):
    options = ["--quiet"] if why == "quiet" else []
    stdout = subprocess.DEVNULL if why == "quiet" else None
    sent = on_terminal([program.path, "record", "-o", tmp_path / "x", "--sample", "0", *options, "--", "sleep", "1.6"], stdout)
    assert "\x1b[K" not in sent
    assert progress_lines(sent) == []


def test_no_progress_without_a_terminal(program, tmp_path):
    outcome = program.run("record", "-o", tmp_path / "x", "--sample", "0", "--", "sleep", "1.6")
    assert b"\x1b" not in outcome.stderr


# Limits.


def test_the_recording_ends_at_its_size_and_the_command_goes_on(program, tmp_path):
    path = write_program(tmp_path, """
        for i in range(300):
            for _ in range(200):
                with nvtx.annotate("a text of some length, so that the file grows"):
                    pass
            time.sleep(0.01)
        with nvtx.annotate("at the end"):
            pass
        print("done")
    """)
    capture = tmp_path / "run.gpuprof"
    outcome = program.run("record", "-o", capture, "--sample", "0", "--quiet", "--max-size", "400KiB", "--",
                          sys.executable, path)
    assert outcome.stdout == b"done\n"
    assert outcome.status == 0
    assert any("reached --max-size 400KiB" in line for line in outcome.errors)
    found = ranges(program, capture)
    text = "a text of some length, so that the file grows"
    assert 1000 < found[text] < 60_000
    assert "at the end" not in found
    meta = program.run("export", "csv", capture).stdout.decode()
    assert "record.full_after_ns" in meta
    assert not list(tmp_path.glob("*.parts-*"))


def test_parts_are_in_the_chosen_folder(program, tmp_path):
    scratch, capture = tmp_path / "scratch", tmp_path / "run.gpuprof"
    code = f"import os; print(os.listdir({str(scratch)!r}), [name for name in os.listdir({str(tmp_path)!r}) if 'parts' in name])"
    outcome = program.run("record", "-o", capture, "--parts", scratch, "--sample", "0", "--quiet", "--", sys.executable, "-c", code)
    assert outcome.status != 0 and any(f"cannot create folder {scratch}/run.gpuprof.parts-" in line for line in outcome.errors)
    scratch.mkdir()
    outcome = program.run("record", "-o", capture, "--parts", scratch, "--sample", "0", "--quiet", "--", sys.executable, "-c", code)
    assert outcome.status == 0, outcome.errors
    assert re.fullmatch(rb"\['run.gpuprof.parts-\w{6}'\] \[\]\n", outcome.stdout), outcome.stdout
    assert list(scratch.iterdir()) == [] and program.stored(capture, "process")


def test_below_its_size_nothing_happens(program, tmp_path):
    outcome = program.run("record", "-o", tmp_path / "x", "--sample", "0", "--max-size", "1 GiB", "--", "sleep", "0.6")
    assert outcome.status == 0
    assert not any("max-size" in line for line in outcome.errors)


@pytest.mark.parametrize("size", ["0", "-5", "12parsecs", "MiB", "nan", "1e30"])
def test_sizes_that_are_none_are_refused(program, tmp_path, size):
    outcome = program.run("record", "-o", tmp_path / "x", "--max-size", size, "--", "true")
    assert outcome.status == 2
    assert "--max-size" in outcome.errors[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small file system")
def test_a_disk_that_fills_while_merging_keeps_the_parts(program, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", small], capture_output=True, check=False).returncode:
        pytest.skip("cannot mount here")
    try:
        path = write_program(tmp_path, f"""
            with nvtx.annotate("before the disk is full"):
                time.sleep(0.3)
            time.sleep(0.3)
            with open({str(small / "filler")!r}, "wb", buffering=0) as filler:
                try:
                    while True:
                        filler.write(bytes(4096))
                except OSError:
                    print("done")
            sys.exit(3)
        """)
        done = subprocess.run([program.path, "record", "-o", small / "run of today.gpuprof", "--sample", "0", "--quiet", "--",
                               sys.executable, path], capture_output=True, text=True, check=False, timeout=HANGS_S)
        assert done.stdout == "done\n"
        assert done.returncode == 3
        parts = list(small.glob("run of today.gpuprof.parts-*/*.gpuprof"))
        assert parts
        assert "No space left" in done.stderr
        found = [ranges(program, part) for part in parts if not part.name.startswith("beside-")]
        assert {"before the disk is full": 1} in found
        # The command that merges them is there to be copied.
        (command,) = re.findall(r"merge them later with: (.*)", done.stderr)
        assert str(parts[0].parent) in command
        (small / "filler").unlink()
        merged = subprocess.run(["bash", "-c", f"{command} --quiet"], env={**os.environ, "PATH": f"{program.path.parent}:{os.environ['PATH']}"},
                                capture_output=True, text=True, check=False, timeout=HANGS_S)
        assert merged.returncode == 0, merged.stderr
        assert ranges(program, small / "run of today.gpuprof") == {"before the disk is full": 1}
        subprocess.run(["bash", "-c", re.findall(r"remove them with: (.*)", merged.stderr)[0]], check=True, timeout=HANGS_S)
        assert [path.name for path in small.iterdir()] == ["run of today.gpuprof"]
    finally:
        for _ in range(20):
            if subprocess.run(["umount", small], capture_output=True, check=False).returncode == 0:
                break
            time.sleep(0.1)
