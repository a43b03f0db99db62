"""`gpu-profile top`: tables in a pipe, a panel on a terminal, and a terminal that is always left as it was found."""

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import pyte
import pytest
from fake_driver import DEVICE, children_of, fake_driver, no_driver
from patience import HANGS_S

BURSTY = Path(__file__).parents[2] / "fixtures" / "nvml" / "bursty.csv"
REPLAY = f"replay:{BURSTY}"
LEAVES = "\x1b[?1049l"  # the alternate screen
CLEARS = b"\x1b[H\x1b[J"
ECHOES = termios.ICANON | termios.ECHO  # what a terminal does unless told otherwise


def run_top(program, *options, environment=None):
    return subprocess.run([program.path, "top", *options], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=HANGS_S, env=environment, check=False)


def test_once_as_json(program):
    done = run_top(program, "--once", "--format", "json", "--backend", REPLAY)
    found = {table["name"]: table for table in json.loads(done.stdout)["tables"]}
    (row,) = found["devices"]["rows"]
    device = dict(zip((column["name"] for column in found["devices"]["columns"]), row, strict=True))
    assert (done.returncode, device["gpu"], device["name"]) == (0, 0, "(replayed)")
    assert 0 <= device["util_gpu"] <= 100 and found["processes"]["rows"] == []
    refused = run_top(program, "--format", "json", "--backend", REPLAY)
    assert (refused.returncode, refused.stdout) == (2, "") and "needs --once" in refused.stderr


def test_one_table_with_known_numbers(program, tmp_path):
    script = DEVICE + f"process 0 {os.getpid()} 900 70\n"
    done = run_top(program, "--once", "--interval", "0.2", environment=fake_driver(program, tmp_path, script))
    assert done.returncode == 0, done.stderr
    _, head, device, _, _, process = done.stdout.splitlines()
    assert head.split()[:2] == ["gpu", "name"]
    for words in ("NVIDIA H200", "75.0", "1,000 MiB", "300", "50.0", "1,500", "power"):
        assert words in device, words
    assert process.split()[:5] == ["0", str(os.getpid()), "900", "MiB", "70.0"]
    assert "python" in process or "pytest" in process


def test_eight_gpus_and_a_choice_of_them(program, tmp_path):
    script = "".join(f"device name=NVIDIA_H200 uuid=GPU-{i}\nset {i} util_gpu {10 + i}\n" for i in range(8))
    environment = fake_driver(program, tmp_path, script)
    lines = run_top(program, "--once", "--interval", "0.2", environment=environment).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == [str(i) for i in range(8)]
    lines = run_top(program, "--once", "--interval", "0.2", "--device", "2,GPU-5", environment=environment).stdout.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["2", "5"]
    assert run_top(program, "--device", "9", environment=environment).returncode == 2


def test_a_table_per_interval_until_the_recording_ends(program, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("time_s,device,util_gpu\n" + "".join(f"{i / 10},0,{i}\n" for i in range(8)))
    done = run_top(program, "--interval", "0.2", "--backend", f"replay:{series}")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("util gpu") >= 3
    assert "replayed from" in done.stderr


def test_a_reader_that_goes_away_ends_it(program):
    with subprocess.Popen([program.path, "top", "--interval", "0.1", "--backend", REPLAY], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.read(10)
        process.stdout.close()
        process.wait(timeout=HANGS_S)


def test_without_a_gpu_one_sentence(program):
    done = run_top(program, environment=no_driver())
    assert done.returncode == 4
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "no GPU can be sampled" in done.stderr
    for said in ("NVIDIA_DRIVER_CAPABILITIES", "cannot open shared object file"):
        assert done.stderr.count(said) == 1, "each reason and each remedy once"


@pytest.mark.parametrize("options", [("--interval", "0"), ("--interval", "nan"), ("--backend", "none"), ("--bogus",)])
def test_wrong_command_lines(program, options):
    done = run_top(program, *options)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


class Panel:
    """top on a terminal of its own, whose screen can be read."""

    def __init__(self, program, *options, environment=None, columns=110, rows=30, term="screen-256color"):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(program.path, [program.path, "top", *options],
                      dict(environment or os.environ, TERM=term, LC_ALL="C.UTF-8"))
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""

    def read(self, seconds):
        """False at the end of the program."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:
            return False
        self.raw += data
        self.stream.feed(data)
        return bool(data)

    def text(self):
        return "\n".join(self.screen.display)

    def wait_for(self, words):
        deadline = time.monotonic() + HANGS_S
        while words not in self.text():
            assert time.monotonic() < deadline, f"no {words!r} in\n{self.text()}"
            assert self.read(0.2), f"ended without {words!r}:\n{self.raw.decode(errors='replace')}"

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def resize(self, columns, rows):
        """What is read next may still be drawn for the size before: our screen has room for all sizes."""
        self.screen.resize(max(rows, self.screen.lines), max(columns, self.screen.columns))
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self):
        """The status; the terminal must have been restored."""
        while self.read(HANGS_S):
            pass
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        assert LEAVES in self.raw.decode(errors="replace")
        assert self.raw.rfind(b"\x1b[?1049h") < self.raw.rfind(LEAVES.encode())
        assert termios.tcgetattr(self.terminal)[3] & ECHOES == ECHOES
        os.close(self.terminal)
        return status


def test_the_panel_shows_plots_and_leaves(program):
    panel = Panel(program, "--interval", "0.1", "--backend", REPLAY)
    panel.wait_for("util.gpu")
    panel.wait_for("power")
    panel.wait_for("█")
    assert "replayed from" in panel.text()
    panel.type("q")
    assert panel.end() == 0


def test_keys(program, tmp_path):
    script = DEVICE + "device name=NVIDIA_L4 uuid=GPU-two\nset 1 util_gpu 12\n"
    panel = Panel(program, "--interval", "0.1", environment=fake_driver(program, tmp_path, script))
    panel.wait_for("> 0")
    panel.type("d")
    panel.wait_for("> 1")
    panel.type("?")
    panel.wait_for("share of the driver's window")
    panel.type("? ")
    panel.wait_for("paused")
    panel.type(" x\x1b[A")  # keys that mean nothing do nothing
    deadline = time.monotonic() + HANGS_S
    while "paused" in panel.text() and time.monotonic() < deadline:
        panel.read(0.2)
    assert "paused" not in panel.text()
    panel.type("q")
    assert panel.end() == 0


@pytest.mark.parametrize("exported", [{}, {"LINES": "24", "COLUMNS": "80"}], ids=["", "exported"])
def test_it_follows_the_size(program, exported):
    environment = {name: value for name, value in os.environ.items() if name not in ("LINES", "COLUMNS")}
    panel = Panel(program, "--interval", "0.1", "--backend", REPLAY, environment={**environment, **exported})
    panel.wait_for("util.mem")
    for columns, rows in ((20, 4), (200, 60), (1, 1), (80, 24)):
        drawn = len(panel.raw)
        panel.resize(columns, rows)
        for _ in range(4):
            assert panel.read(0.3)
    deadline = time.monotonic() + HANGS_S
    while CLEARS not in panel.raw[drawn:]:  # drawn anew
        assert panel.read(0.2) and time.monotonic() < deadline, panel.raw[drawn:]
    panel.wait_for("q quit")
    panel.type("q")
    assert panel.end() == 0


@pytest.mark.parametrize(("number", "status"), [
    (signal.SIGINT, 0), (signal.SIGTERM, -15), (signal.SIGHUP, -1), (signal.SIGSEGV, -11), (signal.SIGABRT, -6)])
def test_signals_restore_the_terminal(program, number, status):
    panel = Panel(program, "--interval", "0.1", "--backend", REPLAY)
    panel.wait_for("util.gpu")
    os.kill(panel.pid, number)
    assert panel.end() == status


def test_control_c_ends_it(program):
    panel = Panel(program, "--interval", "0.1", "--backend", REPLAY)
    panel.wait_for("util.gpu")
    panel.type("\x03")
    assert panel.end() == 0


def test_a_killed_sampler_is_replaced(program, tmp_path):
    panel = Panel(program, "--interval", "0.1", environment=fake_driver(program, tmp_path))
    panel.wait_for("75 %")
    first = children_of(panel.pid)
    assert len(first) == 1
    os.kill(first[0], signal.SIGKILL)
    deadline = time.monotonic() + HANGS_S
    while children_of(panel.pid) in ([], first) and time.monotonic() < deadline:
        panel.read(0.1)
    assert children_of(panel.pid) not in ([], first)
    panel.wait_for("75 %")
    panel.type("q")
    assert panel.end() == 0


def test_a_terminal_of_unknown_kind_gets_tables(program, tmp_path):
    series = tmp_path / "series.csv"
    series.write_text("time_s,device,util_gpu\n0,0,5\n0.3,0,6\n")
    panel = Panel(program, "--interval", "0.2", "--backend", f"replay:{series}", term="no-such-terminal")
    while panel.read(HANGS_S):
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(panel.pid, 0)[1]) == 0
    text = panel.raw.decode()
    assert "no-such-terminal" in text
    assert "(replayed)" in text
