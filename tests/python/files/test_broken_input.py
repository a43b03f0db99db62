"""Broken, hostile and odd input through the command line: an answer with losses, or exit code 3 with one line. Never anything else.

`BROKEN` lists inputs by name with what must come of them: REFUSED (exit 3), or a set of kernels that were whole and must be counted.
Every input goes through all analyses as JSON and through the first answer as text; no run may crash or take more than 20 s.
Truncation is tested against the events that were whole before the cut, by a reader of its own.
"""

import gzip
import json
import random
import re
from pathlib import Path

import pytest

import synthetic
from conftest import recorded
from oracle.trace import unpacked
from program import Report, read_strict_json
from synthetic import complete, dump

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
REFUSED = "refused"
ANSWERED = "answered"
EITHER = "either"
NOTHING = "nothing"  # a trace without a single event: the first answer refuses (3 or 4), tables are empty


# Pieces ---------------------------------------------------------------------------------------------------------


def kernel(name="k", start=10_000, dur=1_000, correlation=1, **args):
    return complete("kernel", name, 0, 7, start, dur, device=0, stream=7, correlation=correlation, **args)


def call(start=5_000, dur=1_000, correlation=1):
    return complete("cuda_runtime", "cudaLaunchKernel", 5, 5, start, dur, correlation=correlation, External_id=1)


def operator(start=1_000, dur=9_000):
    return complete("cpu_op", "aten::add", 5, 5, start, dur, External_id=1)


def good_events():
    return [operator(), call(), kernel("first"), kernel("second", 20_000, 2_000, 2)]


def trace(*more, **top):
    return dump({"schemaVersion": 1, "traceEvents": [*good_events(), *more], **top}).encode()


def with_raw_event(text):
    """A good trace with one more event, given as raw text so that it may be no JSON at all."""
    return trace("MARK").replace(b'"MARK"', text if isinstance(text, bytes) else text.encode())


def raw_kernel(name='"odd"', ts="30.000", dur="1.000", args='{"device": 0, "stream": 7}', extra=""):
    return f'{{"ph": "X", "cat": "kernel", "name": {name}, "pid": 0, "tid": 7, "ts": {ts}, "dur": {dur}, "args": {args}{extra}}}'


def python_frame(own, parent, start):
    return complete("python_function", f"f{own}", 5, 5, start, 500, **{"Python id": own, "Python parent id": parent})


# Cases ----------------------------------------------------------------------------------------------------------

DEEP = 100_000
BROKEN = {
    "empty": (b"", REFUSED),
    "spaces": (b" \n\t " * 100, REFUSED),
    "binary": (random.Random(1).randbytes(100_000), REFUSED),
    "zeros": (bytes(100_000), REFUSED),
    "program": (b"\x7fELF" + bytes(2000), REFUSED),
    "text": (b"hello, not a trace\n" * 50, REFUSED),
    "number": (b"42", REFUSED),
    "string": (b'"traceEvents"', REFUSED),
    "null": (b"null", REFUSED),
    "object without events": (b'{"a": 1, "b": [1, 2, 3]}', REFUSED),
    "array of numbers": (b"[1, 2, 3]", REFUSED),
    "events is a number": (b'{"traceEvents": 7}', REFUSED),
    "events is null": (b'{"traceEvents": null}', REFUSED),
    "open brace": (b"{", REFUSED),
    "gzip header only": (b"\x1f\x8b\x08\x00", REFUSED),
    "gzip of nothing": (gzip.compress(b""), REFUSED),
    "gzip of junk": (gzip.compress(b"\x00\x01\x02" * 1000), REFUSED),
    "zip header": (b"PK\x03\x04" + bytes(100), REFUSED),

    "no events": (b'{"traceEvents": []}', NOTHING),
    "no GPU work": (dump({"traceEvents": [operator(), call()]}).encode(), ANSWERED),
    "only metadata": (b'{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "p"}}]}', NOTHING),

    "whole": (trace(), ["first", "second"]),
    "byte order mark": (b"\xef\xbb\xbf" + trace(), ["first", "second"]),
    "spaces before": (b"\n\n   " + trace(), ["first", "second"]),
    "bare array": (dump(good_events()).encode(), ["first", "second"]),
    "bare array left open": (dump(good_events()).encode()[:-1], ["first", "second"]),
    "bare array with last comma": (dump(good_events()).encode()[:-1] + b",\n", ["first", "second"]),
    "brackets missing": (trace()[:-2], ["first", "second"]),
    "brace missing": (trace()[:-1], ["first", "second"]),
    "comma before the end": (trace().replace(b"}}]}", b"}},]}"), ["first", "second"]),
    "junk after the end": (trace() + b"\n<html>", ["first", "second"]),
    "two documents": (trace() + trace(), EITHER),
    "gzip": (gzip.compress(trace()), ["first", "second"]),
    "gzip in two members": (gzip.compress(trace()[:300]) + gzip.compress(trace()[300:]), ["first", "second"]),
    "gzip with junk behind": (gzip.compress(trace()) + b"\0\0\0junk", ["first", "second"]),
    "gzip with a wrong checksum": (gzip.compress(trace())[:-8] + b"\1\2\3\4" + gzip.compress(trace())[-4:], ["first", "second"]),
    "properties are odd": (trace(deviceProperties="many", distributedInfo=[1], baseTimeNanoseconds="soon"), ["first", "second"]),
    "properties hold NaN": (trace(deviceProperties=[{"id": float("nan"), "name": None, "numSms": float("inf")}]), ["first", "second"]),

    "NaN argument": (with_raw_event(raw_kernel(args='{"device": 0, "stream": 7, "occupancy": NaN}')), ["first", "second", "odd"]),
    "Infinity argument": (with_raw_event(raw_kernel(args='{"device": 0, "stream": 7, "x": [Infinity, -Infinity]}')), ["first", "second", "odd"]),
    "NaN time": (with_raw_event(raw_kernel(ts="NaN")), ["first", "second"]),
    "Infinity duration": (with_raw_event(raw_kernel(dur="Infinity")), ["first", "second"]),
    "null time": (with_raw_event(raw_kernel(ts="null")), ["first", "second"]),
    "word as time": (with_raw_event(raw_kernel(ts='"soon"')), ["first", "second"]),
    "huge exponent": (with_raw_event(raw_kernel(ts="1e300")), ["first", "second"]),
    "tiny exponent": (with_raw_event(raw_kernel(dur="1e-300")), EITHER),
    "endless digits": (with_raw_event(raw_kernel(ts="3" * 5000)), ["first", "second"]),
    "bad escape": (with_raw_event(raw_kernel(name=r'"od\xd"')), EITHER),
    "windows path": (with_raw_event(raw_kernel(args=r'{"device": 0, "stream": 7, "file": "C:\Users\new"}')), EITHER),
    "half an escape": (with_raw_event(raw_kernel(name=r'"\u12"')), EITHER),
    "lone surrogate": (with_raw_event(raw_kernel(name=r'"\ud800"')), EITHER),
    "control characters": (with_raw_event(raw_kernel(name='"a\tb\nc\x01d"')), ["first", "second", "a\tb\nc\x01d"]),
    "no UTF-8": (with_raw_event(raw_kernel().encode().replace(b"odd", b"\xff\xfe\x80")), EITHER),
    "zero byte in a name": (with_raw_event(raw_kernel(name='"a\0b"')), EITHER),
    "escaped zero": (with_raw_event(raw_kernel(name=r'"a\u0000b"')), EITHER),
    "comment": (with_raw_event("/* here */"), EITHER),
    "single quotes": (with_raw_event(raw_kernel().replace('"', "'")), EITHER),
    "word in place of an event": (with_raw_event("oops"), EITHER),
    "events that are no objects": (with_raw_event('null, 5, "x", [1], {}, true'), ["first", "second"]),
    "odd types": (with_raw_event('{"ph": 5, "cat": [], "name": {}, "pid": null, "tid": [], "ts": {}, "dur": [], "args": 3}'), ["first", "second"]),
    "no name": (with_raw_event(raw_kernel().replace('"name": "odd", ', "")), EITHER),
    "no duration": (with_raw_event(raw_kernel().replace('"dur": 1.000, ', "")), EITHER),
    "args is a list": (with_raw_event(raw_kernel(args="[1, 2]")), EITHER),
    "keys twice": (with_raw_event(raw_kernel(extra=', "ts": 40.000, "name": "odd"')), ["first", "second", "odd"]),

    "negative duration": (trace(kernel("odd", 30_000, -5_000, 3)), EITHER),
    "negative time": (trace(kernel("odd", -30_000, 5_000, 3)), EITHER),
    "zero duration": (trace(kernel("odd", 30_000, 0, 3)), ["first", "second", "odd"]),
    "all at one instant": (dump({"traceEvents": [kernel("first", 10, 0), kernel("second", 10, 0)]}).encode(), ["first", "second"]),
    "duplicate correlation": (trace(call(6_000), kernel("odd", 30_000), kernel("odd", 31_000)), ["first", "second", "odd"]),
    "kernel before its launch": (trace(call(50_000, 10, 9), kernel("odd", 30_000, 10, 9)), ["first", "second", "odd"]),
    "huge ids": (trace(kernel("odd", 30_000, 10, 1 << 70, External_id=-(1 << 66))), EITHER),
    "odd devices": (trace(*(complete("kernel", "odd", p, t, 30_000, 10, device=d, stream=s) for d, s, p, t in
                            ((-1, -1, -1, -1), (1 << 31, 1 << 40, 0, 0), ("gpu", "s", "p", "t"), (None, None, None, None), (1.5, 2.5, 3.5, 4.5)))), EITHER),
    "time near 2^63": (trace(kernel("odd", (1 << 63) - 2_000, 1_000, 3)), EITHER),
    "end beyond 2^63": (trace(kernel("odd", (1 << 63) - 2_000, 10_000, 3)), EITHER),
    "time beyond 2^63": (trace(kernel("odd", 1 << 63, 1_000, 3)), ["first", "second"]),
    "time near -2^63": (trace(kernel("odd", 2_000 - (1 << 63), 1_000, 3)), EITHER),
    "whole range of time": (trace(kernel("odd", 2_000 - (1 << 63), 1_000, 3), kernel("odd", (1 << 63) - 5_000, 1_000, 4)), EITHER),
    "base time near 2^63": (trace(baseTimeNanoseconds=(1 << 63) - 1), EITHER),
    "duration near 2^63": (trace(kernel("odd", 1_000, (1 << 63) - 2_000, 3)), EITHER),

    "10 MB name": (trace(kernel("n" * 10_000_000, 30_000, 10, 3)), ["first", "second", "n" * 10_000_000]),
    "10 MB argument": (trace(kernel("odd", 30_000, 10, 3, stack="s" * 10_000_000)), ["first", "second", "odd"]),
    "10 MB without an end": (trace()[:-2] + b', {"name": "' + b"n" * 10_000_000, ["first", "second"]),
    "deep in an argument": (with_raw_event(raw_kernel(args='{"device": 0, "stream": 7, "x": ' + "[" * DEEP + "]" * DEEP + "}")), EITHER),
    "deep objects": (with_raw_event(raw_kernel(args='{"device": 0, "x": ' + '{"a":' * DEEP + "1" + "}" * DEEP + "}")), EITHER),
    "deep before the events": (b'{"x": ' + b"[" * DEEP + b"]" * DEEP + b", " + trace()[1:], EITHER),
    "deep from the start": (b"[" * DEEP, EITHER),
    "deep objects from the start": (b'{"a":' * DEEP, EITHER),
    "cyclic python parents": (trace(python_frame(1, 2, 1_000), python_frame(2, 1, 1_100), python_frame(3, 3, 1_200)), ["first", "second"]),
    "deep operators": (lambda: trace(*(operator(100 + i, 1_000_000 - 2 * i) for i in range(20_000))), ["first", "second"]),
    "many overhead records": (lambda: trace(*(complete("overhead", "Activity Buffer Request", -1, 0, 1_000 + i, 10) for i in range(20_000))), ["first", "second"]),
    "many memory records": (trace(*({"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 5, "tid": 5, "ts": f"@{i}.5@",
                                     "args": {"Bytes": 1 << 62, "Device Type": 1, "Device Id": 0, "Total Allocated": 1 << 62}} for i in range(100))), ["first", "second"]),
    "many streams": (lambda: trace(*(complete("kernel", "odd", 0, i, 30_000 + i, 10, device=i % 300, stream=i) for i in range(20_000))), ["first", "second", "odd"]),
}


# Running --------------------------------------------------------------------------------------------------------


def assert_refused(outcome, what=b""):
    assert outcome.status == 3, f"exit {outcome.status}: {outcome.errors}"
    assert len(outcome.errors) == 1, outcome.errors
    assert outcome.stdout == b""


def assert_answer_or_refusal(outcome):
    assert outcome.status in (0, 3), f"exit {outcome.status}: {outcome.errors}"
    if outcome.status == 3:
        assert_refused(outcome)


def assert_nothing_captured(text, outcome):
    """The first answer may say so with exit code 4, when there is no event in any table."""
    assert len(text.errors) == 1 and text.stdout == b""
    assert outcome.status == 3 or all(not table.rows for table in Report(read_strict_json(outcome.stdout)).tables.values())


def ask(program, source, stdin=b""):
    """All analyses as JSON, and the first answer as text; returns the report or None when refused."""
    text = program.run("report", source, stdin=stdin)
    outcome = program.run("report", source, *program.COMPARED, "--whole", "--gap-min-ns", "0", "--format", "json", "--limit", "0", stdin=stdin)
    assert_answer_or_refusal(outcome)
    if text.status == 4:
        assert_nothing_captured(text, outcome)
        return None
    assert_answer_or_refusal(text)
    assert text.status == outcome.status
    if outcome.status == 3:
        return None
    report = Report(read_strict_json(outcome.stdout))
    assert_sound(report)
    return report


def says_lossless(report):
    return any("no records lost" in line["text"] for line in report.document["trust"])


def assert_sound(report):
    """What holds for every answer, however odd the input was."""
    idle = {}
    for row in report["idle"].rows:
        idle[row["device"]] = idle.get(row["device"], 0) + row["total_ns"]
    for row in report["devices"].rows:
        assert row["busy_ns"] + row["idle_ns"] == row["window_ns"]
        assert min(row["busy_ns"], row["idle_ns"], row["overlap_ns"], row["exposed_memcpy_ns"]) >= 0
        assert idle.get(row["device"], 0) == row["idle_ns"]
    for row in report["kernels"].rows:
        assert row["count"] > 0 and 0 <= row["min_ns"] <= row["max_ns"] <= row["total_ns"]


@pytest.mark.parametrize("name", BROKEN)
def test_broken(name, program, tmp_path):
    content, wanted = BROKEN[name]
    content = content() if callable(content) else content
    path = tmp_path / "input.json"
    path.write_bytes(content)
    report = ask(program, path)
    if wanted in (REFUSED, NOTHING):
        assert report is None
        assert wanted == NOTHING or program.run("report", path).status == 3
    elif wanted == ANSWERED:
        assert report is not None
    elif wanted != EITHER:
        assert report is not None
        assert sorted(row["name"] for row in report["kernels"].rows) == sorted(wanted)
        if b'"odd"' in content and "odd" not in wanted:
            assert not says_lossless(report)
    elif report is not None:
        # What is odd may be kept or lost, but it takes nothing else with it.
        names = {row["name"] for row in report["kernels"].rows}
        assert not names or {"first", "second"} <= names


def test_a_refusal_names_the_file(program, tmp_path):
    path = tmp_path / "no-trace-at-all.json"
    path.write_bytes(b"[1, 2")
    outcome = program.run("report", path)
    assert_refused(outcome)
    assert path.name in outcome.errors[0]


def test_missing_file_and_directory(program, tmp_path):
    for path in (tmp_path / "absent.json", tmp_path):
        outcome = program.run("report", path)
        assert_refused(outcome)
        assert path.name in outcome.errors[0]


def test_unreadable_name_characters(program, tmp_path):
    path = tmp_path / "a name\nwith lines.json"
    path.write_bytes(b"")
    assert_refused(program.run("report", path))


# Truncation -----------------------------------------------------------------------------------------------------


def whole_events(text):
    """Each event of a recording and where its text ends."""
    at = text.index("[", text.index('"traceEvents"')) + 1
    decoder, ends = json.JSONDecoder(), []
    space = re.compile(r"[\s,]*")
    while text[at := space.match(text, at).end()] != "]":
        event, at = decoder.raw_decode(text, at)
        ends.append((at, event))
    return ends


@pytest.fixture(scope="module")
def whole():
    content = synthetic.recording(3)
    return content, whole_events(content.decode())


def kernels_before(ends, cut):
    count = {}
    for end, event in ends:
        if end <= cut and event.get("cat") == "kernel":
            count[event["name"]] = count.get(event["name"], 0) + 1
    return count


@pytest.mark.parametrize("part", range(40))
def test_truncated_json(part, program, tmp_path, whole):
    """Cut anywhere, what is whole is counted, and nothing else."""
    content, ends = whole
    cut = random.Random(part).randrange(1, len(content)) if part >= 8 else len(content) * part // 8
    path = tmp_path / "cut.json"
    path.write_bytes(content[:cut])
    report = ask(program, path)
    wanted = kernels_before(ends, cut)
    if report is None:
        assert not any(end <= cut for end, _ in ends)
    else:
        assert {row["name"]: row["count"] for row in report["kernels"].rows} == wanted
        assert not says_lossless(report)


@pytest.mark.parametrize("part", range(12))
def test_truncated_gzip(part, program, tmp_path, whole):
    content, ends = whole
    packed = gzip.compress(content)
    path = tmp_path / "cut.json.gz"
    path.write_bytes(packed[:max(2, len(packed) * part // 12)])
    report = ask(program, path)
    if part >= 2:
        everything = kernels_before(ends, len(content))
        assert report is not None and not says_lossless(report)
        assert all(row["count"] <= everything[row["name"]] for row in report["kernels"].rows)


@pytest.mark.parametrize("seed", range(10))
def test_damaged_bytes(seed, program, tmp_path, whole):
    """Ten bytes of JSON overwritten: other records stay. Damage inside gzip: no crash."""
    content, _ = whole
    r = random.Random(seed)
    damaged = bytearray(content)
    for _ in range(10):
        damaged[r.randrange(len(damaged))] = r.randrange(256)
    plain, packed = tmp_path / "a.json", tmp_path / "b.json.gz"
    plain.write_bytes(damaged)
    squeezed = bytearray(gzip.compress(content))
    squeezed[r.randrange(10, len(squeezed))] ^= 1 << r.randrange(8)
    packed.write_bytes(squeezed)
    ask(program, plain)
    ask(program, packed)


# Same content, other clothes -------------------------------------------------------------------------------------


def tables(report):
    return {name: table.rows for name, table in report.tables.items()}


def test_order_of_events_does_not_matter(program, tmp_path):
    """No two operators of a thread begin and end together here, so that their order in the file decides nothing."""
    document = synthetic.document(2)
    answers = []
    for seed in (None, 1, 2):
        if seed is not None:
            random.Random(seed).shuffle(document["traceEvents"])
        path = tmp_path / f"order-{seed}.json"
        path.write_text(dump(document))
        answers.append(tables(program.report(path, *program.COMPARED, "--gap-min-ns", "0")))
    assert answers[1:] == answers[:1] * 2


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["json", "gzip"])
def test_standard_input(pack, program, tmp_path):
    path = tmp_path / "seed.json"
    content = synthetic.recording(4)
    path.write_bytes(content)
    from_file = program.report(path, "devices", "kernels", "ops")
    from_pipe = program.report("-", "devices", "kernels", "ops", stdin=pack(content))
    assert tables(from_file) == tables(from_pipe)


def test_standard_input_refused(program):
    assert_refused(program.run("report", "-", stdin=b""))
    assert_refused(program.run("report", "-", stdin=b"\x1f\x8b\x08\x00"))


def test_bare_array_is_the_same_trace(program, tmp_path):
    events = synthetic.document(5)["traceEvents"]
    path, bare = tmp_path / "object.json", tmp_path / "array.json"
    path.write_text(dump({"traceEvents": events}))
    bare.write_text(dump(events))
    assert tables(program.report(path, *program.COMPARED)) == tables(program.report(bare, *program.COMPARED))


@pytest.mark.parametrize("name", ("input_bound", "transformer", "transformer-stacks-shapes-memory", "overlap"))
def test_truncated_recording(name, program, tmp_path):
    """A real recording without its end."""
    content = unpacked(recorded(f"kineto/{name}"))
    assert content.isascii()
    ends = whole_events(content.decode())
    path = tmp_path / "cut.json"
    for cut in (len(content) // 3, len(content) * 9 // 10):
        path.write_bytes(content[:cut])
        rows = ask(program, path)["kernels"].rows
        assert {row["name"]: row["count"] for row in rows} == kernels_before(ends, cut)
