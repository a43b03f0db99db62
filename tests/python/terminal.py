"""A program on a pseudo-terminal of its own, driven as a person would: type, wait for what appears."""

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time

from patience import HANGS_S

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][A-Z0-9]|\x1b[=>]")


class Terminal:
    def __init__(self, command, *, rows=40, columns=120, environment=None, cwd=None):
        self.ours, theirs = os.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen(  # the terminal becomes its controlling one, so that Ctrl-C arrives as SIGINT
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**os.environ, "TERM": "xterm", **(environment or {})},
        )
        os.close(theirs)
        self.shown = ""

    def resize(self, rows, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.ours, text.encode())

    def _more(self, wait_s):
        if not select.select([self.ours], [], [], wait_s)[0]:
            return False
        try:
            piece = os.read(self.ours, 65536)
        except OSError:  # the other side is closed
            return False
        self.shown += ESCAPES.sub("", piece.decode(errors="replace")).replace("\r\n", "\n")
        return bool(piece)

    def expect(self, pattern):
        """What was shown up to the match, which later calls do not see again."""
        deadline = time.monotonic() + HANGS_S
        while not (found := re.search(pattern, self.shown)):
            assert time.monotonic() < deadline and self.process.poll() is None or self._more(0.1), (pattern, self.shown[-2000:])
            self._more(0.1)
        before, self.shown = self.shown[: found.end()], self.shown[found.end():]
        return before

    def expect_editing(self, prompt):
        """Waits for the prompt, and for the line editor to take over the keys."""
        self.expect(prompt)
        self._expect_lines(by_the_terminal=False)

    def expect_running(self):
        """Waits for the line editor to give the terminal back, as it does before what was typed runs."""
        self._expect_lines(by_the_terminal=True)

    def _expect_lines(self, by_the_terminal):
        deadline = time.monotonic() + HANGS_S
        while bool(termios.tcgetattr(self.ours)[3] & termios.ICANON) != by_the_terminal:
            assert time.monotonic() < deadline, "who edits lines did not change"
            time.sleep(0.01)

    def end(self):
        """The exit status, and everything that was still shown."""
        deadline = time.monotonic() + HANGS_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._more(0.05)
        while self._more(0.05):
            pass
        return self.process.wait(timeout=1), self.shown

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.ours)
