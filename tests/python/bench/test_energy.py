"""Energy of real samples of an H200 next to the times in which its program kept it busy."""

import csv
import io
import json

import pytest
from conftest import FIXTURES

SERIES, TRACE, TRUTH = (FIXTURES / "nvml" / name for name in ("bursty.csv", "bursty.trace.json", "bursty.truth.json"))

SPANS = json.loads(TRUTH.read_text())
# Where steps begin: at each long busy span, and at the first of the bursts; and where the last one ends.
ENDS = [begin for begin, _, kind in SPANS if kind == "busy"] + [next(begin for begin, _, kind in SPANS if kind == "burst"), SPANS[-1][1]]


def rows_of(program, table, *files):
    done = program.run("report", *files, table, "--format", "csv")
    assert done.status == 0, done.errors
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def read_series():
    rows = list(csv.DictReader(SERIES.open()))
    return [(float(row["t_s"]), float(row["power_mw"]) / 1e3, float(row["energy_mj"]) / 1e3) for row in rows]


@pytest.fixture(scope="module", name="series")
def the_series():
    return read_series()


def without_counter(tmp_path):
    names = SERIES.read_text().splitlines()[0].split(",")
    drop = names.index("energy_mj")
    path = tmp_path / "power.csv"
    path.write_text("".join(",".join(cell for i, cell in enumerate(line.split(",")) if i != drop) + "\n" for line in SERIES.read_text().splitlines()))
    return path


def test_the_trace_is_the_truth():
    document = json.loads(TRACE.read_text())
    kernels = [event for event in document["traceEvents"] if event["cat"] == "kernel"]
    base = document["baseTimeNanoseconds"] / 1e9
    for event, (begin, end, kind) in zip(kernels, SPANS, strict=True):
        assert event["name"] == kind
        assert event["ts"] / 1e6 == pytest.approx(begin - base, abs=1e-6) and event["dur"] / 1e6 == pytest.approx(end - begin, abs=1e-6)


def counted(series, begin, end):
    """The counter's difference between the readings around two times."""
    before = max(row for row in series if row[0] <= begin) if begin > series[0][0] else series[0]
    after = min((row for row in series if row[0] >= end), default=series[-1])
    return after[2] - before[2]


def test_steps_agree_with_the_counter(program, series):
    steps = rows_of(program, "step_energy", TRACE, SERIES)
    assert len(steps) == 7
    for row, begin, end in zip(steps, ENDS[:-1], ENDS[1:], strict=True):
        found, off = float(row["energy_j"]), float(row["uncertainty_j"])
        # A step of the counter, 72 J when busy, may be missing or too many.
        assert abs(found - counted(series, begin, end)) <= off + 72, row
        assert off < 0.25 * found, row


def test_power_alone_covers_the_counter(program, series, tmp_path):
    power = without_counter(tmp_path)
    whole = rows_of(program, "energy", TRACE, power)[0]
    assert whole["class"] == "device" and whole["basis"] == "power samples"
    assert abs(float(whole["energy_j"]) - (series[-1][2] - series[0][2])) <= float(whole["uncertainty_j"]) + 72


def test_idle_and_work_have_the_power_of_pauses_and_bursts(program):
    work = {row["name"]: row for row in rows_of(program, "energy", TRACE, SERIES) if row["class"] == "work"}
    for name, watts in {"idle": 133, "other": 720}.items():  # the counter in the long pauses, and in the long spans of work
        row = work[name]
        assert row["because"] == "", row
        assert abs(float(row["mean_w"]) - watts) <= watts * float(row["uncertainty_j"]) / float(row["energy_j"]), row


def test_samples_alone_have_a_row(program, series):
    (row,) = rows_of(program, "energy", SERIES)
    assert row["class"] == "device" and row["basis"] == "counter"
    assert abs(float(row["energy_j"]) - (series[-1][2] - series[0][2])) <= float(row["uncertainty_j"])


def test_without_power_there_is_a_reason(program):
    done = program.run("report", TRACE, "energy")
    assert done.status == 0 and "no power was sampled" in b" ".join(done.stdout.split()).decode()
