"""The step that action.yml runs: installs gpu-profile, records, compares with the base or a history, and says so in GitHub's terms.

Inputs are the variables that action.yml sets. The job summary gets the first screen of the new recording and the comparison; each
condition that fired becomes an annotation; the outputs are `verdict` and `status`, which is also the exit status. Names in recordings are
chosen by the recorded program: they reach GitHub escaped, in a fence that they cannot close, or in our own escaped Markdown. Needs only Python.
"""

import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

NO_BASE = "no base"


class Failed(Exception):
    """The step ends with this status and message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


def given(name):
    return os.environ.get(f"GPUPROF_{name}", "").strip()


def lines_of(name):
    return [line.strip() for line in given(name).splitlines() if line.strip()]


def annotate(level, title, message):
    """One annotation; GitHub's own escapes, so that a name cannot end it or begin another command."""
    message = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    title = title.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A").replace(":", "%3A").replace(",", "%2C")
    print(f"::{level} title={title}::{message}", flush=True)


def append(variable, text):
    if os.environ.get(variable):
        with open(os.environ[variable], "a", encoding="utf-8") as file:
            file.write(text)


def fenced(text):
    fence = "`" * (1 + max([2, *(len(run) for run in re.findall("`+", text))]))
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"


def install():
    """Afterwards `gpu-profile` is in PATH."""
    package = given("PACKAGE")
    if not package and shutil.which("gpu-profile"):
        return
    folder = Path(tempfile.mkdtemp(prefix="gpu-profile-"))
    python = folder / "bin" / "python"
    for command in ([sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "--quiet", package or os.environ["GITHUB_ACTION_PATH"]]):
        if subprocess.run(command, check=False).returncode:
            raise Failed(6, f"cannot install {package or 'gpu-profile from its sources'}; set the input 'package' to a wheel")
    os.environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"


def answer(*words):
    """(status, standard output, standard error) of gpu-profile; an error of its own ends the step."""
    done = subprocess.run(["gpu-profile", *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", errors="replace",
                          env={**os.environ, "COLUMNS": "100"}, check=False)
    if done.returncode not in (0, 1):
        raise Failed(done.returncode, (done.stderr.strip() or f"gpu-profile {words[0]} failed").removeprefix("gpu-profile: "))
    return done.returncode, done.stdout, done.stderr


def record(folder, capture):
    """Run the command in a folder. What it prints is its own: GitHub does not read commands in it."""
    token = secrets.token_hex(16)
    print(f"::stop-commands::{token}", flush=True)
    status = subprocess.run(["gpu-profile", "record", "-o", capture, "--", "bash", "-c", given("COMMAND")], cwd=folder, check=False).returncode
    print(f"\n::{token}::", flush=True)
    if status:
        raise Failed(status, f"the command ended with {status}")
    if not capture.is_file():
        raise Failed(4, "nothing was recorded: the command used no GPU, or it cannot be recorded here; see gpu-profile doctor")
    return capture


def checked_out(commit, folder):
    """The base version in a folder of its own, or why there is none."""
    for command in (["git", "fetch", "--quiet", "--depth=1", "origin", commit], ["git", "worktree", "add", "--quiet", "--detach", folder, commit]):
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


def recordings(folder):
    """(recordings of the base, recordings of this version, why there is no base)."""
    if not given("COMMAND"):
        base, new = lines_of("BASE"), lines_of("RECORDING")
        if not new:
            raise Failed(2, "set the input 'command' or 'recording'")
        missing = [file for file in base if not Path(file).is_file()]
        return [] if missing else base, new, f"{missing[0]} does not exist" if missing else "no base was given"
    if not re.fullmatch("[1-9][0-9]?", given("REPEATS") or "3"):
        raise Failed(2, f"the input 'repeats' is '{given('REPEATS')}', expected 1-99")
    old, why, base, new = folder / "base", "no base was given", lines_of("BASE"), []
    if commit := given("BASE_REF"):
        base, why = [], checked_out(commit, old)
    for turn in range(int(given("REPEATS") or "3")):  # alternating, so that a machine that becomes slower slows both
        if commit and not why:
            base.append(record(old, folder / f"base{turn}.gpuprof"))
        new.append(record(".", folder / f"new{turn}.gpuprof"))
    return [file for file in base if Path(file).is_file()], new, why or ""


def judged(base, new):
    """The words of the judging command, without its format; None without anything to compare with."""
    conditions = [word for condition in lines_of("FAIL_ON") for word in ("--fail-on", condition)]
    if given("HISTORY"):
        machine = ["--machine", given("MACHINE")] if given("MACHINE") else []
        where = ["--label", given("LABEL") or "default", "--db", given("HISTORY"), *machine]
        return ["history", "check", new[0], *where, "--new-label", *conditions], ["history", "add", new[0], *where]
    if not base:
        return None, None
    repeats = (["--repeat-base", *base[1:]] if base[1:] else []) + (["--repeat-new", *new[1:]] if new[1:] else [])
    return ["compare", base[0], new[0], *repeats, *conditions], None


def explain(status, document, said):
    """One annotation for each condition that fired or could not be judged, else one for a verdict that needs attention."""
    verdict, lead = document["verdict"], document["lead"]
    prefix = "gpu-profile: --fail-on "
    fired = [line.removeprefix(prefix).partition(": ") for line in said.splitlines() if line.startswith(prefix)]
    for condition, _, why in fired:
        unknown = why.startswith("not evaluated: ")
        annotate("warning" if unknown or not status else "error", condition, why)
    if not fired and verdict["name"] in ("slower", "cannot tell"):
        annotate("warning", f"gpu-profile: {verdict['name']}", f"{lead[0]}\n{verdict['because']}")


def main():
    try:
        install()
        with tempfile.TemporaryDirectory() as name:
            base, new, why = recordings(Path(name))
            _, screen, _ = answer("report", new[0])
            append("GITHUB_STEP_SUMMARY", f"## gpu-profile\n\n{fenced(screen)}\n")
            command, add = judged(base, new)
            if command is None:
                annotate("notice", "gpu-profile: no base", f"nothing to compare with: {why}")
                append("GITHUB_STEP_SUMMARY", "Nothing was compared, because the base version was not recorded.\n")
                verdict, status = NO_BASE, int("cannot-tell" in lines_of("FAIL_ON"))
            else:
                status, text, said = answer(*command, "--format", "json")
                document = json.loads(text)
                append("GITHUB_STEP_SUMMARY", answer(*command, "--format", "md")[1] + "\n")
                explain(status, document, said)
                verdict = document["verdict"]["name"]
                if add and status == 0 and given("HISTORY_ADD") == "true":
                    answer(*add)
            if given("BASE_REF"):
                subprocess.run(["git", "worktree", "remove", "--force", Path(name) / "base"], capture_output=True, check=False)
    except Failed as failure:
        annotate("error", "gpu-profile", str(failure))
        verdict, status = "error", failure.status
    append("GITHUB_OUTPUT", f"verdict={verdict}\nstatus={status}\n")
    print(f"verdict: {verdict}")
    return status


if __name__ == "__main__":
    sys.exit(main())
