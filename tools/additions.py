#!/usr/bin/env python3
"""Counts from the history how many files of the product a commit touched that added one thing.

    tools/additions.py                  a row for each kind: the last ten commits, as a Markdown table
    tools/additions.py --commits KIND   every commit of a kind, newest first

A commit adds a thing if the list in which such things are declared gained one to three names, so moving or renaming a list counts
as nothing. Tests and documentation are not counted.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
LISTS = ("*.def", "*.h", "*importer.cc", "*exporter.cc")  # the files with such lists, now and earlier
KINDS = {
    "an analysis": r"^\s*ANALYSIS\((\w+)\)",
    "a rule": r"^\s*RULE\((\w+)\)",
    "an importer": r'^\s*\{"(\w+)", "[^"]+", sniff_',
    "an exporter": r'^\s*\{"([\w-]+)", "[^"]+", "\.',
    "a setting of `record`": r"^\s*SETTING\([^,]+, (\w+),",
    "an option of analyses": r"^\s*OPTION\((\w+), (?:i64|f64|str),",
    "a kind of loss": r"^\s*LOSS\((\w+),",
    "a metric of devices": r"^\s*METRIC\((\w+),",
}
MOST_NAMES, SHOWN = 3, 10
PRODUCT = re.compile(r"^(?:core|io|analyze|ranks|present|collect|measure|compare|capi|cli|python|bench|web)/.*\.(?:cc|h|c|def|py|ts|tsx)$")
TESTS = re.compile(r"^web/test/|(?:^|/)test_")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, errors="replace", check=True).stdout


def additions():
    """Yield (commit, kind, names) of every commit that declared one to three new things of a kind, newest first."""
    patterns = {kind: re.compile(pattern) for kind, pattern in KINDS.items()}
    log = git("log", "--no-merges", "--no-renames", "--format=%x00%h", "-U0", "-p", "--", *LISTS)
    for entry in log.split("\0")[1:]:
        commit, _, patch = entry.partition("\n")
        for kind, pattern in patterns.items():
            names = {sign: {found[1] for line in patch.split("\n") if line[:1] == sign and (found := pattern.match(line[1:]))} for sign in "+-"}
            new = names["+"] - names["-"]
            if 1 <= len(new) <= MOST_NAMES:
                yield commit, kind, sorted(new)


def product_files(commit):
    files = git("show", "--format=", "--name-only", "-M", commit).split("\n")
    return sum(bool(PRODUCT.match(name)) and not TESTS.search(name) for name in files)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--commits", metavar="KIND", choices=sorted(KINDS))
    given = parser.parse_args()
    found = {kind: [] for kind in KINDS}
    for commit, kind, names in additions():
        found[kind].append((commit, names))
    if given.commits:
        for commit, names in found[given.commits]:
            print(f"{commit} {product_files(commit):3} files  {', '.join(names)}")
        return
    print("| | commits | files of the product, newest first | median |\n|---|---|---|---|")
    for kind, commits in found.items():
        files = [product_files(commit) for commit, _ in commits[:SHOWN]]
        if files:
            print(f"| {kind} | {len(commits)} | {', '.join(map(str, files))} | {median(files):g} |")


if __name__ == "__main__":
    sys.exit(main())
