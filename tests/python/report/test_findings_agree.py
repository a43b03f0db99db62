"""Findings of all recordings: the number in a title is that of the finding, and no remedy asks for what the recording shows is there."""

import functools
import re

import pytest
from conftest import FIXTURES, unpacked

ROOT = FIXTURES.parents[1]
ENDINGS = (".json.gz", ".json.zst", ".json", ".sqlite.gz", ".sqlite.zst", ".pb.gz", ".gpuprof")
RECORDINGS = sorted(path for folder in (FIXTURES, ROOT / "examples") for path in folder.rglob("*") if path.name.endswith(ENDINGS))
RECORDINGS += unpacked(FIXTURES / "public/dlrm.tar.xz")
PERCENT = re.compile(r"(<?)([\d,]+(?:\.\d+)?) % of (a step|the time|its time)")
HALF = re.compile(r"bf16|f16|fp16|half|__nv_bfloat|BFloat16|_h_bz|e4m3", re.IGNORECASE)
PRODUCTS = re.compile(r"gemm|cutlass|nvjet|Cijk_", re.IGNORECASE)
CONVERTS = re.compile(r"nchwToNhwc|nhwcToNchw")
# Rules that speak of single kernels and their own limits (those of counters) say percentages of other things.
OF_KERNELS = {"measured-kernels"}


@functools.lru_cache(maxsize=None)
def answers(program, recording):
    """(findings, kernels), or None for files without a timeline of device work."""
    if program.run("report", recording, "findings", "kernels").status != 0:
        return None
    tables = program.report(recording, "findings", "kernels")
    return tables["findings"].rows, tables["kernels"].rows


def time_of(kernels, matches):
    return sum(row["total_ns"] for row in kernels if matches(row["name"] or ""))


def in_use(kernels):
    """Words of remedies that these kernels make pointless."""
    every = time_of(kernels, lambda name: True)
    found = {}
    if any("multi_tensor_apply" in row["name"] for row in kernels if row["name"]):
        found["foreach"] = "multi_tensor_apply ran"
    if every and time_of(kernels, lambda name: name.startswith("triton_")) > 0.25 * every:
        found["torch.compile"] = "Inductor's kernels take a quarter of the time"
    products = time_of(kernels, PRODUCTS.search)
    if products and time_of(kernels, lambda name: PRODUCTS.search(name) and HALF.search(name)) > 0.6 * products:
        found["use bf16"] = "products are in 16 bits"
    convolutions = time_of(kernels, lambda name: "fprop" in name or "dgrad" in name or "wgrad" in name)
    nhwc = time_of(kernels, lambda name: "nhwc" in name and not CONVERTS.search(name))
    if convolutions and nhwc > 0.9 * convolutions and not time_of(kernels, CONVERTS.search):
        found["channels_last"] = "convolutions read NHWC"
    return found


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_findings_agree_with_themselves_and_with_the_recording(program, recording):
    found = answers(program, recording)
    if found is None:
        return
    findings, kernels = found
    pointless = in_use(kernels)
    for row in findings:
        if row["id"] in OF_KERNELS or re.match(r"k-\d+ ", row["title"]):
            continue
        told = PERCENT.search(row["title"])
        if told:
            number = float(told[2].replace(",", ""))
            assert abs(number - row["share_pct"]) < 0.051 or (told[1] and row["share_pct"] < number), row
        else:
            assert row["share_pct"] < 3, f"a title without its number: {row}"
        for word, because in pointless.items():
            advice = row["remedy"].split(" Where: ")[0]  # a place may be an operator of that name
            assert word not in advice, f"{because}: {advice}"


# These speak of the recorder, the device, a library's choice, or the loader.
WITHOUT_PLACE = {"input-pipeline", "profiler-cost", "throttling", "library-logs", "measured-kernels"}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.name)
def test_a_finding_names_the_place_if_the_recording_has_one(program, recording):
    found = answers(program, recording)
    if not found or not found[1] or program.run("report", recording, "ops").status != 0:
        return
    operators = program.report(recording, "ops")["ops"].rows
    if sum(row["device_self_ns"] or 0 for row in operators) < 0.9 * time_of(found[1], lambda name: True):
        return  # not all kernels have an operator
    for row in found[0]:
        assert row["id"] in WITHOUT_PLACE or " Where: " in row["remedy"], row


def test_there_are_findings_to_judge(program):
    judged = [answers(program, recording) for recording in RECORDINGS]
    assert sum(len(found[0]) for found in judged if found) >= 80
