#!/usr/bin/env python3
"""Checks references in the project's texts.

Every tracked text file must be free of absolute paths of one machine, `TODO`s without an issue, `../` paths that do not
exist, and names of source files or tests (`tests/unit/x_test.cc::Suite.Name`) that do not exist. In Markdown, relative
links and their headings must exist. Web addresses are not fetched. A script that names its interpreter (`#!`) can be executed, as texts
say. Recorded data (fixtures, corpora, captures) is skipped.
"""

import re
import stat
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ("tests/fixtures/", "tests/cases/", "tests/fuzz/corpus/", "examples/", "LICENSE")
PATTERNS = ("tools/check_refs.py", "tests/python/project/test_tools.py")  # they contain the patterns
MACHINE_PATH = re.compile(r"(?<![\w.>$}/*-])/(?:home|root|work|Users|mnt|workspace)/[\w.]")
TODO = re.compile(r"(?<!`)\b(?:TODO|FIXME|XXX)\b(?!.{0,3}#\d)")
UPWARDS = re.compile(r"(?<![\w/.])(?:\.\./)+\w[\w./-]*")
TREE_FILE = re.compile(
    r"(?<![\w/.-])(?:(?:core|io|analyze|present|measure|compare|cli|capi|collect|bench|python|tests|tools|docs|examples)/[\w/.-]*\w\.(?:h|cc|cu|def|py|sh|md|gz|zst|json|svg)"
    r"|ranks/[\w/.-]*\w\.(?:h|cc|def))\b"  # examples have recordings below ranks/
)
TEST = re.compile(r"`((?:tests|web/test)/[\w/.-]+)::([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*?)\s*$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def texts():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if path.is_file() and not name.startswith(DATA) and name not in PATTERNS:
            try:
                yield name, path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def anchors(markdown):
    """The link fragments of a page's headings."""
    for title in HEADING.findall(FENCE.sub("", markdown)):
        yield re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def has_test(source, name):
    """Whether a C++ (Suite.Name or a function), Python or TypeScript (title) source has this test."""
    suite, _, case = name.partition(".")
    ways = (rf"^TEST\w*\({re.escape(suite)},\s*{re.escape(case)}\)", rf"^(?:def|void) {re.escape(name)}\(", rf'^test\("{re.escape(name)}",')
    return any(re.search(way, source, re.MULTILINE) for way in ways)


def line_problems(name, number, line):
    where = f"{name}:{number}"
    if MACHINE_PATH.search(line):
        yield f"{where}: absolute path of one machine: {line.strip()[:80]}"
    if TODO.search(line):
        yield f"{where}: task without an issue; write TODO #12"
    for target in UPWARDS.findall(line):
        there = ((ROOT / name).parent / target).resolve()
        if not there.is_relative_to(ROOT) or not there.exists():
            yield f"{where}: {target} does not exist in this project"
    for target in TREE_FILE.findall(line):
        if "NAME" not in target and not (ROOT / target).exists():
            yield f"{where}: {target} does not exist"
    for file, test in TEST.findall(line):
        if (ROOT / file).is_file() and not has_test((ROOT / file).read_text(), test):
            yield f"{where}: {file} has no test {test}"


def link_problems(name, text):
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        file, _, fragment = target.partition("#")
        page = ((ROOT / name).parent / file).resolve()
        if file and not (page.exists() and page.is_relative_to(ROOT)):
            yield f"{name}: broken link {target}"
        elif fragment and (not file or page.suffix == ".md"):
            if fragment not in anchors(page.read_text() if file else text):
                yield f"{name}: {target}: heading not found"


def main():
    problems, count = [], 0
    for name, text in texts():
        count += 1
        if text.startswith("#!") and not (ROOT / name).stat().st_mode & stat.S_IXUSR:
            problems.append(f"{name}: cannot be executed, but names its interpreter; chmod +x it")
        for number, line in enumerate(text.splitlines(), 1):
            problems += line_problems(name, number, line)
        if name.endswith(".md"):
            problems += link_problems(name, text)
    print("\n".join(problems) if problems else f"{count} texts without broken references")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
