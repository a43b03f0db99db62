"""`compare` on real recordings and on made ones: the verdict, what it adds up to, what it warns about, and its exit status."""

import json
import random

import pytest

from conftest import FIXTURES

TRANSFORMER = str(FIXTURES / "kineto/transformer.json.zst")
CONTROL = str(FIXTURES / "public/nccl_parser_config__nccl_data.json.zst")
REAL = [TRANSFORMER, CONTROL, *(str(FIXTURES / "kineto" / name) for name in ("small_kernels.json.zst", "overlap.json.gz"))]


def compare(program, *arguments):
    outcome = program.run("compare", *arguments, "--format", "json", "--limit", "0")
    assert outcome.status == 0, outcome.errors
    return json.loads(outcome.stdout)


def rows(document, name):
    table = next(table for table in document["tables"] if table["name"] == name)
    columns = [column["name"] for column in table["columns"]]
    return [dict(zip(columns, row)) for row in table["rows"]]


def recording(path, seed, factor=1.0, steps=40, noise=0.01, sms=132, doubled=(), drift=0.0, first=0):
    """A loop whose steps take 1 ms times `factor`, those in `doubled` twice that, with one kernel in each.
    Lengths drift by `drift` a step; steps are counted from `first`."""
    generator = random.Random(seed)
    events, now = [], 1000.0
    for step in range(first, first + steps):
        length = (1 + drift * step) * 1000 * factor * (1 + generator.gauss(0, noise)) * (2 if step in doubled else 1)
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": now, "dur": length})
        events.append({"ph": "X", "cat": "kernel", "name": "work", "pid": 0, "tid": 7, "ts": now + 100, "dur": length - 200,
                       "args": {"device": 0, "stream": 7, "correlation": step + 1, "grid": [int(64 * factor), 1, 1]}})
        now += length
    device = {"id": 0, "name": "NVIDIA H200", "numSms": sms, "totalGlobalMem": 150109880320}
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [device], "traceEvents": events}))
    return str(path)


@pytest.mark.parametrize("file", REAL)
def test_a_recording_against_itself_is_the_same_with_zero_difference(program, file):
    document = compare(program, file, file, "metrics", "attribution", "kernels")
    assert document["verdict"]["name"] == "same"
    assert all(row["change_pct"] in (0, None) and row["verdict"] == "same" for row in rows(document, "metrics"))
    assert all(row["difference_ns"] == 0 for row in rows(document, "attribution") + rows(document, "kernels"))
    assert all(row["match"] == "name" for row in rows(document, "kernels"))


def test_other_hardware_is_named_and_the_difference_attributed(program):
    document = compare(program, TRANSFORMER, CONTROL, "attribution", "devices", "kernels")
    warnings = [statement["text"] for statement in document["trust"] if statement["warning"]]
    assert any("different hardware" in text and "H200" in text and "A100" in text for text in warnings)
    assert document["verdict"]["name"] == "cannot tell" and "hardware" in document["verdict"]["because"]
    attribution = rows(document, "attribution")
    step, base_step = document["source"]["window_ns"], document["base"]["window_ns"] // 3  # one step, three steps
    assert sum(row["new_ns"] for row in attribution) == step  # one device
    assert sum(row["base_ns"] for row in attribution) == base_step
    difference = step - base_step
    assert sum(row["difference_ns"] for row in attribution) == difference
    assert sum(row["share_pct"] for row in attribution) == pytest.approx(100)
    assert {row["verdict"] for row in rows(document, "kernels")} >= {"new", "vanished"}


def test_a_change_is_found_and_fails_where_it_was_asked_to(program, tmp_path):
    base = recording(tmp_path / "base.json", 1)
    slow = recording(tmp_path / "slow.json", 2, factor=1.08)
    document = compare(program, base, slow, "kernels", "steps")
    assert document["verdict"]["name"] == "slower" and "low confidence" in document["lead"][0]
    kernel, = rows(document, "kernels")
    assert kernel["verdict"] == "slower" and kernel["launch_shape"] == "grid x 64 -> 69"
    assert program.run("compare", base, slow, "--fail-on", "step_p50>2%").status == 1
    assert program.run("compare", base, slow, "--fail-on", "step_p50 > 20 %").status == 0
    assert program.run("compare", slow, base, "--fail-on", "step_p50>2%").status == 0
    assert program.run("compare", slow, base, "--fail-on", "busy<-2%").status == 1


def test_three_recordings_find_what_one_cannot(program, tmp_path):
    """3 % may be how two runs of one program differ; one recording per side does not say."""
    base = [recording(tmp_path / f"base{seed}.json", seed) for seed in (1, 2, 3)]
    slow = [recording(tmp_path / f"slow{seed}.json", seed, factor=1.03) for seed in (4, 5, 6)]
    document = compare(program, base[0], slow[0], "metrics")
    assert document["verdict"]["name"] == "cannot tell" and "run-to-run variation can explain" in document["verdict"]["because"]
    assert program.run("compare", base[0], slow[0], "--fail-on", "step_p50>2%").status == 0
    document = compare(program, base[0], slow[0], "metrics", "--repeat-base", *base[1:], "--repeat-new", *slow[1:])
    assert document["verdict"]["name"] == "slower" and rows(document, "metrics")[0]["confidence"] == "high"


def test_steps_are_those_of_the_verdict(program, tmp_path):
    """Steps that kernels mark are found once: in a part of the recording, other ones might be."""
    base, new = FIXTURES / "nsys/mfu_2gpu_before.sqlite.zst", FIXTURES / "nsys/mfu_2gpu_after.sqlite.zst"
    document = compare(program, base, new, "metrics", "steps")
    samples = rows(document, "metrics")[0]
    for side, path in (("base", base), ("new", new)):
        found = [row for row in rows(document, "steps") if row[f"{side}_ns"] is not None]
        assert len(found) == samples[f"{side}_samples"]
        alone = program.report(path, "steps")["steps"].rows
        assert [(row[f"{side}_start_ns"], row[f"{side}_ns"]) for row in found] == [(row["start_ns"], row["dur_ns"]) for row in alone]


def test_steps_are_paired_by_name(program, tmp_path):
    base = recording(tmp_path / "base.json", 1, steps=6, first=3)
    new = recording(tmp_path / "new.json", 2, steps=6, first=5)
    pairs = [(row["name"].split("#")[-1], row["only_in"]) for row in rows(compare(program, base, new, "steps"), "steps")]
    assert pairs == [*((str(step), None) for step in range(5, 9)), ("9", "new"), ("10", "new"), ("3", "base"), ("4", "base")]


def test_a_doubled_tail_is_slower_by_the_mean(program, tmp_path):
    base = recording(tmp_path / "base.json", 1, steps=200)
    tail = recording(tmp_path / "tail.json", 2, steps=200, doubled=range(10, 200, 20))
    document = compare(program, base, tail, "metrics")
    metrics = {row["metric"]: row for row in rows(document, "metrics")}
    assert document["verdict"]["name"] == "slower" and "mean step" in document["lead"][0]
    assert metrics["step_p50"]["verdict"] == "same" and metrics["step_mean"]["verdict"] == "higher"
    assert metrics["step_mean"]["basis"] == "steps" and metrics["step_mean"]["confidence"] == "low"
    assert program.run("compare", base, tail, "--fail-on", "step_mean>2%").status == 1
    assert program.run("compare", base, tail, "--fail-on", "step_p50>2%").status == 0


def test_few_steps_tell_a_large_difference_with_low_confidence(program, tmp_path):
    base = recording(tmp_path / "base.json", 1, steps=4)
    slow = recording(tmp_path / "slow.json", 2, steps=3, factor=1.5)
    near = recording(tmp_path / "near.json", 3, steps=3, factor=1.05)
    document = compare(program, base, slow, "metrics")
    assert document["verdict"]["name"] == "slower" and "low confidence" in document["lead"][0]
    assert rows(document, "metrics")[0]["confidence"] == "low"
    assert compare(program, base, near, "metrics")["verdict"]["name"] == "cannot tell"
    assert program.run("compare", base, slow, "--fail-on", "step_p50>2%").status == 1
    assert program.run("compare", base, near, "--fail-on", "step_p50>2%").status == 0


def test_a_single_recording_per_side_says_what_it_cannot_show(program, tmp_path):
    base, new = (recording(tmp_path / f"{seed}.json", seed) for seed in (1, 2))
    unknown = "run-to-run variation is unknown"
    alone, repeated = compare(program, base, new), compare(program, base, new, "--repeat-base", base)
    assert any(unknown in line for line in alone["lead"]) and any(unknown in each["text"] for each in alone["trust"])
    assert not any(unknown in line for line in repeated["lead"])
    assert unknown in " ".join(program.run("compare", base, new).stdout.decode().split())


def test_parts_of_two_devices_add_up_to_the_step(program):
    """Two GPUs before and after a change: steps longer with an interval from 0 to 32 %, each flash kernel unchanged."""
    document = compare(program, *(str(FIXTURES / f"nsys/mfu_2gpu_{when}.sqlite.zst") for when in ("before", "after")), "metrics", "attribution")
    metrics = {row["metric"]: row for row in rows(document, "metrics")}
    attribution = rows(document, "attribution")
    assert document["verdict"]["name"] == "cannot tell"
    assert 11 <= metrics["step_p50"]["change_pct"] <= 16
    for side in ("base_ns", "new_ns"):
        assert sum(row[side] for row in attribution) == int(metrics["wall_time"][side])
    flash, = (row for row in attribution if "flash_fwd_kernel" in row["name"])
    assert abs(flash["difference_ns"]) < 0.01 * flash["base_ns"]


def test_parts_of_a_process_that_drifts_are_not_another_program(program, tmp_path):
    base = recording(tmp_path / "base.json", 13, drift=0.001, noise=0.02)
    later = recording(tmp_path / "later.json", 14, drift=0.001, noise=0.02, first=40)
    assert compare(program, base, later, "metrics")["verdict"]["name"] == "cannot tell"
    text = (tmp_path / "later.json").read_text()
    for step in range(40, 80):
        text = text.replace(f'"correlation": {step + 1},', f'"correlation": {step - 39},')
    (tmp_path / "another.json").write_text(text)  # counts from the same number: another process
    document = compare(program, base, str(tmp_path / "another.json"), "metrics")
    assert document["verdict"]["name"] == "cannot tell" and "samples drift" in document["verdict"]["because"]


def test_noise_fails_nothing(program, tmp_path):
    base = recording(tmp_path / "base.json", 3, noise=0.03)
    again = recording(tmp_path / "again.json", 4, noise=0.03)
    outcome = program.run("compare", base, again, "--fail-on", "step_p50>0%", "--fail-on", "step_p50<-0%")
    assert outcome.status == 0, outcome.errors


def test_on_other_hardware_nothing_is_judged(program, tmp_path):
    base = recording(tmp_path / "base.json", 1)
    slow = recording(tmp_path / "slow.json", 2, factor=1.5, sms=114)
    outcome = program.run("compare", base, slow, "--fail-on", "step_p50>2%")
    assert outcome.status == 0 and "not evaluated: the hardware differs" in outcome.errors[0]


def test_repeats_decide_instead_of_steps(program, tmp_path):
    """Recordings that differ as wholes: their steps say slower, their repeats say that this is how they vary."""
    base = [recording(tmp_path / f"base{i}.json", i, factor=factor) for i, factor in enumerate((1.0, 1.04, 0.97))]
    new = [recording(tmp_path / f"new{i}.json", 10 + i, factor=factor) for i, factor in enumerate((1.07, 0.98, 1.01))]
    assert compare(program, base[0], new[0])["verdict"]["name"] == "slower"
    document = compare(program, base[0], new[0], "metrics", "--repeat-base", *base[1:], "--repeat-new", *new[1:])
    assert document["verdict"]["name"] == "cannot tell"
    step = rows(document, "metrics")[0]
    assert (step["base_samples"], step["new_samples"]) == (3, 3)


@pytest.mark.parametrize("condition", ["step_p50", "step_p50>2", "nothing>2%", "step_p50>x%", "step_p50>-2%", "busy<2%"])
def test_a_wrong_condition_is_a_usage_error_before_anything_is_read(program, condition):
    outcome = program.run("compare", "no_file", "no_file", "--fail-on", condition)
    assert outcome.status == 2 and condition in outcome.errors[0]


def test_csv_is_one_table(program):
    assert program.run("compare", TRANSFORMER, CONTROL, "--format", "csv").status == 2
    outcome = program.run("compare", TRANSFORMER, CONTROL, "ops", "--format", "csv", "--limit", "3")
    assert outcome.status == 0 and outcome.stdout.count(b"\n") == 4
