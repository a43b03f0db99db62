#!/usr/bin/env python3
"""Runs the cases: folders below tests/cases that contain only data.

  cmd            the arguments of gpu-profile, split as by a shell; several lines are one command
  timeline.txt   optional: a drawn timeline (tests/drawn.py), available as timeline.json
  input.*        optional: an input, available under its own name
  stdin          optional: standard input
  expect.EXT     the exact standard output (with VERSION in place of the program's version)
  expect-same    a path in the repository whose content is the standard output
  expect-error   text within the one line on standard error; standard output must be empty
  expect-note    text within the one line on standard error of a successful command
  expect-code    the exit status (default: 0)

  expect-rule    in rules/ID: the result of rule ID in `report timeline.json findings`, or in the output of `cmd`:
                   fires 210 us    a finding with this cost (`fires` alone: any cost)
                   silent          no finding and no reason
                   abstains TEXT   no finding, and a reason that contains TEXT
                   says TEXT       TEXT occurs in the finding; `not TEXT`: it does not

A command runs in a temporary folder with links to the top level of the checkout, so paths like tests/fixtures/... work and the
checkout stays unchanged. It has no terminal, 100 columns and UTF-8. `--gold` updates the expected output; review the diff.
Further arguments select cases by a part of their path.
"""

import argparse
import difflib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from drawn import kineto_of

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT / "tests" / "cases"
SECONDS = 600
EXTENSIONS = {"csv": "csv", "json": "json", "md": "md"}


def normalised(output):
    """Without what changes from release to release."""
    output = re.sub(rb'("version": )"[^"]*"', rb'\1"VERSION"', output)
    return re.sub(rb"^(gpu-profile )\d+\.\d+\.\d+", rb"\1VERSION", output)


def prepare(case, folder):
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "build", ".venv"):
            os.symlink(entry, folder / entry.name)
    for given in case.glob("input.*"):
        (folder / given.name).write_bytes(given.read_bytes())
    drawing = case / "timeline.txt"
    if drawing.exists():
        (folder / "timeline.json").write_text(kineto_of(drawing.read_text()))


def run(case, program):
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
    environment |= {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}
    given = (case / "stdin").read_bytes() if (case / "stdin").exists() else b""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        prepare(case, folder)
        return subprocess.run([program, *command_of(case)], cwd=folder, env=environment, input=given,
                              capture_output=True, timeout=SECONDS, check=False)


def command_of(case):
    if (case / "cmd").exists():
        return shlex.split((case / "cmd").read_text())
    inputs = ["timeline.json", *(given.name for given in sorted(case.glob("input.*")))]
    return ["report", *inputs, "findings", "--format", "json"]


def rule_problems(case, output):
    """What is not as `expect-rule` says."""
    rule, table = case.parent.name, json.loads(output)["tables"][0]
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row, strict=True)) for row in table["rows"]]
    found = next((row for row in rows if row["id"] == rule), None)
    notes = " ".join(note for note in table.get("notes", []) if rule in note.split(":")[0].split(", "))
    told = f"fires with {found['cost_ns'] / 1000:g} us: {found}" if found else f"abstains: {notes}" if notes else "silent"
    problems = []
    for line in (case / "expect-rule").read_text().splitlines():
        word, _, rest = line.partition(" ")
        if word == "fires":
            good = found is not None and (not rest or abs(found["cost_ns"] / 1000 - float(rest.split()[0])) < 0.5)
        elif word == "silent":
            good = found is None and not notes
        elif word == "abstains":
            good = found is None and rest in notes and notes
        elif word in ("says", "not"):
            good = found is not None and (rest in json.dumps(found)) == (word == "says")
        else:
            good = False
        if not good:
            problems.append(f"expected: {line}; it {told}")
    return problems


def expectation(case):
    """The file that holds the expected output, or None."""
    found = sorted(case.glob("expect.*"))
    if len(found) > 1:
        raise ValueError("several expect.* files")
    return found[0] if found else None


def text_of(case, name):
    path = case / name
    return path.read_text().strip() if path.exists() else None


def difference(expected, got):
    lines = difflib.unified_diff(expected.decode("utf-8", "replace").splitlines(), got.decode("utf-8", "replace").splitlines(),
                                 "expected", "got", lineterm="", n=1)
    return "\n".join(list(lines)[:40])


def error_problems(case, done):
    said = done.stderr.decode("utf-8", "replace")
    wanted = text_of(case, "expect-error") or text_of(case, "expect-note")
    if wanted is None:
        return [f"said on standard error: {said.strip()[:2000]}"] if said else []
    problems = []
    if not said.startswith("gpu-profile: ") or said.count("\n") != 1 or not said.endswith("\n"):
        problems.append(f"not one line `gpu-profile: ...`: {said[:2000]!r}")
    if wanted not in said:
        problems.append(f"does not say {wanted!r}: {said.strip()}")
    return problems


def problems_of(case, program):
    done = run(case, program)
    problems = error_problems(case, done)
    code = int(text_of(case, "expect-code") or 0)
    if done.returncode != code:
        problems.append(f"exit status {done.returncode}, not {code}; {done.stderr.decode('utf-8', 'replace').strip()[:500]}")
    if (case / "expect-rule").exists():
        return problems or rule_problems(case, done.stdout)
    file, same = expectation(case), text_of(case, "expect-same")
    if same is not None:
        wanted = (ROOT / same).read_bytes()
    elif file is not None:
        wanted = file.read_bytes()
    elif text_of(case, "expect-error") is not None:
        wanted = b""
    else:
        return [*problems, "nothing is expected of it; run with --gold"]
    got = done.stdout if same is not None else normalised(done.stdout)
    return problems if got == wanted else [*problems, difference(wanted, got)]


def rewrite(case, program):
    done = run(case, program)
    if (case / "expect-error").exists() or (case / "expect-rule").exists():
        return
    if same := text_of(case, "expect-same"):
        (ROOT / same).write_bytes(done.stdout)
        return
    words = shlex.split((case / "cmd").read_text())
    form = words[words.index("--format") + 1] if "--format" in words else "text"
    file = expectation(case) or case / f"expect.{EXTENSIONS.get(form, 'txt')}"
    file.write_bytes(normalised(done.stdout))


def main():
    parser = argparse.ArgumentParser(description="Runs tests/cases.")
    parser.add_argument("--binary", default=os.environ.get("GPUPROF_BIN", ROOT / "build" / "release" / "gpu-profile"))
    parser.add_argument("--gold", action="store_true", help="rewrite what is expected")
    parser.add_argument("part", nargs="*", help="only cases whose path contains one of these")
    options = parser.parse_args()
    program = str(Path(options.binary).resolve())
    found = sorted({p.parent for name in ("cmd", "expect-rule") for p in CASES.rglob(name)})
    cases = [p for p in found if not options.part or any(part in str(p.relative_to(CASES)) for part in options.part)]

    seconds = {}

    def check(case):
        begun = time.monotonic()
        try:
            if options.gold:
                rewrite(case, program)
            return problems_of(case, program)
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return [f"{type(error).__name__}: {error}"]
        finally:
            seconds[case] = time.monotonic() - begun

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(zip(cases, pool.map(check, cases)))
    for case, problems in results:
        if problems:
            print(f"--- {case.relative_to(CASES)}: gpu-profile {shlex.join(command_of(case))}")
            print("\n".join(problems))
    failed = sum(bool(problems) for _, problems in results)
    print("slowest:", *(f"{seconds[case]:7.2f} s  {case.relative_to(CASES)}" for case in sorted(seconds, key=lambda case: -seconds[case])[:10]), sep="\n  ")
    print(f"{len(results) - failed} cases pass, {failed} fail")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
