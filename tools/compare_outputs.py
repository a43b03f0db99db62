#!/usr/bin/env python3
"""Shows that two builds of the program answer the same, for changes that must not change behaviour.

  compare_outputs.py OLD NEW

Both run every case of tests/cases, every analysis of every recording in tests/fixtures and examples, and the pages that the
program prints of itself. Standard output, standard error and exit status must be equal byte for byte.
"""

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import run_cases  # noqa: E402  (needs the path above)

SECONDS = 300
NO_RECORDINGS = {".md", ".py", ".txt", ".cu", ".cc", ".c", ".sh", ".ipynb"}
PAGES = (["schema", "--format", "json"], ["--help"], ["report", "--help"], ["record", "--help"], ["help", "start/concepts"])


def of_case(case, program):
    done = run_cases.run(case, program)
    return done.returncode, done.stdout, done.stderr


def of_command(command, program):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "100", "HOME": "/nonexistent"}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "checkout").symlink_to(ROOT)
        done = subprocess.run([program, *command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def recordings():
    for folder in ("tests/fixtures", "examples"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix not in NO_RECORDINGS:
                yield "checkout/" + path.relative_to(ROOT).as_posix()


def analyses(program):
    tables = json.loads(of_command(["schema", "--format", "json"], program)[1])["tables"]
    return [row[0] for table in tables if table["name"] == "analyses" for row in table["rows"]]


def main():
    old, new = (str(Path(program).resolve()) for program in sys.argv[1:3])
    cases = sorted({path.parent for name in ("cmd", "expect-rule") for path in run_cases.CASES.rglob(name)})
    jobs = [(of_case, case) for case in cases] + [(of_command, page) for page in PAGES]
    jobs += [(of_command, ["report", path, *rest]) for path in recordings() for rest in ([], [*analyses(old), "--format", "json"])]

    def differs(job):
        run, what = job
        return run(what, old) != run(what, new)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        different = [str(what) for (_, what), differ in zip(jobs, pool.map(differs, jobs), strict=True) if differ]
    print("\n".join([*different, f"{len(jobs)} outputs compared, {len(different)} differ"]))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
