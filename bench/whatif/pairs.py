#!/usr/bin/env python3
"""Compares predictions of `whatif` with measurements: bench/whatif/pairs.py BINARY [FOLDER] [--write PAGE]

Without FOLDER: the recordings and step times of tests/fixtures/whatif_truth.json. FOLDER is what tests/gpu/pairs.sh wrote: for each pair
and recorder, the step is predicted from the recording before the change, and the truth is the median step of several processes after it,
without a profiler and under the same one. --write replaces the table between the markers of a page (docs/how-it-works/what-if.md).
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
BEGIN, END = "<!-- predictions and truth: bench/whatif/pairs.py --write -->\n", "<!-- end of predictions and truth -->"
TABLE = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
HEAD = ("question", "predicted (range)", "truth", "error", "independent")


def rows_of(binary, *arguments):
    """(rows as dictionaries, notes) of the only table of a report."""
    done = subprocess.run([binary, *map(str, arguments), "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [], f"status {done.returncode}: {done.stderr.strip()}"
    (table,) = json.loads(done.stdout)["tables"]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]], " ".join(table["notes"])


def predict(binary, recording, changes):
    """The row of all changes together, or of none; or why there is none."""
    rows, notes = rows_of(binary, "whatif", recording, *(word for change in changes for word in ("--change", change)))
    kind = {0: "baseline", 1: "single"}.get(len(changes), "together")
    return next((row for row in rows if row["kind"] == kind), None), notes


def recorded_step_ms(binary, recording):
    rows, notes = rows_of(binary, "whatif", recording)
    found = next((row["step_ns"] / 1e6 for row in rows if row["kind"] == "recorded"), None)
    if found is None:
        raise SystemExit(f"{recording}: {notes}")
    return found


def ms(value):
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 20 else f"{value:.1f}"


def percent(predicted, truth):
    return f"{100 * (predicted / truth - 1):+.1f} %"


def ranged(row):
    return f"{ms(row['step_ns'] / 1e6)} ms ({ms(row['low_ns'] / 1e6)} to {ms(row['high_ns'] / 1e6)})"


def fixture_row(binary, question):
    """A row of HEAD for one question of the truth file."""
    row, notes = predict(binary, FIXTURES / question["recording"], question["changes"])
    if row is None:
        return (question["question"], f"none: {notes}", "", "", question["independent"])
    if "truth_recording" in question:
        predicted, truth = row["profiled_step_ns"] / 1e6, recorded_step_ms(binary, FIXTURES / question["truth_recording"])
        name = Path(question["truth_recording"]).name.split(".")[0]
        return (question["question"], f"{ms(predicted)} ms", f"{ms(truth)} ms (`{name}`)", percent(predicted, truth), question["independent"])
    predicted, truth = row["step_ns"] / 1e6, question["step_ms"]
    told, error = f"{truth} ms", percent(predicted, truth)
    if "other_processes_ms" in question:
        low, high = question["other_processes_ms"]
        told += f"; {low} to {high} ms in other processes"
        error += f"; {percent(predicted, high)} to {percent(predicted, low)}"
    return (question["question"], ranged(row), told, error, question["independent"])


def markdown(head, rows):
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, *rows)).replace("\n", "\n|" + "---|" * len(head) + "\n", 1) + "\n"


def fixture_table(binary):
    questions = json.loads((FIXTURES / "whatif_truth.json").read_text())["questions"]
    return markdown(HEAD, [fixture_row(binary, question) for question in questions])


def kernel_ns(binary, recording, pattern):
    """The mean time of the kernels whose name matches."""
    kernels, notes = rows_of(binary, "report", recording, "kernels", "--limit", "0")
    found = [kernel for kernel in kernels if re.search(pattern, kernel["name"])]
    if not found:
        raise SystemExit(f"{recording}: no kernel matches '{pattern}' {notes}")
    return sum(kernel["total_ns"] for kernel in found) / sum(kernel["count"] for kernel in found)


def known_changes(binary, folder, pair, recorder):
    """The changes of a pair, with factors in place of "?": the ratio of mean kernel times after and before."""
    changes, measured = [], False
    for change in pair["changes"]:
        if change.endswith("=?"):
            pattern = change.removeprefix("kernel:").removesuffix("=?")
            before, after = (kernel_ns(binary, folder / pair[side][recorder]["recording"], pattern) for side in ("before", "after"))
            change, measured = f"{change[:-1]}{after / before:.4f}", True
        changes.append(change)
    return changes, "except the factor" if measured else "yes"


def pair_rows(binary, folder, pair, recorder):
    """(rows to print, [(error, whether the range holds the truth)] of the steps without a profiler)"""
    title = f"{pair['name']}, {recorder}"
    before, after = pair["before"][recorder], pair["after"]
    if not before["recording"]:
        return [(title, "no recording", "", "", "")], []
    if "=?" in "".join(pair["changes"]) and not after[recorder]["recording"]:
        return [(title, "no recording after the change", "", "", "")], []
    changes, independent = known_changes(binary, folder, pair, recorder)
    row, notes = predict(binary, folder / before["recording"], changes)
    if row is None:
        return [(title, f"none: {notes}", "", "", "")], []
    rows, judged = [], []
    for question, truth in ((f"{title}: without a profiler", after["none"]), (f"{title}: under it", after[recorder])):
        if "median_ms" not in truth:
            rows.append((question, "", "not measured", "", independent))
            continue
        alone = truth is after["none"]
        predicted = row["step_ns" if alone else "profiled_step_ns"] / 1e6
        told = f"{ms(truth['median_ms'])} ms ({ms(truth['low_ms'])} to {ms(truth['high_ms'])}, {truth['processes']} processes)"
        rows.append((question, ranged(row) if alone else f"{ms(predicted)} ms", told, percent(predicted, truth["median_ms"]), independent))
        if alone:
            judged.append((predicted / truth["median_ms"] - 1, row["low_ns"] <= truth["median_ms"] * 1e6 <= row["high_ns"]))
    return rows, judged


def folder_table(binary, folder):
    """The table of all pairs, and what they say together."""
    document = json.loads((folder / "pairs.json").read_text())
    rows, judged = [], []
    for pair in document["pairs"]:
        for recorder in (name for name in pair["before"] if name != "none"):
            more, errors = pair_rows(binary, folder, pair, recorder)
            rows += more
            judged += errors
    lines = [markdown(HEAD, rows)]
    lines += [f"{name}: skipped: {reason}" for name, reason in document["skipped"].items()]
    if judged:
        errors = [100 * abs(error) for error, _ in judged]
        lines.append(f"{len(judged)} predictions without a profiler: median error {statistics.median(errors):.1f} %, largest {max(errors):.1f} %; "
                     f"{sum(held for _, held in judged)} ranges hold the truth")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--write", type=Path, metavar="PAGE")
    given = parser.parse_args()
    if given.folder:
        print(folder_table(given.binary, given.folder))
        return 0
    table = fixture_table(given.binary)
    if not given.write:
        print(table, end="")
        return 0
    page = given.write.read_text()
    if not TABLE.search(page):
        print(f"{given.write}: no line '{BEGIN.strip()}'", file=sys.stderr)
        return 2
    given.write.write_text(TABLE.sub(lambda _: BEGIN + table + END, page))
    return 0


if __name__ == "__main__":
    sys.exit(main())
