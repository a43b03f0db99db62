"""One part: runs its checks one after another, each in its own process, within the part's time limit.

The folder of a part has journal.jsonl (each check that began and its result, one line each, flushed to disk at once), a folder per
check, report.md and results.json. The archive and the report are rewritten after every check, so a part that is killed keeps all
results. A rerun continues with checks that have no verdict; a check that began twice without an end fails.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import archive, processes, report
from .check import read_json, write_json

RESERVE_S = 10  # for the last archive
LEAST_S = 15  # a check is not begun with less, unless it needs less
OK, FAILED, SKIPPED, UNREACHED = "ok", "FAILED", "skipped", "not reached"


class Journal:
    def __init__(self, path):
        self.path, self.verdicts, self.partly, self.begun = Path(path), {}, {}, {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                self._take(line)

    def _take(self, line):
        try:
            entry = json.loads(line)
        except ValueError:
            return  # the line that was being written when the part was killed
        if "begun" in entry:
            self.begun[entry["begun"]] = self.begun.get(entry["begun"], 0) + 1
        elif entry.get("verdict") == UNREACHED and not entry.get("final"):  # it ended well, and goes on in another run
            self.partly[entry["name"]] = entry
            self.begun.pop(entry["name"], None)
        elif "name" in entry:
            self.verdicts[entry["name"]] = entry

    def write(self, entry):
        line = json.dumps(entry, default=str)
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._take(line)

    def forget(self, names):
        """These are made again."""
        kept = [line for line in self.path.read_text(encoding="utf-8").splitlines()
                if not any(f'"{key}": "{name}"' in line for key in ("begun", "name") for name in names)]
        self.path.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
        self.__init__(self.path)


class Part:
    """Runs the checks of a part in `work`, and leaves archive and report in `out`."""

    def __init__(self, name, checks, machine, work, out, limit_s, size_limit, command, say=print):
        self.name, self.checks, self.machine, self.command, self.say = name, checks, machine, command, say
        self.folder, self.out = Path(work) / name, Path(out)
        self.deadline = time.monotonic() + limit_s
        self.path = self.out / f"{name}.tar.gz"
        self.out.mkdir(parents=True, exist_ok=True)
        if not (self.folder / "journal.jsonl").exists() and self.path.exists():
            archive.unpack(self.path, self.folder.parent)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(self.folder / "journal.jsonl")
        self.archive = archive.Archive(self.folder, self.path, size_limit)

    def run(self, again=()):
        if again:
            self.journal.forget(again)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # results so far are already on disk
        pending = [check for check in self.checks if check.name not in self.journal.verdicts]
        pending.sort(key=lambda check: self.journal.begun.get(check.name, 0))
        self.write()
        for check in pending:
            left = self.deadline - time.monotonic() - RESERVE_S
            if left < min(check.limit_s, LEAST_S):
                continue
            verdict = self._verdict_of(check, min(check.limit_s, left))
            self.journal.write(verdict)
            self.say(report.line(verdict))
            self.write()
        return self.results()

    def _verdict_of(self, check, limit_s):
        """The entry of the journal."""
        begun = time.monotonic()
        entry = {"name": check.name, "part": check.part, "expects": check.expects}
        missing = self.machine.missing(check.needs)
        if missing:
            return {**entry, "verdict": SKIPPED, "reason": missing, "measured": [], "figures": {}, "evidence": [], "seconds": 0}
        tries = self.journal.begun.get(check.name, 0)
        if tries >= 2:
            return self._ended(entry, FAILED, "was begun twice and interrupted each time", 0)
        self.journal.write({"begun": check.name})
        folder = self.folder / check.name
        folder.mkdir(exist_ok=True)
        (folder / "verdict.json").unlink(missing_ok=True)
        status = self._run_alone(check, folder, limit_s)
        seconds = round(time.monotonic() - begun, 1)
        told = read_json(folder / "verdict.json")
        if told:
            return {**self._ended(entry, told["verdict"], told["reason"], seconds), "final": told.get("final", False)}
        if status is not None:
            return self._ended(entry, FAILED, f"the check itself ended with {status}; see {check.name}/error.txt", seconds)
        if limit_s < check.limit_s:
            return self._ended(entry, UNREACHED, "the part's time was over before the check's own; run the part again to go on", seconds)
        return self._ended(entry, FAILED, f"did not end in {limit_s:.0f} s", seconds)

    def _ended(self, entry, verdict, reason, seconds):
        said = read_json(self.folder / entry["name"] / "said.json", {})
        evidence = [f"{entry['name']}/{name}" for name in said.get("evidence", [])]
        return {**entry, "verdict": verdict, "reason": reason, "measured": said.get("measured", []), "figures": said.get("figures", {}),
                "evidence": evidence, "seconds": seconds}

    def _run_alone(self, check, folder, limit_s):
        """The exit status of the check's process; None when its time was over."""
        command = [*self.command, "--check", check.name, "--folder", str(folder), "--limit", str(limit_s)]
        with open(folder / "error.txt", "ab") as errors:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, start_new_session=True)
            try:
                return process.wait(limit_s + 1)
            except subprocess.TimeoutExpired:
                return None
            finally:
                processes.end(process.pid, gone=process.poll() is not None)
                process.wait()

    def results(self):
        """One row per check, in the order of the part, with those that were not reached."""
        rows = []
        for check in self.checks:
            unreached = {"name": check.name, "part": check.part, "expects": check.expects, "verdict": UNREACHED, "measured": [], "figures": {},
                         "reason": "no time was left in this run; run the part again to go on", "evidence": [], "seconds": 0}
            rows.append(self.journal.verdicts.get(check.name) or self.journal.partly.get(check.name, unreached))
        return rows

    def next(self):
        """Where another call goes on, or None: nothing is left."""
        left = [check for check in self.checks if check.name not in self.journal.verdicts]
        most = sum(check.limit_s for check in left)
        return f"the same call again goes on with {left[0].name}: {len(left)} checks, at most {most:.0f} s" if left else None

    def write(self):
        """Results, report and archive as they are now."""
        rows = self.results()
        facts = self.machine.facts()
        write_json(self.folder / "machine.json", facts)

        def note(trimmed):
            write_json(self.folder / "results.json", {"part": self.name, "machine": facts, "trimmed": trimmed, "checks": rows})
            (self.folder / "report.md").write_text(report.page(self.name, facts, rows, trimmed, self.next()), encoding="utf-8")

        self.archive.write(note)
        shutil.copyfile(self.folder / "report.md", self.out / f"{self.name}.md")
