#!/usr/bin/env python3
"""Opens a recording in the viewer as a browser would, without one: `portable_view.py PROGRAM FILE`. It starts `PROGRAM view FILE`,
fetches the page, exchanges the token of the address for a cookie, waits for the recording, fetches the manifest with it, and stops the server.
tests/portable.sh runs this inside other systems, so it needs only the standard library of Python 3.9."""

import json
import re
import signal
import subprocess
import sys
import time
import urllib.request

TIMEOUT_S = 30


def ask(url, headers=None, data=None):
    """(headers, body) of the answer; any status but 2xx raises."""
    with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}), timeout=TIMEOUT_S) as answer:
        return answer.headers, answer.read()


def look(address):
    base, token = re.fullmatch(r"(http://127\.0\.0\.1:\d+/)#([0-9a-f]{32})\n", address).groups()
    _, page = ask(base)
    assert b"<script" in page, "the page has no script"
    headers, _ = ask(base + "session", {"Authorization": f"Bearer {token}"}, b"")
    cookie = headers["Set-Cookie"].split(";")[0]
    while json.loads(ask(base + "progress", {"Cookie": cookie})[1])["stage"] != "ready":
        time.sleep(0.05)
    _, manifest = ask(base + "manifest", {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})
    print(f"page of {len(page)} bytes, manifest with {json.loads(manifest)['blob_count']} blobs")


def main():
    with subprocess.Popen([sys.argv[1], "view", "--no-open", sys.argv[2]], stdout=subprocess.PIPE, text=True) as process:
        try:
            look(process.stdout.readline())
        finally:
            process.send_signal(signal.SIGINT)
        return process.wait(TIMEOUT_S)


if __name__ == "__main__":
    sys.exit(main())
