"""nvbench, as far as tests/gpu/workloads/timings.py uses it: benchmarks are timed by ours."""

import json
import types

registered = []
register = registered.append


def run_all_benchmarks(arguments):
    from gpu_profile import bench

    assert arguments[:3] == ["--quiet", "--devices", "0"] and arguments[3] == "--json"
    found = []
    for benchmark in registered:
        said = {}
        launch = types.SimpleNamespace(get_stream=lambda: types.SimpleNamespace(addressof=lambda: 0x777))

        def execute(launcher, batched, said=said, launch=launch):
            assert batched is False
            said["value"] = bench(lambda: launcher(launch), stream=0x777, timer="cuda").median_ns / 1e9

        benchmark(types.SimpleNamespace(exec=execute))
        data = [{"name": "value", "type": "float64", "value": str(said["value"])}]
        found.append({"name": benchmark.__name__, "states": [{"summaries": [{"tag": "nv/cold/time/gpu/median", "data": data}]}]})
    with open(arguments[4], "w", encoding="utf-8") as file:
        json.dump({"benchmarks": found}, file)
