"""Engine steps of servers of language models (tests/simulate/serving.py measures many more)."""

import collections
import importlib.util
import json
import os
import subprocess

import pytest

from conftest import FIXTURES

ROOT = FIXTURES.parents[1]
BINARY = os.environ.get("GPUPROF_BIN", str(ROOT / "build" / "release" / "gpu-profile"))

spec = importlib.util.spec_from_file_location("simulated_serving", ROOT / "tests" / "simulate" / "serving.py")
simulated = importlib.util.module_from_spec(spec)
spec.loader.exec_module(simulated)

# text -> phase, prefill requests and tokens, decode requests and tokens, tokens in the KV cache
TEXTS = {
    "execute_new_2_cached_0": ("prefill", 2, None, 0, None, None),
    "execute_new_0_cached_4": ("decode", 0, None, 4, None, None),
    "execute_new_0_cached_0": ("dummy", 0, 0, 0, 0, None),
    "execute_context_1(2048)_generation_7(7)": ("mixed", 1, 2048, 7, 7, None),
    "execute_context_0(0)_generation_4(12)": ("verify", 0, 0, 4, 12, None),
    "execute_context_1(888_788544)_generation_0(0)": ("prefill", 1, 888, 0, 0, None),
    "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489)": ("mixed", 9, 8155, 37, 37, 42919),
    "step[EXTEND bs=15 toks=15360]": ("prefill", 15, 15360, 0, 0, None),
    "step[DECODE bs=32]": ("decode", 0, 0, 32, 32, None),
    "step[DECODE bs=64 g_sq=64 g_sk=900 g_sqsq=64 g_sqsk=900]": ("decode", 0, 0, 64, 64, 900),
    "step[MIXED bs=2]": ("mixed", None, None, None, None, None),
    "step[MIXED bs=3 c=1 g=2 c_sq=50 c_sk=50 g_sq=2 g_sk=80]": ("mixed", 1, 50, 2, 2, 130),
    "step[VERIFY bs=8]": ("verify", 0, 0, 8, None, None),
    "step[TARGET_VERIFY bs=8]": ("verify", 0, 0, 8, None, None),
    "step[DRAFT_EXTEND_V2 bs=8]": ("draft", None, None, None, None, None),
    "step[IDLE bs=0]": ("dummy", None, None, None, None, None),
    "decode[bs=117/128 tok=117 d=117]": ("decode", 0, 0, 117, 117, None),
    "decode[bs=4/8 tok=12 d=4 spec=2]": ("verify", 0, 0, 4, 12, None),
    "prefill[bs=2 tok=14721 ctx=[7803, 6918]]": ("prefill", 2, 14721, 0, 0, None),
    "[Executor] _forward_step 123: 2 ctx reqs, 30 gen reqs": ("mixed", 2, None, 30, None, None),
    "[Executor] _forward_step 9: 2 ctx reqs, 512 ctx tokens, 30 gen reqs": ("mixed", 2, 512, 30, None, None),
    # Texts that were cut mark a step of which nothing is known.
    "execute_context_1(20": ("unknown", None, None, None, None, None),
    "step[DECODE bs=6": ("decode", 0, 0, None, None, None),
}
WRONG = ("execute_model", "execute_new_x_cached_1", "execute_context_1(2048)_generation_7(7)!", "execute_new_99999999999999999999_cached_1", "step[REST bs=1]",
         "execute_context_-1(5)_generation_0(0)", "decode", "step")


def events_of(text, at):
    host = {"pid": 1, "tid": 1}
    found = [{"ph": "X", "cat": "user_annotation", "name": text, "ts": at, "dur": 90, **host}]
    for i in range(20):
        found.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at + 1 + 4 * i, "dur": 2, **host, "args": {"correlation": at + i + 1}})
        found.append({"ph": "X", "cat": "kernel", "name": f"gemm_{i}", "pid": 0, "tid": 7, "ts": at + 3 + 4 * i, "dur": 3,
                      "args": {"correlation": at + i + 1, "device": 0, "stream": 7}})
    return found


def iterations(folder, texts):
    events = [event for i, text in enumerate(texts) for event in events_of(text, 1000 * (i + 1))]
    file = folder / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    done = subprocess.run([BINARY, "report", file, "iterations", "--format", "json", "--limit", "0"], capture_output=True, text=True, check=True)
    return simulated.rows_of(json.loads(done.stdout))


def test_every_dialect(tmp_path):
    rows = iterations(tmp_path, list(TEXTS))
    names = ("phase", "prefill_requests", "prefill_tokens", "decode_requests", "decode_tokens", "kv_tokens")
    assert {row["annotation"]: tuple(row[name] for name in names) for row in rows} == TEXTS


@pytest.mark.parametrize("text", WRONG)
def test_other_texts_mark_nothing(tmp_path, text):
    assert iterations(tmp_path, [text, text]) == []


def test_simulated_servers():
    """All iterations and phases of a few programs are right, with ranges and without, and no verdict is confidently wrong."""
    total = collections.Counter()
    for i in range(8):
        _, counts, told, _ = simulated.one(BINARY, f"test/{i}")
        total += counts
        assert not any(counts[name] for name in counts if name.endswith(("confidently wrong", "ranges: wrong", "of training"))), told
    assert total["iterations with ranges: right"] == 8


SGLANG = "/sgl/python/sglang/srt/"
STEPS = {  # what SGLang's functions of one step are -> its phase
    "decode": (["managers/scheduler.py(1): get_next_batch_to_run", "managers/schedule_batch.py(2): prepare_for_decode"],
               ["model_executor/cuda_graph_runner.py(9): replay"]),
    "prefill": (["managers/scheduler.py(1): get_next_batch_to_run", "managers/schedule_batch.py(2): prepare_for_extend"],
                ["model_executor/model_runner.py(9): forward_extend"]),
    "mixed": (["managers/scheduler.py(1): get_next_batch_to_run", "managers/schedule_batch.py(2): prepare_for_extend",
               "managers/schedule_batch.py(3): prepare_for_decode", "managers/schedule_batch.py(4): mix_with_running"],
              ["model_executor/model_runner.py(9): forward_extend"]),
    "verify": (["managers/scheduler.py(1): get_next_batch_to_run", "managers/schedule_batch.py(2): prepare_for_decode"],
               ["speculative/eagle_worker.py(5): verify", "model_executor/cuda_graph_runner.py(9): replay"]),
    "dummy": (["managers/scheduler.py(1): get_next_batch_to_run", "managers/schedule_batch.py(2): prepare_for_idle"],
              ["model_executor/model_runner.py(9): forward_idle"]),
    "unknown": ([], ["model_executor/model_runner.py(9): forward_extend"]),  # with or without running requests
}


def test_phases_by_functions_of_sglang(tmp_path):
    events, at = [], 1000
    for before, inside in STEPS.values():
        for i, function in enumerate(before):
            events.append({"ph": "X", "cat": "python_function", "name": SGLANG + function, "pid": 1, "tid": 1, "ts": at - 40 + 5 * i, "dur": 4})
        events.append({"ph": "X", "cat": "python_function", "name": SGLANG + "managers/scheduler.py(7): run_batch", "pid": 1, "tid": 1, "ts": at, "dur": 90})
        for i, function in enumerate(inside):
            events.append({"ph": "X", "cat": "python_function", "name": SGLANG + function, "pid": 1, "tid": 1, "ts": at + 0.1 + 0.2 * i, "dur": 80 - i})
        events += [event for event in events_of("", at) if event["cat"] != "user_annotation"]
        at += 1000
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": events}))
    done = subprocess.run([BINARY, "report", file, "iterations", "--format", "json", "--limit", "0"], capture_output=True, text=True, check=True)
    rows = simulated.rows_of(json.loads(done.stdout))
    assert [(row["source"], row["phase"]) for row in rows] == [("frames", phase) for phase in STEPS]


@pytest.mark.parametrize("ahead", [False, True])
def test_steps_of_a_text_have_the_work_that_they_launched(program, tmp_path, ahead):
    """A host that runs ahead launches the work of a step before the device begins with it: the time of the range holds other steps' work."""
    engine = simulated.Engine("a text")
    engine.dialect, engine.ahead, engine.dummies, engine.collectives, engine.drafted, engine.host_sampling = "context", ahead, False, False, 0, False
    engine.run()
    (tmp_path / "trace.json").write_text(simulated.document(engine, True))
    found = program.report(tmp_path / "trace.json", "iterations", "steps", "--step-range", "execute_context_0(0)*")
    decoding = [row for row in found["iterations"].rows if row["annotation"].startswith("execute_context_0(0)")]
    assert decoding and len(decoding) < len(found["iterations"].rows)
    assert [row["step"] for row in found["steps"].rows] == [row["annotation"] for row in decoding]
    exactly = program.report(tmp_path / "trace.json", "steps", "--step-range", decoding[0]["annotation"])
    assert {row["step"] for row in exactly["steps"].rows} == {decoding[0]["annotation"]}
    refused = program.run("report", tmp_path / "trace.json", "steps", "--step-range", "execute_context_9*")
    assert refused.status == 2 and "no range or operator of this recording has this name" in refused.errors[0]


@pytest.mark.parametrize("waits", [True, False])
def test_a_step_cut_out_of_a_recording_does_not_blame_the_host_for_work_that_was_cut_out_too(program, tmp_path, waits):
    """The host runs ahead: after the first copy it waits 100 ms for the step before, of which nothing is in the file."""
    host = {"pid": 1, "tid": 1}
    events = [{"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=32]", "ts": 0, "dur": 100_400, **host},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "ts": 1, "dur": 5, **host, "args": {"correlation": 1}},
              {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "pid": 0, "tid": 7, "ts": 10, "dur": 2,
               "args": {"correlation": 1, "device": 0, "stream": 7, "bytes": 128}}]
    if waits:
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaStreamSynchronize", "ts": 20, "dur": 100_000, **host, "args": {"correlation": 2}})
    for i in range(40):
        at = 100_030 + 9 * i
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": at, "dur": 4, **host, "args": {"correlation": 10 + i}})
        events.append({"ph": "X", "cat": "kernel", "name": f"ampere_bf16_gemm_{i % 4}", "pid": 0, "tid": 7, "ts": at + 5, "dur": 8,
                       "args": {"correlation": 10 + i, "device": 0, "stream": 7}})
    (tmp_path / "trace.json").write_text(json.dumps({"deviceProperties": [simulated.DEVICE], "traceEvents": events}))
    found = program.report(tmp_path / "trace.json", "iterations", "phases")
    (step,), (phase,) = found["iterations"].rows, found["phases"].rows
    assert step["idle_ns"] > 100_000_000, "what the table of iterations defines stays"
    assert (phase["verdict"], phase["idle_inside_ns"] < 1_000_000) == (("memory bandwidth", True) if waits else ("host inside", False))
    assert any("whether the GPU was idle then is unknown" in note for table in found.document["tables"] for note in table["notes"]) == waits
