#!/usr/bin/env bash
# Records real programs on a GPU and compares what was recorded: tests/gpu/record.sh
#   PyTorch     with torch.profiler in the same run: equal counts of kernels, copies and fills within its window, and kernel time within 1 %
#   CUDA C++    with what the program says it launched
#   Triton, JAX at least the launches that the program made
# What is not installed is left out and said. Exit status 77 with a reason where there is no GPU, 1 when something differs.
set -eu
. "$(dirname "$0")/common.sh"
failed=0

# totals CAPTURE: JSON of {kind: [count, ns]} of device work.
totals() {
    "$binary" report "$1" kernels memcpy memset --format json --limit 0 | "$python" -c '
import json, sys
found = {}
for table in json.load(sys.stdin)["tables"]:
    names = [column["name"] for column in table["columns"]]
    rows = [dict(zip(names, row)) for row in table["rows"]]
    kind = {"kernels": "kernel"}.get(table["name"], table["name"])
    found[kind] = [sum(row["count"] for row in rows), sum(row["total_ns"] for row in rows)]
print(json.dumps(found))'
}

# compare WHAT EXPECTED FOUND: both JSON; the work of both and 1 % of the kernels' time.
compare() {
    "$python" - "$@" <<'PYTHON' || failed=1
import json, sys
what, expected, found = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
wrong = [f"{kind}: {count} expected, {found.get(kind, [0, 0])[0]} recorded" for kind, (count, _) in expected.items()
         if found.get(kind, [0, 0])[0] != count]
time = expected.get("kernel", (0, 0))[1]
if time and abs(found["kernel"][1] - time) > 0.01 * time:
    wrong.append(f"kernel time: {time} ns expected, {found['kernel'][1]} ns recorded")
print(f"{what}: {'; '.join(wrong) if wrong else 'ok ' + json.dumps(expected)}")
sys.exit(bool(wrong))
PYTHON
}

at_least() {
    "$python" - "$@" <<'PYTHON' || failed=1
import json, sys
what, least, found = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]).get("kernel", [0, 0])[0]
print(f"{what}: {'ok' if found >= least else 'TOO FEW'}: {found} kernels for {least} launches of the program")
sys.exit(found < least)
PYTHON
}

record() { "$binary" record --quiet --sample 0 -o "$folder/capture" "$@"; }

machine
if has_torch; then
    for name in launches transformer; do
        record --capture-range nvtx:profiled -- "$python" "$here/workloads/steps.py" "$name" 20 --profile "$folder/totals" >/dev/null
        compare "PyTorch, $name" "$(cat "$folder/totals")" "$(totals "$folder/capture")"
    done
else
    echo "PyTorch: left out, not installed or without CUDA"
fi
if build_storm; then
    read -r kernels copies <<<"$(record -- "$folder/storm" 50000 2>&1 >/dev/null | grep -E '^[0-9]+ [0-9]+$')"
    compare "CUDA C++" "{\"kernel\": [$kernels, 0], \"memcpy\": [$copies, 0]}" "$(totals "$folder/capture")"
fi
for pair in 'triton add_triton Triton' 'jax multiply_jax JAX'; do
    read -r module workload what <<<"$pair"
    if has_module "$module"; then
        launches=$(record -- "$python" "$here/workloads/$workload.py" | tail -n1)
        at_least "$what" "$launches" "$(totals "$folder/capture")"
    else
        echo "$what: left out, not installed"
    fi
done
exit $failed
