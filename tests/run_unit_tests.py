#!/usr/bin/env python3
"""Runs the unit tests in one process per core, and lists the slowest.

  run_unit_tests.py BINARY [GOOGLETEST-FILTER]

With one process per test, starting would take most of the time, especially with sanitizers. Each process therefore runs a shard of
the tests (GoogleTest's sharding). The output of a failing test is printed. If a process dies without a result, the test that it
was running is named. A process is ended when it has computed or written nothing for ten minutes, or has used half an hour of CPU time; on a
busy machine it may take as long as it needs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

IDLE_SECONDS = 600
CPU_SECONDS = 1800


def run(command, environment, log, idle_seconds=IDLE_SECONDS):
    """The exit status, or why the process was ended."""
    with subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT) as process:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        before, since = None, time.monotonic()
        while True:
            try:
                return process.wait(timeout=min(5, idle_seconds / 4))
            except subprocess.TimeoutExpired:
                now = done_by(process.pid), os.fstat(log.fileno()).st_size
            if now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > idle_seconds:
                process.kill()
                return f"no progress for {idle_seconds:g} s"


def done_by(pid):
    """The CPU time of a process and of its children that have ended."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]


def run_share(binary, selection, index, count, folder):
    """(results by test name, what went wrong with the process)."""
    report = Path(folder) / f"{index}.json"
    environment = dict(os.environ, GTEST_TOTAL_SHARDS=str(count), GTEST_SHARD_INDEX=str(index))
    command = [binary, f"--gtest_output=json:{report}", "--gtest_brief=0", *([f"--gtest_filter={selection}"] if selection else [])]
    with open(Path(folder) / f"{index}.log", "w+", encoding="utf-8", errors="replace") as log:
        status = run(command, environment, log)
        log.seek(0)
        lines = log.read().splitlines()
    if not report.exists():
        begun = [line for line in lines if line.startswith("[ RUN ")]
        return {}, "\n".join([f"{begun[-1] if begun else 'before the first test'}: ended with {status}", *lines[-60:]])
    suites = json.loads(report.read_text())["testsuites"]
    results = {f"{suite['name']}.{test['name']}": test for suite in suites for test in suite["testsuite"] if test["result"] != "SUPPRESSED"}
    failed = any("failures" in test for test in results.values())
    return results, None if status == 0 or failed else "\n".join([f"all tests passed, yet the process ended with {status}", *lines[-60:]])


def seconds(test):
    return float(test["time"].rstrip("s"))


def main():
    binary, selection = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else None
    count = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(count) as pool:
        shares = list(pool.map(lambda index: run_share(binary, selection, index, count, folder), range(count)))
    results = {name: test for share, _ in shares for name, test in share.items()}
    died = [problem for _, problem in shares if problem]
    failed = {name: test for name, test in results.items() if "failures" in test}
    skipped = {name: test for name, test in results.items() if test["result"] == "SKIPPED"}
    for name, test in failed.items():
        print(f"FAILED {name}\n" + "\n".join(failure["failure"] for failure in test["failures"]))
    for name, test in skipped.items():
        print(f"skipped {name}: {' '.join(str(reason.get('message', '')) for reason in test.get('skipped', [{}])).strip()}")
    print("\n".join(died))
    print("slowest:")
    for name in sorted(results, key=lambda name: -seconds(results[name]))[:10]:
        print(f"  {seconds(results[name]):7.2f} s  {name}")
    print(f"{len(results) - len(failed) - len(skipped)} unit tests passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or died or not results else 0


if __name__ == "__main__":
    sys.exit(main())
