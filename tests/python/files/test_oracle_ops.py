"""The `ops` table against PyTorch: against our own recomputation exactly, against PyTorch's printed tables to their rounding."""

from collections import Counter

from compare import Differences
from conftest import short_name
from oracle import key_averages
from oracle.pytorch_table import read_table

COLUMNS = {"count": "count", "cpu_total_ns": "cpu_total", "cpu_self_ns": "cpu_self",
           "device_total_ns": "device_total", "device_self_ns": "device_self"}


def printed_table(recording):
    return read_table(recording.with_name(short_name(recording) + ".key_averages.txt.xz"))


def named(rows):
    """Rows by name and how often the name came before: an operator and an annotation may share one."""
    seen, out = Counter(), {}
    for row in rows:
        name = row["name"]
        out[(name, seen[name])] = row
        seen[name] += 1
    return out


def wanted_rows(trace):
    operators = sorted(key_averages.operators(trace).values(), key=lambda r: r.category)
    rows = [{"name": r.name, "device_mem_bytes": r.device_bytes if trace.memory else None,
             **{column: getattr(r, field) for column, field in COLUMNS.items()}} for r in operators]
    return named(rows)


def test_ops(recording, recordings, reports):
    wanted = wanted_rows(recordings(recording))
    diff = Differences("ops")
    diff.check_rows(named(reports(recording)["ops"].rows), wanted)
    diff.none()


def test_ops_against_pytorch(recording_with_table, reports):
    """Rows that PyTorch prints with host time and that are operators here; cut names match by their beginning."""
    rows = reports(recording_with_table)["ops"].rows
    diff = Differences("ops against the printed table")
    compared = 0
    for printed in printed_table(recording_with_table).rows:
        found = [r for r in rows if is_named(r["name"], printed)]
        if not is_host_row(printed) or not found:
            continue
        compared += 1
        if not any(agrees(row, printed) for row in found):
            diff.found.append(f"{printed.name}: {printed.cells} but {found}")
    diff.none()
    assert compared == len([r for r in printed_table(recording_with_table).rows if is_operator(r)])


def test_oracle_against_pytorch(recording_with_table, recordings):
    """The oracle is held to the same tables, API calls and overhead included, and to both sums below them."""
    trace = recordings(recording_with_table)
    table = printed_table(recording_with_table)
    averages = key_averages.averages(trace)
    diff = Differences("oracle against the printed table")
    for printed in (r for r in table.rows if is_host_row(r)):
        found = [r for r in averages.values() if is_named(r.name, printed)]
        rows = [{column: getattr(r, field) for column, field in COLUMNS.items()} | {"device_mem_bytes": r.device_bytes}
                for r in found]
        if not any(agrees(row, printed) for row in rows):
            diff.found.append(f"{printed.name}: {printed.cells} but {rows}")
    diff.none()
    assert table.self_cpu_total.matches(sum(r.cpu_self for r in averages.values()))
    assert table.self_device_total.matches(sum(op.dur for op in trace.device_ops))


def is_named(name, printed):
    return name.startswith(printed.name.removesuffix("...")) if printed.is_cut else name == printed.name


def is_host_row(printed):
    return printed.time("CPU total").value > 0


def is_operator(printed):
    """API calls and the profiler's own records are printed too; no operator or annotation here looks like them."""
    return is_host_row(printed) and not printed.name.startswith(("cuda", "cuLaunch", "Activity Buffer"))


def agrees(row, printed):
    same = (row["count"] == printed.count
            and printed.time("CPU total").matches(row["cpu_total_ns"])
            and printed.time("Self CPU").matches(row["cpu_self_ns"])
            and printed.time("CUDA total").matches(row["device_total_ns"])
            and printed.time("Self CUDA").matches(row["device_self_ns"]))
    if printed.has("CUDA Mem"):
        same = same and printed.bytes("CUDA Mem").matches(row["device_mem_bytes"])
    return same
