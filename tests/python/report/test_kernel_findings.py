"""The table of docs/how-it-works/kernel-findings.md: for each recorded launch, our finding beside Nsight Compute's rules."""

import csv
import gzip
import io
import json
import subprocess

from conftest import FIXTURES, TESTS

PAGE = TESTS.parent / "docs/how-it-works/kernel-findings.md"
RECORDINGS = ("kernels", "memory_bound", "transformer", "triton")


def vendor_rules(name):
    """By launch: the rules with an estimated gain for the whole kernel, the largest first, and what the first rule says."""
    rules = {}
    packed = next((FIXTURES / "ncu").glob(f"{name}.details.csv.*"))
    plain = subprocess.run(["zstd", "-dcq", packed], stdout=subprocess.PIPE, check=True).stdout if packed.suffix == ".zst" else gzip.open(packed).read()
    text = plain.decode()
    for row in csv.DictReader(io.StringIO(text[text.index('"ID"') :])):
        if row["Rule Name"]:
            rules.setdefault(int(row["ID"]), []).append(row)
    found = {}
    for launch, rows in rules.items():
        gains = sorted(((float(row["Estimated Speedup"]), row["Rule Name"]) for row in rows if row["Estimated Speedup Type"] == "global"), reverse=True)
        bottleneck = next((row["Rule Description"].split(":")[0] for row in rows if row["Rule Name"] == "SOLBottleneck"), "")
        found[launch] = ", ".join(f"{rule} {gain:.0f} %" for gain, rule in gains[:2]), said(bottleneck)
    return found


def said(bottleneck):
    for words, short in (("Memory is more heavily", "memory"), ("Compute is more heavily", "compute"), ("low compute throughput and memory", "latency"),
                         ("greater than 80.0%", "near a peak"), ("balanced", "balanced"), ("grid is too small", "small grid")):
        if words in bottleneck:
            return short
    return bottleneck


def lines(program):
    for name in RECORDINGS:
        vendor = vendor_rules(name)
        for launch, (rules, bottleneck) in vendor.items():
            out = subprocess.run([program.path, "report", FIXTURES / f"ncu/{name}.raw.csv.gz", "kernel", "--launch", str(launch), "--format", "json"],
                                 capture_output=True, text=True, check=True)
            document = json.loads(out.stdout)
            first = document["findings"][0]
            gain = f" {first['share_pct']:.0f} %" if first["share_pct"] > 0 else ""
            yield f"| {name} {launch} | {document['verdict']['name']} | {first['id']}{gain} | {bottleneck} | {rules} |"


def test_the_page_has_todays_findings(program):
    """To write it anew: the missing lines are in the failure."""
    page = PAGE.read_text().splitlines()
    missing = [line for line in lines(program) if line not in page]
    assert not missing, "\n" + "\n".join(missing)
