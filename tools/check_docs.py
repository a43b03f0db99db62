#!/usr/bin/env python3
"""Runs every command that the documentation shows.

    check_docs.py [--gold] PROGRAM

bash runs each line `$ COMMAND` of a fenced ```sh block in *.md, docs/**/*.md and skills/**/*.md. The folder is temporary and has links to the
top level of the checkout, so relative paths work and output files are discarded. The commands of a page run in order in one
folder. `gpu-profile` is PROGRAM, and `evaluate` uses the Python that runs this script. A command must exit with 0, or with N
if the comment `# exit N` follows. Output within such a block is not compared. Blocks without `$ ` are not run. The commands of
a page with the line `<!-- commands run in: TEST -->` are run by that test, which looks at their results, too.

A fenced block directly below the line `<!-- output of: COMMAND -->` is compared with the output of COMMAND on a terminal
with 100 columns; `--gold` updates it. A first line `$ COMMAND` in the block stays: it is what a reader types, while
COMMAND in the comment may also shorten the output.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
EXPECTED = re.compile(r"#\s*exit (\d+)\s*$")
SHOWN = re.compile(r"^(<!-- output of: ([^\n]*) -->\n```[^\n]*\n(?:\$ [^\n]*\n)?)(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = re.compile(r"^<!-- commands run in: (tests/\S+) -->$", re.MULTILINE)
SECONDS = 300


def pages():
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "skills").rglob("*.md"))]


def commands(markdown):
    """(line number, command) of a page; a backslash at the end of a line continues the command."""
    for block in BLOCK.finditer(markdown):
        first = markdown.count("\n", 0, block.start(1)) + 1
        for match in COMMAND.finditer(block.group(1)):
            yield first + block.group(1).count("\n", 0, match.start()), match.group(1)


def shown_problem(page, folder, environment, gold):
    """Compare the outputs that a page shows, or rewrite them; None if they are up to date."""

    def rewrite(match):
        done = subprocess.run(["bash", "-c", match[2]], cwd=folder, env=environment, capture_output=True, check=False)
        return match[1] + done.stdout.decode() + "```"

    text = page.read_text()
    printed = SHOWN.sub(rewrite, text)
    if gold:
        page.write_text(printed)
    return None if gold or printed == text else "shown output differs from the output of the command; --gold updates it"


def run(command, folder, environment):
    """None if the command exits as expected, else what happened."""
    wanted = EXPECTED.search(command)
    wanted = int(wanted.group(1)) if wanted else 0
    try:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    if done.returncode == wanted:
        return None
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return f"exit {done.returncode} instead of {wanted}: {said[-1] if said else 'no message'}"


def environment_of(program):
    return dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", GPUPROF_BIN=str(program), COLUMNS="100", LC_ALL="C.UTF-8",
                GPUPROF_PYTHON=sys.executable)


def check_page(page, environment, gold):
    """[(where, problem or None, seconds)] of a page, whose commands run in order."""
    return list(timed(results_of(page, environment, gold)))


def link_checkout(folder):
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "build", ".venv"):
            os.symlink(entry, Path(folder) / entry.name)


def tested_elsewhere(page):
    """The test that runs the commands of a page, or None. It must name the page."""
    named = ELSEWHERE.search(page.read_text())
    return named and ROOT / named.group(1)


def timed(results):
    begun = time.monotonic()
    for where, problem in results:
        yield where, problem, time.monotonic() - begun
        begun = time.monotonic()


def results_of(page, environment, gold):
    with tempfile.TemporaryDirectory() as folder:
        link_checkout(folder)
        if test := tested_elsewhere(page):
            is_named = test.exists() and page.name in test.read_text()
            yield f"{page.relative_to(ROOT)}", None if is_named else f"{test.relative_to(ROOT)} does not run its commands"
        else:
            for number, command in commands(page.read_text()):
                yield f"{page.relative_to(ROOT)}:{number}: {command}", run(command, folder, environment)
        if SHOWN.search(page.read_text()):
            yield str(page.relative_to(ROOT)), shown_problem(page, folder, environment, gold)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--gold"]
    if len(arguments) != 1:
        print("usage: check_docs.py [--gold] PROGRAM", file=sys.stderr)
        return 2
    program, gold = Path(arguments[0]).resolve(), "--gold" in sys.argv
    if not os.access(program, os.X_OK):
        print(f"cannot run {program}: not an executable file; build it first", file=sys.stderr)
        return 2
    environment = environment_of(program)
    existing = [page for page in pages() if page.exists()]
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # pages share only the checkout
        by_page = list(pool.map(lambda page: check_page(page, environment, gold), existing))
    results = [result for results in by_page for result in results]
    failed = [f"{where}\n    {problem}" for where, problem, _ in results if problem]
    print("slowest:", *(f"{seconds:7.1f} s  {where}" for where, _, seconds in sorted(results, key=lambda result: -result[2])[:10]), sep="\n  ")
    print("\n".join(failed) if failed else f"{len(results)} commands and outputs of the documentation work")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
