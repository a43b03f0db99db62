"""The recorded CUPTI records in tests/fixtures/cupti: their lines, and scripts for the fake libcupti."""

import json
import lzma
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "cupti"
KERN = FIXTURES / "kern.jsonl.xz"


def lines(recording=KERN, graphs=False):
    """Return the records of a recording. CUDA graphs were recorded as whole graphs: a recorder that requests their
    kernels never gets them, and their launches become losses. They are omitted unless a test needs them."""
    with lzma.open(recording, "rt") as file:
        records = [json.loads(line) for line in file]
    if graphs:
        return records
    return [record for record in records if record["kind"] != "GRAPH_TRACE" and not record.get("name", "").startswith("cudaGraphLaunch")]


def without_capture(records):
    """Return the records without the stream capture, during which launches of other threads are not measured."""
    begin, end = (next(i for i, record in enumerate(records) if record.get("name", "").startswith(name)) for name in ("cudaStreamBeginCapture", "cudaStreamEndCapture"))
    return [record for i, record in enumerate(records) if not begin <= i <= end]


def kernels_in(records):
    return [record for record in records if record["kind"] == "KERNEL"]


def script_of(recording, folder, version="13.0", lanes=4):
    script = Path(folder) / f"{recording.name}-{version}-{lanes}.script"
    if not script.exists():
        script_of_records(lines(recording), folder, version, lanes).rename(script)
    return script


def script_of_records(records, folder, version="13.0", lanes=1):
    """Write a script of records created or changed by a test; the next call replaces it."""
    made, script = Path(folder) / "made.jsonl", Path(folder) / "made.script"
    made.write_text("".join(json.dumps(record) + "\n" for record in records))
    _convert(made, script, version, lanes)
    return script


def burst(records, kernels=40, each_ns=20_000):
    """Launches and kernels of one kind, close to one another."""
    kernel = next(r for r in records if r["kind"] == "KERNEL")
    launch = next(r for r in records if r["kind"] == "RUNTIME" and r["correlationId"] == kernel["correlationId"])
    for i in range(kernels):
        at = launch["start"] + i * each_ns
        yield {**launch, "start": at, "end": at + 2000, "correlationId": i + 1}
        yield {**kernel, "start": at + 4000, "end": at + each_ns, "completed": at + each_ns, "correlationId": i + 1}
    yield from (r for r in records if r["kind"] == "DEVICE")


def quick_script(folder, times=500):
    """Return the recording of kernels, accelerated enough to be played at its own pace (time=paced)."""
    records = lines()
    first = min(record["start"] for record in records if record.get("start"))
    for record in records:
        for time in ("start", "end"):
            if record.get(time):
                record[time] = first + (record[time] - first) // times
    return script_of_records(records, folder)


def slow_kernels(folder, count=10, length_ns=20_000_000):
    """Return launches 1 us apart whose kernels run in sequence, each of the given duration."""
    records = lines()
    first = min(record["start"] for record in records if record.get("start"))
    calls = {record["correlationId"]: record for record in records if record["kind"] == "RUNTIME"}
    kernels = [record for record in kernels_in(records) if not record["graphId"] and record["correlationId"] in calls][:count]
    made = [record for record in records if record["kind"] == "DEVICE"]
    for number, kernel in enumerate(kernels):
        made += [{**calls[kernel["correlationId"]], "start": first + 1000 * number, "end": first + 1000 * number + 500},
                 {**kernel, "start": first + 20_000 + number * length_ns, "end": first + 20_000 + (number + 1) * length_ns}]
    return script_of_records(made, folder)


def _convert(recording, script, version, lanes):
    subprocess.run([sys.executable, ROOT / "tests/fakes/cupti/script.py", "--cupti", version, "--lanes", str(lanes),
                    recording, script], check=True)
