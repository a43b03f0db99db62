"""`gpu-profile view` before its recording has arrived: what it answers, and how it ends."""

import json
import signal
import subprocess
from contextlib import contextmanager

import pytest
from patience import HANGS_S
from test_view import RECORDING, HANGS_S, Server


@contextmanager
def waiting(program):
    with subprocess.Popen([program.path, "view", "--no-open", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield Server(process)
        finally:
            process.kill()


def test_only_progress_is_answered(program):
    with waiting(program) as server:
        assert server.ask("/progress")[0] == 401
        headers = {"Cookie": server.open(ready=False)}
        status, sent, body = server.ask("/progress", headers=headers)
        assert (status, sent["content-type"]) == (200, "application/json")
        progress = json.loads(body)
        assert progress["stage"] == "reading" and progress["elapsed_s"] > 0 and progress["known"] == []
        for path in ("/manifest", "/blobs/0", "/comparison", "/recordings", "/sql/schema", "/rank/0/manifest"):
            assert server.ask(path, headers=headers)[0] == 503
        server.process.stdin.buffer.write(RECORDING.read_bytes())
        server.process.stdin.close()
        while json.loads(server.ask("/progress", headers=headers)[2])["stage"] != "ready":
            pass
        assert server.ask("/manifest", headers=headers)[0] == 200


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_once(program, number):
    with waiting(program) as server:
        server.process.send_signal(number)
        assert server.process.wait(HANGS_S) == 0
