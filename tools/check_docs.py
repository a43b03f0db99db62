#!/usr/bin/env python3
"""Runs every command that the documentation shows.

In *.md and docs/**/*.md, each line `$ COMMAND` of a fenced ```sh block is run by bash, in a scratch folder that
has links to the checkout's top level, so that relative paths are right and what a command writes is thrown away. The
commands of one page share the folder, in order. `gpu-profile` is the program given as the first argument, and evaluates
with the Python that runs this. A command must end with 0, or with N when it is followed by the comment `# exit N`.
Printed output in the block is an illustration and not compared. Blocks without `$ ` are not run.

A fenced block right below the line `<!-- output of: COMMAND -->` is compared with what the command prints on a terminal
100 columns wide; `--gold` writes it there. Its first line stays if it is `$ COMMAND`: what a reader types, where COMMAND above also cuts
what it prints.
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
SECONDS = 300


def pages():
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def commands(markdown):
    """(line number, command) of a page; a command goes on after a backslash at the end of its line."""
    for block in BLOCK.finditer(markdown):
        first = markdown.count("\n", 0, block.start(1)) + 1
        for match in COMMAND.finditer(block.group(1)):
            yield first + block.group(1).count("\n", 0, match.start()), match.group(1)


def shown_problem(page, folder, environment, gold):
    """Compares the outputs that a page shows, or rewrites them; None when they are what the commands print."""

    def rewrite(match):
        done = subprocess.run(["bash", "-c", match[2]], cwd=folder, env=environment, capture_output=True, check=False)
        return match[1] + done.stdout.decode() + "```"

    text = page.read_text()
    printed = SHOWN.sub(rewrite, text)
    if gold:
        page.write_text(printed)
    return None if gold or printed == text else "shows other output than the command prints; see --gold"


def run(command, folder, environment):
    """None when the command ends as it should, else what happened."""
    wanted = EXPECTED.search(command)
    wanted = int(wanted.group(1)) if wanted else 0
    try:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
        )
    except subprocess.TimeoutExpired:
        return f"did not end in {SECONDS} s"
    if done.returncode == wanted:
        return None
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return f"exit {done.returncode} instead of {wanted}: {said[-1] if said else 'nothing was said'}"


def check_page(page, environment, gold):
    """[(where, problem or None, seconds)] of a page; its commands run one after another."""
    return list(timed(results_of(page, environment, gold)))


def timed(results):
    begun = time.monotonic()
    for where, problem in results:
        yield where, problem, time.monotonic() - begun
        begun = time.monotonic()


def results_of(page, environment, gold):
    with tempfile.TemporaryDirectory() as folder:
        for entry in ROOT.iterdir():
            if entry.name not in (".git", "build", ".venv"):
                os.symlink(entry, Path(folder) / entry.name)
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
        print(f"cannot run {program}; build it first", file=sys.stderr)
        return 2
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", GPUPROF_BIN=str(program))
    environment |= {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "GPUPROF_PYTHON": sys.executable}
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # pages do not share anything but the checkout
        by_page = list(pool.map(lambda page: check_page(page, environment, gold), [page for page in pages() if page.exists()]))
    results = [result for results in by_page for result in results]
    failed = [f"{where}\n    {problem}" for where, problem, _ in results if problem]
    print("slowest:", *(f"{seconds:7.1f} s  {where}" for where, _, seconds in sorted(results, key=lambda result: -result[2])[:10]), sep="\n  ")
    print("\n".join(failed) if failed else f"{len(results)} commands and outputs of the documentation are right")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
