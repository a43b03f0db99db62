#!/usr/bin/env python3
"""Rejects long files, long functions and long lines of TypeScript.

A file above 700 lines needs a reason in LONG_FILES, or must be split. A function above 80 lines fails without
exception, and so does a line of TypeScript above 120 columns, except in UNBREAKABLE. universal-ctags measures functions;
without it, only files and lines are checked, and the output says so.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = (".h", ".cc", ".cu", ".py", ".ts", ".tsx", ".sh")
FILE_LINES = 700
FUNCTION_LINES = 80
TYPESCRIPT_COLUMNS = 120
TYPESCRIPT_FUNCTION = re.compile(r"^(|  )(?:export )?(?:default )?(?:async |static |private |get |set )*(?:function )?(?!if|for|while|switch|return|else)(\w+)(?:<.*?>)?\(")

# Path: why the file is better in one piece. A path that no longer exists or is short again fails.
LONG_FILES = {}
# Path: what begins the line of TypeScript that cannot be broken, as a URL. A path that no longer has such a line fails.
UNBREAKABLE = {}


def source_files():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    paths = (ROOT / name for name in listed.split("\0") if name.endswith(SOURCES))
    return [path for path in paths if path.is_file()]


def long_files(lengths, allowed):
    for path, lines in sorted(lengths.items()):
        if lines > FILE_LINES and path not in allowed:
            yield f"{path}: {lines} lines; split it, or add the reason to LONG_FILES in tools/check_size.py"
    for path in allowed:
        if lengths.get(path, 0) <= FILE_LINES:
            yield f"tools/check_size.py: {path} has at most {FILE_LINES} lines; remove it from LONG_FILES"


def functions(files):
    """(path, line, name, lines) of every function."""
    command = ["ctags", "--output-format=json", "--fields=+neK", "--kinds-C++=f", "--kinds-Python=fm"]
    command += ["--languages=C++,Python", "--langmap=C++:+.h.cu", "-L", "-", "-f", "-"]
    listing = "\n".join(str(path.relative_to(ROOT)) for path in files)
    done = subprocess.run(command, input=listing, cwd=ROOT, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            yield tag["path"], tag["line"], tag["name"], tag["end"] - tag["line"] + 1


def typescript_functions(files):
    """The same of TypeScript, of which ctags does not know the ends: functions of a file and methods, by their indentation."""
    for path in (path for path in files if path.suffix in (".ts", ".tsx")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            begun = TYPESCRIPT_FUNCTION.match(line)
            if begun and line.rstrip().endswith("{"):
                end = next((n for n in range(number + 1, len(lines)) if lines[n].startswith(begun[1] + "}")), len(lines) - 1)
                yield path.relative_to(ROOT).as_posix(), number + 1, begun[2], end - number + 1


def long_lines(files, allowed):
    unused = dict(allowed)
    for path in (path for path in files if path.suffix in (".ts", ".tsx")):
        name = path.relative_to(ROOT).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if len(line) <= TYPESCRIPT_COLUMNS:
                continue
            if name in allowed and line.lstrip().startswith(allowed[name]):
                unused.pop(name, None)
            else:
                yield f"{name}:{number}: {len(line)} columns; the limit is {TYPESCRIPT_COLUMNS}"
    for name in unused:
        yield f"tools/check_size.py: {name} has no such line; remove it from UNBREAKABLE"


def long_functions(found):
    for path, line, name, lines in found:
        if lines > FUNCTION_LINES:
            yield f"{path}:{line}: {name} has {lines} lines; the limit is {FUNCTION_LINES}"


def main():
    files = source_files()
    lengths = {path.relative_to(ROOT).as_posix(): path.read_text(errors="replace").count("\n") for path in files}
    problems = list(long_files(lengths, LONG_FILES)) + list(long_lines(files, UNBREAKABLE))
    typescript = list(typescript_functions(files))
    problems += long_functions(typescript)
    if shutil.which("ctags"):
        found = list(functions(files))
        problems += long_functions(found)
        counted = f"{len(found) + len(typescript)} functions"
    else:
        counted = "functions not measured, because universal-ctags is not installed"
    print("\n".join(problems) if problems else f"{len(files)} files within {FILE_LINES} lines; {counted}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
