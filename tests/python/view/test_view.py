"""`gpu-profile view`: the page for a browser with the address, and nothing for any other."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from patience import HANGS_S
from view_document import Document, payload, split_framed

EARLIER = Path(__file__).parents[2] / "fixtures" / "kineto" / "overlap.json.gz"
RECORDING = Path(__file__).parents[2] / "fixtures" / "kineto" / "input_bound.json.gz"


class Server:
    def __init__(self, process):
        self.process = process
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#([0-9a-f]{32})\n", process.stdout.readline())
        assert address, process.stderr.read()
        self.port, self.token = int(address[1]), address[2]

    def ask(self, path, method="GET", headers=None, host=None, body=None):
        """(status, {header: value}, bytes); headers with the value None are not sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANGS_S)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if host != "":
                connection.putheader("Host", host or f"127.0.0.1:{self.port}")
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            reply = connection.getresponse()
            return reply.status, {k.lower(): v for k, v in reply.getheaders()}, reply.read()
        finally:
            connection.close()

    def open(self, ready=True):
        """The cookie that the token is exchanged for, once the recording is ready."""
        status, headers, _ = self.ask("/session", "POST", {"Authorization": f"Bearer {self.token}"}, body=b"")
        assert status == 204
        cookie = headers["set-cookie"].split(";")[0]
        while ready and json.loads(self.ask("/progress", headers={"Cookie": cookie})[2])["stage"] not in ("ready", "failed"):
            time.sleep(0.02)
        return cookie


@contextmanager
def view(program, *options):
    with subprocess.Popen([program.path, "view", "--no-open", *options, RECORDING], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        try:
            yield Server(process)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(HANGS_S)
            assert process.returncode == 0


@pytest.fixture(scope="module")
def server(program):
    with view(program) as server:
        server.cookie = server.open()
        yield server


def test_whoever_opens_the_address_gets_the_document(program, tmp_path):
    program.run("export", "html", RECORDING, "-o", tmp_path / "view.html")
    expected = Document.of_html((tmp_path / "view.html").read_text())
    with view(program) as server:
        headers = {"Cookie": server.open(), "Sec-Fetch-Site": "same-origin"}
        status, _, manifest = server.ask("/manifest", headers=headers)
        assert status == 200 and manifest.decode()
        count = expected.manifest["blob_count"]
        blobs = []
        for first in range(0, count, 64):
            ids = ",".join(str(i) for i in range(first, min(first + 64, count)))
            status, sent, body = server.ask(f"/blobs/{ids}", headers=headers)
            assert status == 200 and sent["content-type"] == "application/octet-stream"
            blobs += split_framed(body)
        assert len(blobs) == len(expected.blobs)
        for blob, (mine, theirs) in enumerate(zip(blobs, expected.blobs, strict=True)):  # encoded for another end
            is_json = blob in (expected.manifest["report"], expected.manifest["pictures"])
            assert mine == theirs if is_json else payload(mine) == payload(theirs)


def test_the_page_holds_no_secret(server):
    status, headers, page = server.ask("/")
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    assert server.token.encode() not in page and server.cookie.split("=")[1].encode() not in page
    assert b"input_bound" not in page
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


def test_the_cookie_is_of_this_site_and_hidden_from_scripts(program):
    with view(program) as server:
        _, headers, _ = server.ask("/session", "POST", {"Authorization": f"Bearer {server.token}"}, body=b"")
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(headers["set-cookie"].split("; "))


def test_the_printed_address_works_until_the_server_ends(program):
    with view(program) as server:
        cookies = {server.open() for _ in range(3)}
        for cookie in cookies:
            assert server.ask("/manifest", headers={"Cookie": cookie})[0] == 200


def test_the_address_of_the_started_browser_works_once(program, tmp_path):
    seen = tmp_path / "address"
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\nprintf %s \"$1\" > {seen}.part && mv {seen}.part {seen}\n")
    browser.chmod(0o700)
    with subprocess.Popen([program.path, "view", RECORDING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "BROWSER": str(browser)}) as process:
        try:
            server = Server(process)
            deadline = time.monotonic() + HANGS_S
            while not seen.exists() and time.monotonic() < deadline:
                time.sleep(0.02)
            at, token = seen.read_text().split("#")
            assert at == f"http://127.0.0.1:{server.port}/" and token != server.token
            bearer = {"Authorization": f"Bearer {token}"}
            assert [server.ask("/session", "POST", bearer, body=b"")[0] for _ in range(2)] == [204, 403]
            assert server.open()
            process.send_signal(signal.SIGINT)
            assert process.wait(HANGS_S) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost:{port}.evil.example",
                                  "127.0.0.1:{port}@evil.example", "0.0.0.0:{port}", ""])
@pytest.mark.parametrize("path", ["/", "/manifest", "/blobs/0", "/session"])
def test_other_hosts_get_nothing(server, host, path):
    headers = {"Cookie": server.cookie, "Authorization": f"Bearer {server.token}"}
    status, sent, body = server.ask(path, headers=headers, host=host.format(port=server.port))
    assert status == 400 and len(body) < 200 and "set-cookie" not in sent


@pytest.mark.parametrize("host", ["localhost:{port}", "[::1]:{port}"])
def test_other_names_of_this_machine_do(server, host):
    assert server.ask("/manifest", headers={"Cookie": server.cookie}, host=host.format(port=server.port))[0] == 200


@pytest.mark.parametrize("headers", [
    {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "https://127.0.0.1:{port}"}, {"Origin": "http://127.0.0.1"},
    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Sec-Fetch-Site": "anything"},
])
@pytest.mark.parametrize("path", ["/", "/manifest", "/blobs/0"])
def test_other_pages_get_nothing(server, headers, path):
    headers = {name: value.format(port=server.port) for name, value in headers.items()}
    status, sent, body = server.ask(path, headers=headers | {"Cookie": server.cookie})
    assert status == 403 and len(body) < 200
    assert not any(name.startswith("access-control") for name in sent)


@pytest.mark.parametrize("cookie", [None, "", "gpu-profile-{port}=", "gpu-profile-{port}=" + "0" * 32, "other={secret}", "gpu-profile-{port}={secret}0"])
@pytest.mark.parametrize("path", ["/manifest", "/blobs/0", "/comparison", "/base/manifest", "/base/blobs/0"])
def test_without_the_cookie_there_is_no_data(server, cookie, path):
    secret = server.cookie.split("=")[1]
    headers = {} if cookie is None else {"Cookie": cookie.format(port=server.port, secret=secret)}
    status, _, body = server.ask(path, headers=headers)
    assert status == 401 and len(body) < 200


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer ", "Bearer 0", "Bearer " + "0" * 32, "Basic {token}", "bearer {token}"])
def test_guesses_open_nothing(program, authorization):
    with view(program) as server:
        status, sent, _ = server.ask("/session", "POST", {"Authorization": authorization.format(token=server.token)}, body=b"")
        assert status == 403 and "set-cookie" not in sent
        assert server.open()


@pytest.mark.parametrize(("path", "status"), [
    ("/blobs/", 404), ("/blobs/x", 404), ("/blobs/-1", 404), ("/blobs/999999999", 404), ("/blobs/99999999999999999999999", 404), ("/blobs/0,", 200),
    ("/blobs/0,,1", 404), ("/blobs/0x1", 404), ("/blobs/" + ",".join(["0"] * 65), 400), ("/blobs/../etc/passwd", 404), ("/etc/passwd", 404),
    ("/../../etc/passwd", 404), ("/manifest/", 404), ("/%2e%2e/", 404), ("/blobs/0%2C1", 404), ("//evil.example/", 200), ("/?x=1", 200),
    ("/comparison", 200), ("/base/manifest", 404), ("/base/blobs/0", 404), ("/base", 404), ("/base/base/manifest", 404),
])
def test_only_numbered_pieces_can_be_asked_for(server, path, status):
    assert server.ask(path, headers={"Cookie": server.cookie})[0] == status


def test_what_is_compared_is_served_beside(program, server):
    assert server.ask("/comparison", headers={"Cookie": server.cookie})[2] == b"null"
    with view(program, "--base", EARLIER) as both:
        headers = {"Cookie": both.open()}
        source = lambda path: json.loads(both.ask(path, headers=headers)[2])["source"]["file"]
        assert (source("/manifest"), source("/base/manifest")) == (RECORDING.name, EARLIER.name)
        said = json.loads(both.ask("/comparison", headers=headers)[2])
        assert (said["source"]["file"], said["base"]["file"]) == (RECORDING.name, EARLIER.name)
        blobs = [both.ask(f"{under}/blobs/0,1", headers=headers) for under in ("", "/base")]
        assert [status for status, _, _ in blobs] == [200, 200] and blobs[0][2] != blobs[1][2]
        assert both.ask("/base/base/manifest", headers=headers)[0] == 404


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_nothing_can_be_changed(server, method):
    status, headers, _ = server.ask("/manifest", method, {"Cookie": server.cookie}, body=b"")
    assert status in (405, 501)
    assert not any(name.startswith("access-control") for name in headers)


def test_head_is_a_get_without_its_body(server):
    status, headers, body = server.ask("/manifest", "HEAD", {"Cookie": server.cookie})
    assert status == 200 and body == b"" and int(headers["content-length"]) > 100


def test_two_hosts_in_one_request_are_refused(server):
    status, _, _ = server.ask("/manifest", headers={"Host": f"127.0.0.1:{server.port}", "Cookie": server.cookie}, host="evil.example")
    assert status == 400


def cut_off(server, *request, **more):
    """Whether a request is refused for its size: with a status, or by the end of the connection before all of it was sent."""
    try:
        return server.ask(*request, **more)[0] in (400, 413, 431)
    except (OSError, http.client.HTTPException):
        return True


def test_large_requests_are_cut_off(server):
    """Each is one that is answered when it is small, so that nothing but its size can be why it is not."""
    known, token = {"Cookie": server.cookie}, {"Authorization": f"Bearer {server.token}"}
    assert server.ask("/manifest", headers={**known, "X": "x" * 4_000})[0] == 200
    assert cut_off(server, "/manifest", headers={**known, "X": "x" * 100_000})
    assert server.ask("/session", "POST", token, body=b"x" * 60_000)[0] == 204
    assert cut_off(server, "/session", "POST", token, body=b"x" * 70_000)
    assert server.ask("/manifest", headers=known)[0] == 200


def test_a_port_that_is_taken_is_said(program, server):
    outcome = program.run("view", "--no-open", "--port", str(server.port), RECORDING)
    assert outcome.status == 5 and "cannot listen" in outcome.errors[0]


def test_a_file_that_cannot_be_read_is_said(program, tmp_path):
    for options in ([tmp_path / "none.json"], [RECORDING, "--base", tmp_path / "none.json"]):
        outcome = program.run("view", "--no-open", *options)
        assert outcome.status == 3 and "none.json" in outcome.errors[0]
