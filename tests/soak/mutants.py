#!/usr/bin/env python3
"""Breaks every guard against hostile input, one at a time, and runs the test that must notice.

    tests/soak/mutants.py [--only TEXT] [--folder FOLDER] [--jobs N] [--again] [--list]

mutants.json, in this folder, lists the guards: a `text` that occurs once in a `file`, the `broken` text that takes its place, and the
`test` that must fail then. The sources are a clone of HEAD in FOLDER, which may be used again, or in a temporary folder; changes that are
not committed are not in it. First every test named must pass. Then each guard is broken and built, its test is run, and the guard is
mended. A guard whose test passes without it SURVIVED: the test proves nothing. Results: killed, killed by the time limit, SURVIVED,
does not apply, does not build. All but the first two are errors. Each result is written at once to FOLDER/build/mutants.jsonl, and a later run
at the same commit takes it from there, so that a run that was ended goes on; --again judges all. tests/python/project/test_mutants.py checks, on every run of
./test, that the list fits the sources.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = Path(__file__).with_suffix(".json")
PROGRAM = ("gpu-profile", "gpuprof", "gpuprof_inject", "gpuprof_os_calls", "gpuprof_cupti", "fakes")
MOST_SECONDS = 600  # for one test before anything is broken


def mutants(only=""):
    listed = json.loads(LIST.read_text())
    return [each for each in listed if only in each["guard"] or only in each["file"] or only in each["test"]]


def problem_of(mutant, root=ROOT):
    """Why a mutant does not fit the sources; None if it does."""
    path = root / mutant["file"]
    if not path.is_file():
        return f"there is no {mutant['file']}"
    count = path.read_text().count(mutant["text"])
    if count != 1:
        return f"its text occurs {count} times in {mutant['file']}"
    return "it changes nothing" if mutant["broken"] == mutant["text"] else None


class Results:
    """What was found at one commit: a line of JSON for each mutant, and for each test before anything is broken. What went wrong is tried again."""

    def __init__(self, path, commit, again=False):
        self.path, self.commit, self.found = path, commit, {}
        for line in path.read_text().splitlines() if path.exists() and not again else []:
            with contextlib.suppress(ValueError):  # a line that was cut
                entry = json.loads(line)
                if entry["commit"] == commit and (entry["result"] is True or str(entry["result"]).startswith("killed")):
                    self.found[json.dumps(entry["of"])] = entry["result"], entry["seconds"]

    def get(self, of, find):
        """The (result, seconds) of a test or a mutant; `find` makes them if there are none yet."""
        key = json.dumps(of)
        if key not in self.found:
            self.found[key] = result, seconds = find()
            with self.path.open("a") as file:
                file.write(json.dumps({"commit": self.commit, "of": of, "result": result, "seconds": round(seconds, 1)}) + "\n")
        return self.found[key]


class Copy:
    """A clone of HEAD with a build of its own."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs, self.build = folder, jobs, folder / "build/dev"
        if not (folder / ".git").exists():
            subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        subprocess.run(["git", "fetch", "--quiet", ROOT, "HEAD"], cwd=folder, check=True)
        subprocess.run(["git", "reset", "--quiet", "--hard", "FETCH_HEAD"], cwd=folder, check=True)
        self.commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        packages = folder / "web/node_modules"
        if not packages.exists() and (ROOT / "web/node_modules").is_dir():
            shutil.copytree(ROOT / "web/node_modules", packages, symlinks=True)
            (packages / ".package-lock.json").touch()  # newer than what it was made of, so that they are not fetched again
        self.python = folder / ".venv/bin/python"
        if not self.python.exists():
            self.make_environment()

    def make_environment(self):
        """A Python with the packages of this one, but with ours of the clone: that of an editable installation comes before any path."""
        venv.EnvBuilder(symlinks=True).create(self.python.parents[1])
        (place,) = self.python.parents[1].glob("lib/python*/site-packages")
        (place / "clone.pth").write_text("\n".join([str(self.folder / "python"), *site.getsitepackages()]))

    def make(self, targets):
        """Build the targets; what the compiler says if that fails."""
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "--preset", "dev"], cwd=self.folder, stdout=subprocess.DEVNULL, check=True)
        done = subprocess.run(["ninja", "-C", self.build, f"-j{self.jobs}", *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return None if done.returncode == 0 else done.stdout

    def command(self, test):
        """(words, folder) that run a test."""
        file, _, name = test.partition("::")
        if file.endswith("_test.cc"):
            return [self.build / "unit_tests", f"--gtest_filter={name}", "--gtest_break_on_failure"], self.folder
        if file.endswith(".test.ts"):
            return ["node", "test.mjs", Path(file).name.partition(".")[0]], self.folder / "web"
        return [self.python, "-m", "pytest", "-x", "-p", "no:cacheprovider", test], self.folder

    def run(self, test, limit=MOST_SECONDS):
        """(whether it passes, seconds); None instead when it does not end in time. A test that is not run, or skips, does not pass."""
        words, folder = self.command(test)
        environment = {**os.environ, "GPUPROF_BIN": str(self.build / "gpu-profile"), "GPUPROF_LIBRARY": str(self.build / "libgpuprof.so")}
        begun = time.monotonic()
        with subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True) as process:
            try:
                said, _ = process.communicate(timeout=limit)
            except subprocess.TimeoutExpired:
                return None, time.monotonic() - begun
            finally:  # a broken guard may leave programs that never end
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        ran = " passed" in said if "pytest" in words else "[  PASSED  ] 0 tests" not in said
        return process.returncode == 0 and ran, time.monotonic() - begun


def targets_of(mutant, test):
    """What must be built after a change of the file; nothing for Python and TypeScript, which are run as they are."""
    if mutant and not mutant["file"].endswith((".cc", ".h", ".def")):
        return ()
    return ("unit_tests",) if test.partition("::")[0].endswith("_test.cc") else PROGRAM


def judge(copy, mutant, usual=12):
    """(result, seconds of the test). Without a guard against endless work its test may not end: the limit follows from its usual seconds."""
    if problem_of(mutant, copy.folder):
        return "does not apply", 0.0
    path, test = copy.folder / mutant["file"], mutant["test"]
    whole = path.read_text()
    path.write_text(whole.replace(mutant["text"], mutant["broken"]))
    try:
        targets = targets_of(mutant, test)
        if targets and copy.make(targets):
            return "does not build", 0.0
        passed, seconds = copy.run(test, 30 + 10 * usual)
        return {None: "killed by the time limit", False: "killed", True: "SURVIVED"}[passed], seconds
    finally:
        path.write_text(whole)


def main():
    parser = argparse.ArgumentParser(description="Breaks guards, and runs the tests that must notice.")
    parser.add_argument("--only", default="", metavar="TEXT", help="mutants whose guard, file or test has this")
    parser.add_argument("--folder", type=Path, help="keep the clone and its build here, for the next run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="of the compiler")
    parser.add_argument("--again", action="store_true", help="judge also what was judged at this commit")
    parser.add_argument("--list", action="store_true", help="only print the list")
    options = parser.parse_args()
    chosen = mutants(options.only)
    if options.list:
        print("\n".join(f"{each['guard']:60} {each['file']:45} {each['test']}" for each in chosen))
        return 0
    temporary = None if options.folder else tempfile.TemporaryDirectory()
    copy = Copy((options.folder or Path(temporary.name) / "clone").resolve(), options.jobs)
    tests = sorted({each["test"] for each in chosen})
    if said := copy.make(sorted({target for test in tests for target in targets_of(None, test)})):
        sys.exit(f"the build fails before anything is broken:\n{said[-3000:]}")
    known = Results(copy.folder / "build/mutants.jsonl", copy.commit, options.again)
    before = {test: known.get(test, lambda test=test: copy.run(test)) for test in tests}
    if failed := [test for test, (passed, _) in before.items() if not passed]:
        sys.exit("these tests do not pass before anything is broken: " + ", ".join(failed))
    results = {}
    for each in chosen:
        result, seconds = known.get(each, lambda each=each: judge(copy, each, before[each["test"]][1]))
        results[result] = results.get(result, 0) + 1
        print(f"{result:24} {seconds:6.1f} s  {each['guard']} ({each['file']}): {each['test']}", flush=True)
    print(f"{len(chosen)} guards: " + ", ".join(f"{count} {result}" for result, count in sorted(results.items())))
    return any(not result.startswith("killed") for result in results)


if __name__ == "__main__":
    sys.exit(main())
