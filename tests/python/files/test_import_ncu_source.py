"""Nsight Compute's page of instructions against Python's csv module: samples by instruction and reason, in the views that it prints."""

import csv
import io
import random
from collections import Counter

from conftest import FIXTURES
from exported import tables_of

REASONS = {"stall_barrier": "barrier", "stall_long_sb": "long_scoreboard", "stall_short_sb": "short_scoreboard", "stall_wait": "wait", "stall_selected": "selected", "stall_sleep": "sleeping"}
NOT_ISSUED = {f"{'stall_sleeping' if name == 'stall_sleep' else name} (Not Issued)": f"{reason}_not_issued" for name, reason in REASONS.items() if name != "stall_selected"}
EXECUTED = "Instructions Executed"
CODE = ["LDG.E R4, [R2.64]", "FFMA R7, R4, c[0x0][0x160], R5", "BAR.SYNC.DEFER_BLOCKING 0x0", "STG.E [R2.64], R7", "EXIT"]
KERNELS = ["axpy(float, float *)", 'reduce<(int)256>("x, y")', "axpy(float, float *)"]


def page(seed, trailing):
    """A page of three launches of two kernels; the addresses of each begin anywhere."""
    chance = random.Random(seed)
    columns = ["Address", "Source", "Warp Stall Sampling (All Samples)", "# Samples", EXECUTED, "Avg. Threads Executed", "Access Operation", *REASONS, *NOT_ISSUED, EXECUTED]
    text = io.StringIO()
    text.write("==PROF== Connected to process 7\n")
    for place, kernel in enumerate(KERNELS):
        quoted = kernel.replace('"', '""')
        text.write(f'"Kernel Name","{quoted}"{trailing}\n')
        writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
        writer.writerow(columns)
        for at, source in enumerate(CODE):
            stalls = {name: chance.randrange(2000) for name in REASONS}
            silent = {name: chance.randrange(3) for name in NOT_ISSUED}
            executed = chance.randrange(1 << 22)
            row = {"Address": f"0x7f12a{place}0000{at:02x}0", "Source": source, EXECUTED: f"{executed:,}", "Access Operation": "-", "Avg. Threads Executed": "31.5",
                   "Warp Stall Sampling (All Samples)": sum(stalls.values()), "# Samples": f"{sum(stalls.values()):,}", **stalls, **silent}
            writer.writerow([row[column] for column in columns])
        text.write("\n")
    return text.getvalue()


def wanted(text):
    """(kernel, offset, instruction, metric, value) by csv."""
    found, kernel, columns, first = Counter(), None, None, None
    for row in csv.reader(io.StringIO(text)):
        if row and row[0] == "Kernel Name":
            kernel, columns, first = row[1], None, None
        elif kernel and row and columns is None:
            columns = row
        elif kernel and row:
            cells = dict(reversed(list(zip(columns, row, strict=True))))
            first = int(cells["Address"], 16) if first is None else first
            for column, metric in [*((c, f"samples.{r}") for c, r in {**REASONS, **NOT_ISSUED}.items()), (EXECUTED, "smsp__sass_inst_executed")]:
                found[kernel, int(cells["Address"], 16) - first, cells["Source"], metric, float(cells[column].replace(",", ""))] += 1
    return found


def test_every_count_of_every_instruction(program, tmp_path):
    for seed, trailing in ((1, ""), (2, ",")):
        text = page(seed, trailing)
        (tmp_path / "page.csv").write_text(text)
        rows = tables_of(program, tmp_path / "page.csv")["instruction_counter"]
        assert Counter((row["function"], int(row["offset"]), row["text"], row["metric"], float(row["value"])) for row in rows) == wanted(text)


def test_answers(program, tmp_path):
    """One row for each instruction, launches of a kernel added up; the reasons of a row are its samples."""
    text = page(3, ",")
    (tmp_path / "page.csv").write_text(text)
    samples, reasons = Counter(), Counter()
    for (kernel, _offset, source, metric, value), times in wanted(text).items():
        if metric.startswith("samples.") and not metric.endswith("_not_issued"):
            samples[kernel, source] += value * times
            reasons[kernel, source, metric.removeprefix("samples.")] += value * times
    found = program.report(tmp_path / "page.csv", "source", "line_stalls")
    assert {(row["name"], row["text"]): row["samples"] for row in found["source"].rows} == samples
    assert {(row["name"], row["text"], row["reason"]): row["samples"] for row in found["line_stalls"].rows} == reasons
    hottest = max(samples, key=samples.get)
    assert (found["source"].rows[0]["name"], found["source"].rows[0]["text"]) == hottest


def test_source_lines_and_their_instructions(program, tmp_path):
    """In the mixed view a source line repeats the sums of its instructions: only these count."""
    (tmp_path / "mixed.csv").write_text(
        '"Kernel Name","k",\n"#","Address","Source","# Samples","stall_wait","stall_selected"\n'
        '"12","-","x = y;","7","5","2"\n"-","0x100","MOV R0, R1","3","2","1"\n"-","0x110","MOV R2, R3","4","3","1"\n'
        '"13","-","return;","1","0","1"\n"-","0x120","EXIT","1","0","1"\n')
    rows = program.report(tmp_path / "mixed.csv", "source")["source"].rows
    assert {(row["line"], row["samples"], row["instructions"]) for row in rows} == {(12, 7, 2), (13, 1, 1)}


def test_with_the_raw_page(program, tmp_path):
    """Both pages of one report: samples belong to the kernels of the raw page by their names."""
    raw = FIXTURES / "ncu/kernels.raw.csv.gz"
    kernel = tables_of(program, raw)["profiled_kernel"][0]["name"]
    (tmp_path / "page.csv").write_text(page(4, ",").replace("axpy(float, float *)", kernel))
    tables = tables_of(program, raw)
    found = program.report(raw, tmp_path / "page.csv", "source")["source"].rows
    assert kernel in {row["name"] for row in found}
    assert len(program.report(raw, tmp_path / "page.csv", "counters")["counters"].rows) == len(tables["profiled_kernel"])
