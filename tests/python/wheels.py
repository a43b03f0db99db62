"""Wheels that tests install on first use: what pip is asked for, and why it could not be had."""

import platform
import subprocess
import sys


class Unavailable(Exception):
    """Why something is not there: the reason to skip."""


def need_x86_linux():
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise Unavailable("the wheels are for x86-64 Linux")


def pip(verb, what, seconds, *words):
    """`pip download` or `pip install` of wheels without their dependencies; `what` names them in the reason."""
    command = [sys.executable, "-m", "pip", verb, "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--retries", "1",
               *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip did not {verb} {what} within {seconds} s") from None
    if done.returncode != 0:
        raise Unavailable(f"pip cannot {verb} {what}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
