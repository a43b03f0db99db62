"""Device tables of every recording against the oracle: kernels, copies, busy and idle time, gaps, streams, API calls."""

import math
from collections import Counter

from compare import Differences
from oracle import timeline


def rows_without(row, *columns):
    return {k: v for k, v in row.items() if k not in columns}


def shape(value):
    """A launch dimension as the oracle has it: [x, y, z] -> "x,y,z" pieces, whatever separates them in the table."""
    return None if value is None else [int(n) for n in str(value).replace("x", " ").replace(",", " ").split()]


def test_kernels(recording, recordings, reports):
    got = reports(recording)["kernels"].by("name")
    wanted = timeline.kernels(recordings(recording))
    diff = Differences("kernels")
    diff.check_rows(got, {name: rows_without(row, "variance", "grid", "block") for name, row in wanted.items()})
    for name in wanted.keys() & got.keys():
        diff.check(name, "std_ns", got[name]["std_ns"], math.sqrt(wanted[name]["variance"]))
        for column in ("grid", "block"):
            diff.check(name, column, shape(got[name][column]), wanted[name][column])
    diff.none()


def test_kernel_total_is_the_sum_over_kernels(recording, recordings, reports):
    everything = recordings(recording).of("kernel")
    rows = reports(recording)["kernels"].rows
    assert sum(r["count"] for r in rows) == len(everything)
    assert sum(r["total_ns"] for r in rows) == sum(k.dur for k in everything)


def test_memcpy(recording, recordings, reports):
    diff = Differences("memcpy")
    diff.check_rows(reports(recording)["memcpy"].by("kind", "src", "dst"), timeline.memcpy(recordings(recording)))
    diff.none()


def test_memset(recording, recordings, reports):
    diff = Differences("memset")
    diff.check_rows(reports(recording)["memset"].by("memory_kind"), timeline.memset(recordings(recording)))
    diff.none()


def test_devices(recording, recordings, reports):
    diff = Differences("devices")
    diff.check_rows(reports(recording)["devices"].by("device"), timeline.devices(recordings(recording)))
    diff.none()


def test_busy_and_idle_fill_the_window(recording, reports):
    for row in reports(recording)["devices"].rows:
        assert row["busy_ns"] + row["idle_ns"] == row["window_ns"]
        assert max(row["kernel_busy_ns"], row["memcpy_busy_ns"], row["memset_busy_ns"]) <= row["busy_ns"]


def test_idle_causes_sum_to_idle(recording, recordings, reports):
    wanted = {device: row["idle_ns"] for device, row in timeline.devices(recordings(recording)).items()}
    got = Counter()
    for row in reports(recording)["idle"].rows:
        assert row["total_ns"] > 0 and row["count"] > 0
        got[row["device"]] += row["total_ns"]
    assert dict(got) == wanted


def test_idle_shares_sum_to_the_whole(recording, recordings, reports):
    shares = Counter()
    for row in reports(recording)["idle"].rows:
        shares[row["device"]] += row["share_pct"]
    assert set(shares) == set(timeline.devices(recordings(recording)))
    assert all(math.isclose(s, 100, rel_tol=1e-9) for s in shares.values())


def test_gaps(recording, recordings, reports):
    """Gaps between device ops are the oracle's; with the time before the first and after the last op they are all idle time."""
    trace = recordings(recording)
    start, _ = timeline.window(trace)
    rows = reports(recording)["gaps"].rows
    for device, wanted in timeline.gaps(trace).items():
        own = [r for r in rows if r["device"] == device]
        inner = [(r["start_ns"], r["dur_ns"]) for r in own if r["before"] is not None and r["after"] is not None]
        assert sorted(inner) == [(at - start, dur) for at, dur in wanted]
        outer = sorted(r["dur_ns"] for r in own if r["before"] is None or r["after"] is None)
        edges = timeline.edges(trace)[device]
        assert outer in ([], sorted(e for e in edges if e > 0))
        idle = timeline.devices(trace)[device]["idle_ns"]
        assert sum(dur for _, dur in inner) + sum(edges) == idle


def test_streams(recording, recordings, reports):
    trace = recordings(recording)
    start, _ = timeline.window(trace)
    wanted = timeline.streams(trace)
    for row in wanted.values():
        row["first_ns"] -= start
        row["last_ns"] -= start
    diff = Differences("streams")
    diff.check_rows(reports(recording)["streams"].by("device", "stream"), wanted)
    diff.none()


def test_api(recording, recordings, reports):
    got = reports(recording)["api"].by("name")
    diff = Differences("api")
    diff.check_rows(got, {name: rows_without(row, "variance", "min_ns")
                          for name, row in timeline.api(recordings(recording)).items()})
    diff.none()


def test_overlap(recording, recordings, reports):
    """Pairs of kinds must all be there; of many streams, those that never meet may be omitted."""
    got = reports(recording)["overlap"].by("device", "a", "b")
    wanted = timeline.overlaps(recordings(recording))
    may_miss = {key for key, row in wanted.items() if key[1].startswith("stream") and row["both_ns"] == 0}
    diff = Differences("overlap")
    diff.check_rows(got, {key: row for key, row in wanted.items() if key in got or key not in may_miss})
    diff.none()


def test_launches(recording, recordings, reports):
    diff = Differences("launches")
    diff.check_rows(reports(recording)["launches"].by("name"), timeline.launches(recordings(recording)))
    diff.none()


def test_graphs(recording, recordings, reports):
    diff = Differences("graphs")
    diff.check_rows(reports(recording)["graphs"].by("process", "graph"), timeline.graphs(recordings(recording)))
    diff.none()


def test_memory_peak(recording, recordings, program):
    trace = recordings(recording)
    start, _ = timeline.window(trace)
    wanted = timeline.memory_peaks(trace)
    for row in wanted.values():
        row["at_ns"] -= start
    diff = Differences("memory")
    diff.check_rows(program.report(recording, "memory")["memory"].by("device"), wanted)
    diff.none()
