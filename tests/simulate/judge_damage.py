#!/usr/bin/env python3
"""Damages recordings of simulated programs, and judges what the product still says of them.

    tests/simulate/judge_damage.py BINARY [--programs 500] [--seed 1] [--kind KIND]... [--only NUMBER] [--show]

Each program is drawn with random numbers of the seed: a family, its sizes, a format (torch.profiler or Nsight Systems), and one kind of damage
(damage.py), another process on the GPU, or a program that waits or whose ranges mislead (waiting_programs.py). The answers with and without
the damage are compared with the truth and with each other:

    right              names the largest share, or says that it cannot tell where too much is missing
    acceptable         near the largest share, or of low confidence
    abstains           cannot tell, although enough is left
    confidently wrong  anything else; a gain claimed 25 points too high; a busy time that could have been restored and was not
    unsaid             no loss names the damage
    false alarm        a check complains about what is possible, in this recording or in the undamaged one

Ends with status 1 if a program is in one of the last three columns.
"""

import argparse
import collections
import concurrent.futures
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from damage import ALARMS  # noqa: E402
from damaged_programs import ALL_KINDS, OTHER_PROCESS, draw  # noqa: E402
from judge import CONFIDENT_PCT, FINDINGS, claims  # noqa: E402

OUTCOMES = ("right", "acceptable", "abstains", "confidently wrong", "unsaid", "false alarm")
FAILURES = OUTCOMES[3:]
TOO_MUCH = 0.25  # of a step: so much more than the true gain is claimed wrongly
SAME_TIME = 0.05  # relative error of a restored time
WORTH_SAYING = 0.02  # of the time of all devices


@dataclass
class Answer:
    document: dict = None
    said: set = field(default_factory=set)  # kinds of losses, and idle time in which work was submitted
    violated: set = field(default_factory=set)  # checks of `report FILE validity`
    failed: bool = False  # by --fail-on validity
    devices: list = field(default_factory=list)  # rows
    error: str = ""

    @property
    def verdict(self):
        return self.document["verdict"]

    @property
    def name(self):
        return self.verdict["name"]

    @property
    def sure(self):
        return self.verdict["confidence"] != "low" and (self.verdict.get("share_pct") or 0) >= CONFIDENT_PCT

    def unchecked(self):
        """Whether it says that what is missing is unknown, which is as good as a loss where no other record proves one."""
        return any(line["text"].startswith("completeness unknown") for line in self.document["trust"])

    def told(self):
        share = self.verdict.get("share_pct")
        return f"{self.name}" + (f" {share:.1f} %, {self.verdict['confidence']}" if share is not None else "")


def run_json(*argv, statuses=(0,)):
    done = subprocess.run([*argv, "--format", "json"], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode not in statuses:
        raise RuntimeError(f"status {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout), done.returncode


def table(document, name):
    for each in document["tables"]:
        if each["name"] == name:
            columns = [column["name"] for column in each["columns"]]
            return [dict(zip(columns, row)) for row in each["rows"]]
    return []


def ask(binary, path):
    try:
        answer = Answer(run_json(binary, "report", str(path))[0])
        wanted = ("losses", "idle", "validity", "--limit", "0", "--fail-on", "validity")
        tables, status = run_json(binary, "report", str(path), *wanted, statuses=(0, 1))
    except RuntimeError as error:  # such as "no device work": nothing is concluded
        return Answer(error=str(error))
    answer.devices = table(answer.document, "devices")
    answer.said = {row["kind"] for row in table(tables, "losses")}
    unrecorded = sum(row["total_ns"] for row in table(tables, "idle") if row["cause"] == "unrecorded work")
    if unrecorded > WORTH_SAYING * sum(row["window_ns"] for row in answer.devices):
        answer.said.add("unrecorded_work")
    answer.violated = {row["check"] for row in table(tables, "validity") if row["result"] == "violated"}
    answer.failed = status == 1
    return answer


def wrong_times(answer, clean):
    """Times and counts that differ from those of the undamaged recording."""
    before = {row["device"]: row for row in clean.devices}
    for row in answer.devices:
        for column, least in (("busy_ns", 100_000), ("window_ns", 100_000), ("kernels", 1), ("memcpys", 1)):
            known = before.get(row["device"], {}).get(column, 0)
            if abs(row[column] - known) > max(SAME_TIME * known, least):
                yield f"{column} {row[column]:,} instead of {known:,}"


def gains(answer, predictions):
    """(name, part of a step, ns of that step) claimed with confidence, in findings and, if wanted, in the list of predictions."""
    for finding in answer.document["findings"]:
        predicted = finding.get("predicted")
        rough = finding["confidence"] == "low" or (predicted and predicted["confidence"] == "rough")
        if finding["id"] in FINDINGS and not rough and finding.get("share_pct") is not None:
            yield finding["id"], finding["share_pct"] / 100, predicted["step_before_ns"] if predicted else None
    for predicted in answer.document.get("predictions", []) if predictions else []:
        if predicted["confidence"] != "rough":
            yield predicted["change"], predicted["gain_pct"] / 100, predicted["step_before_ns"]


def wrong_gains(program, answer, clean):
    """Gains far above the true one. Where that of a change is not simulated, the bound is the largest true gain, or the claim for the undamaged recording."""
    true = {name: gain for name, _, gain in claims(answer.document, program.truth, "")}
    largest = max((won for _, won in program.truth.gains.values()), default=0)
    damaged = bool(program.damaged.says)
    before = {name: gain for name, gain, _ in gains(clean, True)} if damaged and program.kind != OTHER_PROCESS and not clean.error else {}
    for name, gain, step_ns in gains(answer, damaged or program.unit_ns):
        if program.unit_ns and step_ns and step_ns < 3 * program.unit_ns:
            continue  # a gain of what is done between two waits
        most = max(true.get(name, largest), before.get(name, 0))
        if gain > most + TOO_MUCH:
            yield f"gain of {name}: {100 * gain:.0f} %, true {100 * most:.0f} %"


def conclusion(program, answer, clean):
    """One of the first four outcomes, and why."""
    truth, enough = program.truth, not program.damaged.unknowable
    if answer.error:
        return "abstains" if enough else "right", answer.error
    abstains = answer.name == "cannot tell" or answer.verdict["confidence"] is None
    wrong = list(wrong_gains(program, answer, clean))
    if program.damaged.keeps_times and not abstains and not clean.error:
        wrong += wrong_times(answer, clean)
    if wrong:
        return "confidently wrong", "; ".join(wrong)
    waits = bool(truth.only) or truth.best() == OTHER_PROCESS
    if abstains:
        return "abstains" if enough and not waits else "right", ""
    if answer.name in (truth.only or {truth.best()}):
        return "right", ""
    acceptable = set(program.unit_limits) if truth.only else truth.acceptable()
    if answer.name in acceptable or not answer.sure:
        return "acceptable", ""
    order = sorted(truth.shares.items(), key=lambda each: -each[1])[:3]
    return "confidently wrong", "true: " + (", ".join(f"{label} {100 * share:.0f} %" for label, share in order) or "no bottleneck")


def judged(program, answer, clean):
    """All outcomes of a program, with reasons."""
    kind, why = conclusion(program, answer, clean)
    found, damaged = {kind: why}, program.damaged
    if not answer.error:
        for says in (damaged.says, damaged.says_too):
            if says and not says & answer.said and not answer.unchecked():
                found["unsaid"] = f"one of {', '.join(sorted(says))}; said: {', '.join(sorted(answer.said)) or 'nothing'}"
        if damaged.says and not damaged.may_say and not answer.violated and not answer.unchecked():
            found["unsaid"] = "no check is violated"
        if bool(answer.violated) != answer.failed:
            found["unsaid"] = f"--fail-on validity ends with status {int(answer.failed)}"
    alarms = clean.said & ALARMS | clean.violated
    if not damaged.says:
        alarms |= answer.said & ALARMS - damaged.may_say | (set() if damaged.may_say else answer.violated)
    if alarms:
        found["false alarm"] = ", ".join(sorted(alarms))
    return found


def one(binary, seed, number, kinds, folder=None):
    """(program's kind, outcomes, a line about it)"""
    program = draw(seed, number, kinds)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(folder or temporary)
        answers = [ask(binary, program.write(place, f"{number}-{name}", recording))
                   for name, recording in (("damaged", program.damaged.recording), ("clean", program.clean))]
    found = judged(program, *answers)
    told = [each.error or each.told() for each in answers]
    note = f"waits in {program.waits_in()}" if program.unit_ns else program.damaged.note
    line = f"{number} {program.kind} ({program.family}, {'Nsight Systems' if program.nsys else 'torch.profiler'}; {note}): {told[0]}; undamaged: {told[1]}"
    return program.kind, found, line


def main():
    parser = argparse.ArgumentParser(description="Judges answers for damaged recordings of simulated programs.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--kind", action="append", choices=ALL_KINDS)
    parser.add_argument("--only", type=int, help="the program of this number alone; with the same --kind")
    parser.add_argument("--keep", type=Path, help="keep the recordings in this folder")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true", help="print each program, not only failures")
    parser.add_argument("--md", action="store_true", help="print the table as Markdown, for docs/how-it-works/verdicts.md")
    options = parser.parse_args()
    kinds = tuple(options.kind or ALL_KINDS)
    numbers = range(options.programs) if options.only is None else [options.only]
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    counts, failed = collections.defaultdict(collections.Counter), 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        each = [pool.submit(one, str(options.binary.resolve()), options.seed, number, kinds, options.keep) for number in numbers]
        for kind, found, line in (future.result() for future in each):
            counts[kind]["programs"] += 1
            counts[kind].update(found.keys())
            failures = [f"{outcome}: {found[outcome]}" for outcome in FAILURES if outcome in found]
            failed += bool(failures)
            if failures or options.show:
                print(line + "".join(f"\n    {text}" for text in failures or [next(iter(found))]))
    print_table(counts, options.md)
    return 1 if failed else 0


def print_table(counts, markdown):
    total = sum(counts.values(), collections.Counter())
    rows = [("kind", "programs", *OUTCOMES)]
    for name, row in [*((kind, counts[kind]) for kind in ALL_KINDS if kind in counts), ("all", total)]:
        rows.append((name, row["programs"], *(row[outcome] for outcome in OUTCOMES)))
    if markdown:
        rows.insert(1, ("---", *("---:" for _ in rows[0][1:])))
    for name, programs, *cells in rows:
        if markdown:
            print(f"| {' | '.join(map(str, (name, programs, *cells)))} |")
        else:
            print(f"{name:28}{programs:>9}" + "".join(f"{cell:>19}" for cell in cells))


if __name__ == "__main__":
    sys.exit(main())
