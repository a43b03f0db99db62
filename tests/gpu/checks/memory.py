"""Part 3: the account of a device's memory: parts add up to what NVML reports, and agree with what a program allocated."""

from harness.check import Checks
from harness.recording import last_json, record, storm

CHECKS = Checks("part3")
MIB = 1 << 20
# The CUDA context and the code of a small program. Far more would be memory that was not attributed to its allocation.
MAX_REST_BYTES = 2048 * MIB


def rows_of(answer, name):
    """The rows of a table of `report --format json` as dictionaries."""
    for table in answer.get("tables", ()):
        if table["name"] == name:
            names = [column["name"] for column in table["columns"]]
            return [dict(zip(names, row)) for row in table["rows"]]
    return []


def judge_account(case, parts, said):
    """Compares one device's parts with what the program says; separate, so that known parts can be judged too."""
    sizes = {}
    for row in parts:
        sizes[row["part"]] = sizes.get(row["part"], 0) + row["bytes"]
    case.measured("; ".join(f"{part} {size / MIB:.1f} MiB" for part, size in sizes.items()), sizes=sizes)
    total = sum(size for part, size in sizes.items() if part not in ("used", "free"))
    case.expect(sizes.get("used") == total, f"the parts add up to {total} bytes, NVML reports {sizes.get('used')}")
    calls = sizes.get("CUDA allocations", 0)
    case.expect(calls == said["peak_bytes"] + said["small_bytes"], f"{calls} bytes of CUDA allocations; the program holds {said['peak_bytes']} and {said['small_bytes']}")
    reasons = [row["evidence"] for row in parts if row["part"] == "not attributed"]
    rest = sizes.get("rest of the process")
    if rest is None:
        case.measured(f"no memory per process: {reasons}")
        case.expect(reasons, "neither a rest of the process nor a reason")
    else:
        case.expect(0 <= rest <= MAX_REST_BYTES, f"the rest of the process is {rest / MIB:.1f} MiB")


@CHECKS.add("memory_account: the parts add up to NVML's value, and three allocations of 256 MiB are found", limit_s=60, needs=("gpu", "programs", "cupti"))
def memory_account(case):
    capture = record(case, storm(case, "memory", case.seconds(4)), "--memory", "--sample", "0.1")
    said, curve = last_json(capture.done), rows_of(capture.report("memory_curve"), "memory_curve")
    if not case.expect(said and curve, f"no curve: {capture.done.why()}"):
        return
    names = [name for name in curve[0] if name.endswith("_bytes") and name != "used_bytes"]
    wrong = [row["at_ns"] for row in curve if sum(row[name] or 0 for name in names) != row["used_bytes"]]
    case.measured(f"{len(curve)} rows of the curve", rows=len(curve))
    case.expect(not wrong, f"the parts do not add up at {wrong[:5]} ns")
    most = max(curve, key=lambda row: row["calls_bytes"] or 0)
    if case.expect(most["calls_bytes"], "no allocation is in the curve"):
        parts = rows_of(capture.report("memory_account", f"--at={most['at_ns']}ns", f"--device={most['device']}"), "memory_account")
        judge_account(case, parts, said)
