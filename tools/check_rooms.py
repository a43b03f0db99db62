#!/usr/bin/env python3
"""Measures the tree, and rejects rooms that grow too large.

    tools/check_rooms.py                the working tree, with limits
    tools/check_rooms.py --of COMMIT    the figures of another commit, without limits

A room is a folder of the top level with sources of the product. No room has more than 30 % of the lines, no folder has more
than 40 sources side by side, and no two sources of a language have one base name. Headers with a single user are counted, and
may not become more: what one file needs belongs into it. All files of the repository together have less than 20 MB.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("core", "io", "analyze", "ranks", "present", "collect", "measure", "compare", "capi", "cli", "python", "web")
LANGUAGES = {"C++": (".cc", ".h", ".c", ".def"), "Python": (".py",), "TypeScript": (".ts", ".tsx")}
LARGEST_ROOM, FOLDER_FILES, LONE_HEADERS = 0.30, 40, 97
TREE_BYTES = 20_000_000  # of all files of the repository
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def texts(commit):
    """Path: text of every source of the product and its C++ tests."""
    endings = tuple(ending for all_of_one in LANGUAGES.values() for ending in all_of_one)
    if commit:
        names = git("ls-tree", "-r", "--name-only", "-z", commit)
    else:
        names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    names = [name for name in names.split("\0") if name.endswith(endings) and not name.startswith("web/test/")]
    names = [name for name in names if commit or (ROOT / name).is_file()]
    if not commit:
        return {name: (ROOT / name).read_text(errors="replace") for name in names}
    asked = "".join(f"{commit}:{name}\n" for name in names).encode()
    answer = subprocess.run(["git", "cat-file", "--batch"], cwd=ROOT, input=asked, capture_output=True, check=True).stdout
    found, at = {}, 0
    for name in names:
        head, at = answer[at:answer.index(b"\n", at)], answer.index(b"\n", at) + 1
        size = int(head.split()[-1])
        found[name], at = answer[at:at + size].decode(errors="replace"), at + size + 1
    return found


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout.decode()


def tree_bytes(commit):
    if commit:
        rows = (row.split(maxsplit=4) for row in git("ls-tree", "-r", "-l", commit).splitlines())
        return sum(int(size) for _, kind, _, size, _ in rows if kind == "blob")
    names = git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    return sum(path.lstat().st_size for name in names if name and os.path.lexists(path := ROOT / name))


def lone_headers(sources):
    """Headers that one file includes, apart from their own source."""
    users = defaultdict(set)
    for name, text in sources.items():
        for included in INCLUDE.findall(text):
            users[included].add(name)
    for header in sorted(name for name in sources if name.endswith(".h")):
        others = users[header] - {header.removesuffix(".h") + ".cc"}
        if len(others) == 1:
            yield header, others.pop()


def same_names(sources):
    for language, endings in LANGUAGES.items():
        found = defaultdict(set)
        for name in sources:
            path = Path(name)
            if path.suffix in endings and not path.name.startswith("__"):
                found[path.stem if language == "TypeScript" else path.name].add(name)
        yield from (sorted(names) for names in found.values() if len(names) > 1)


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--of", metavar="COMMIT")
    commit = asked.parse_args().of
    everything = texts(commit)
    sources = {name: text for name, text in everything.items() if name.split("/")[0] in ROOMS}
    lines = {name: text.count("\n") for name, text in sources.items()}
    rooms, total = Counter(), sum(lines.values())
    for name, count in lines.items():
        rooms[name.split("/")[0]] += count
    folders = Counter(str(Path(name).parent) for name in sources)
    cpp = [count for name, count in lines.items() if name.endswith((".cc", ".h"))]
    lone = list(lone_headers(everything))
    same = list(same_names(sources))
    problems = [f"{room}/ has {count / total:.0%} of the lines; split it" for room, count in rooms.items() if count > LARGEST_ROOM * total]
    problems += [f"{folder}/ has {count} sources side by side; divide it by topic" for folder, count in folders.items() if count > FOLDER_FILES]
    problems += [f"{' and '.join(names)} have one base name" for names in same]
    if len(lone) > LONE_HEADERS:
        problems += [f"{header} is used by {user} only: move it into that file" for header, user in lone]
    size = tree_bytes(commit)
    if size >= TREE_BYTES:
        problems.append(f"the repository has {size / 1e6:.2f} MB; keep it below {TREE_BYTES / 1e6:.0f} MB: cut or compress recordings")
    room, count = rooms.most_common(1)[0]
    folder, most = folders.most_common(1)[0]
    print(f"{total} lines in {len(sources)} sources, {len(rooms)} rooms; the largest is {room}/ with {count / total:.0%}; the fullest folder is {folder}/ with {most} sources; "
          f"{len(cpp)} C++ files with a median of {median(cpp):.0f} lines; {len(lone)} headers with one user; {len(same)} base names twice; {size / 1e6:.2f} MB")
    if not commit:
        print("\n".join(problems), file=sys.stderr if problems else sys.stdout)
    return 1 if problems and not commit else 0


if __name__ == "__main__":
    sys.exit(main())
