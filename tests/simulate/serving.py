#!/usr/bin/env python3
"""Simulated servers of language models, and how well `iterations`, `phases` and the verdict tell what they do.

    tests/simulate/serving.py BINARY [--programs 300] [--seed ANY] [--show]

Each program is an engine with its own model, batches, scheduler (synchronous or one step ahead), CUDA graphs (none, piecewise, full),
sampling (on the GPU or the host), chunked prompts, drafted tokens, idle data-parallel ranks that run dummy batches, and dialect of the
ranges that mark its steps. Each is judged with its ranges and without them. Each is run again with what `whatif` changes. The truth is computed here from what was simulated, by
the definitions and by other means than the program's: one nanosecond at a time is counted as busy or idle, not as intervals.
"""

import argparse
import collections
import concurrent.futures
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

US = 1000
PHASES = ("prefill", "decode", "mixed", "verify", "dummy", "empty")
VERDICTS = {"memory": {"memory-bandwidth-bound"}, "compute": {"compute-bound", "healthy"}, "communication": {"communication-bound"},
            "host between steps": {"launch-bound", "host-bound (other)", "synchronisation-bound"},
            "host inside": {"launch-bound", "host-bound (other)", "synchronisation-bound"}, "graph node gaps": {"underfilled"}, "underfilled": {"underfilled"},
            "copies": {"transfer-bound"}}
CLOSE, NEGLIGIBLE = 0.2, 0.02  # of a gain, and of a step: by which a predicted gain may miss the true one and be right
ATTENTION = "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128>>(...)"
DEVICE = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_017_624_576, "computeMajor": 9, "computeMinor": 0, "maxThreadsPerBlock": 1024,
          "maxThreadsPerMultiprocessor": 2048, "regsPerBlock": 65536, "warpSize": 32, "sharedMemPerBlock": 49152, "numSms": 132,
          "regsPerMultiprocessor": 65536, "sharedMemPerBlockOptin": 232448, "sharedMemPerMultiprocessor": 233472}


class Engine:
    """One worker. Times in ns; the host launches, the GPU works through one stream in order."""

    def __init__(self, seed, **changed):
        r = self.random = random.Random(f"serving/{seed}")
        self.seed, self.noise = seed, r
        self.events, self.ops, self.steps = [], [], []
        self.host, self.gpu, self.correlation = 1_000_000, 0, 100
        self.layers = r.randint(6, 24)
        self.mode = r.choice(["eager", "piecewise", "full", "full"])
        self.ahead = r.random() < 0.4
        self.host_sampling = r.random() < 0.25 and not self.ahead
        self.dialect = r.choice(["new", "context", "squares", "detailed", "sglang", "sglang detailed", "atom", "tensorrt"])
        self.chunk = r.choice([512, 2048, 8192])
        self.drafted = r.choice([0, 0, 0, 2, 3]) if self.dialect in ("context", "detailed", "sglang") else 0
        self.dummies = r.random() < 0.25
        self.collectives = r.random() < 0.25
        self.width = r.choice([4, 8])
        self.scheduling = r.choice([r.randint(30, 900), r.randint(900, 6000)]) * US
        self.launching = r.randint(3, 12) * US
        self.node_gap = r.choice([100, 300, 700, 2500])
        self.gemm, self.attention = r.randint(20, 120) * US, r.randint(4, 40) * US
        self.peak = r.choice([1, 2, 4, 8, 16, 32, 64])
        self.waits, self.gapless = True, False  # gapless: the host does nothing between two steps
        vars(self).update(changed)

    def span(self, cat, name, start, end, args=None):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 7, "tid": 7, "ts": start / 1000, "dur": (end - start) / 1000, "args": args or {}})

    def call(self, name, ns):
        self.correlation += 1
        self.span("cuda_runtime", name, self.host, self.host + ns, {"correlation": self.correlation})
        self.host += ns
        return self.correlation

    def op(self, kind, name, ns, bound, bytes=0, gap=900, graph=False, correlation=None):
        if correlation is None:
            call = {"kernel": "cudaLaunchKernel", "gpu_memcpy": "cudaMemcpyAsync"}[kind]
            correlation = self.call(call, self.launching)
        start = max(self.host + 1800, self.gpu + gap)
        ns = max(500, round(ns * self.noise.uniform(0.95, 1.05)))
        self.gpu = start + ns
        args = {"correlation": correlation, "device": 0, "context": 1, "stream": 7}
        args |= {"bytes": bytes} if bytes else {"grid": [self.blocks if name == ATTENTION else 264, 1, 1], "block": [256, 1, 1], "registers per thread": 64, "shared memory": 0}
        self.events.append({"ph": "X", "cat": kind, "name": name, "pid": 0, "tid": 7, "ts": start / 1000, "dur": ns / 1000, "args": args})
        self.ops.append((start, self.gpu, bound, graph, self.correlation, len(self.steps) - 1))

    def copy(self, kind, bytes):
        ends = {"HtoD": "Pinned -> Device", "DtoH": "Device -> Pinned"}[kind]
        self.op("gpu_memcpy", f"Memcpy {kind} ({ends})", 1500 + bytes / 25, "copies", bytes=bytes)

    def layer(self, tokens, one_each):
        """(name, ns, bound) of the kernels of a layer, those of attention apart. Each request of a decode step has 8 blocks in the kernel of attention."""
        scale = max(1.0, tokens / 300)
        self.blocks = 8 * tokens if one_each else 264
        filled = max(1.0, self.blocks / 264)
        bound = "memory" if tokens < 250 else "compute" if tokens > 700 else "either"
        products = [(f"nvjet_hsh_128x{64 * (1 + i)}_64x4_bf16_gemm", self.gemm * (1 + i / 2) * scale, bound) for i in range(3)]
        small = [("triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", 2500 * scale, "memory")]
        if self.collectives:
            small.append(("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", 18_000 * scale, "communication"))
        attention = [("void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(...)", 2500, "memory"),
                     (ATTENTION, self.attention * (filled if one_each else scale),
                      "memory" if one_each and self.blocks >= 132 else "underfilled" if one_each else "either")]
        return products + small, attention

    def forward(self, tokens, one_each):
        mode = self.mode if tokens <= 512 or self.mode == "eager" else "eager"
        if mode == "full" and not one_each:
            mode = "piecewise"
        plain, attention = self.layer(tokens, one_each)
        layer = plain + attention

        def graph(kernels):
            correlation = self.call("cudaGraphLaunch", self.launching * 3)
            for i, (name, ns, bound) in enumerate(kernels):
                self.op("kernel", name, ns, bound, gap=900 if i == 0 else self.node_gap, graph=True, correlation=correlation)

        if mode == "full":
            graph(layer * self.layers)
        for i in range(self.layers if mode != "full" else 0):
            if mode == "eager":
                for name, ns, bound in layer:
                    self.op("kernel", name, ns, bound)
                continue
            graph(plain)
            for name, ns, bound in attention:
                self.op("kernel", name, ns, bound)
        if mode == "piecewise":
            graph(plain[:2])
        return mode

    def text(self, phase, context, tokens, generation, generated):
        if self.dialect == "new":
            return f"execute_new_{context}_cached_{generation}"
        if self.dialect == "context":
            return f"execute_context_{context}({tokens})_generation_{generation}({generated})"
        if self.dialect == "squares":
            return f"execute_context_{context}({tokens}_{tokens * tokens})_generation_{generation}({generated}_{generated})"
        if self.dialect == "detailed":
            return (f"execute_{tokens + generated}_context_{context}(sq{tokens}sk{tokens}sqsq{tokens ** 2}sqsk{tokens ** 2})"
                    f"_generation_{generation}(sq{generated}sk{999}sqsq{generated}sqsk{999})")
        if self.dialect == "tensorrt":
            return f"[Executor] _forward_step {len(self.steps)}: {context} ctx reqs, {generation} gen reqs"
        if self.dialect == "atom":
            if phase == "decode":
                return f"decode[bs={generation}/{generation + 3} tok={generated} d={generated}]"
            return f"prefill[bs={context} tok={tokens} ctx={[tokens] * context}]" if phase == "prefill" else ""
        mode = {"prefill": "EXTEND", "decode": "DECODE", "mixed": "MIXED", "verify": "VERIFY"}[phase]
        toks = f" toks={tokens}" if phase == "prefill" else ""
        more = f" c={context} g={generation} c_sq={tokens} g_sq={generated}" if self.dialect == "sglang detailed" and phase == "mixed" else ""
        return f"step[{mode} bs={context + generation}{toks}{more}]"

    def step(self, context, tokens, generation, generated):
        if self.dialect == "atom" and context and generation:
            context = tokens = 0
        if not context and not generation:
            return
        phase = "mixed" if context and generation else "prefill" if context else "verify" if generated > generation else "decode"
        rows = context + generation
        known = {"new": (True, False), "tensorrt": (True, False)}.get(self.dialect, (True, True))
        if self.dialect in ("sglang", "sglang detailed") and phase == "mixed":
            known = (self.dialect == "sglang detailed",) * 2
        start = self.begin_step()
        self.steps.append({"phase": phase, "context": context, "tokens": tokens, "generation": generation, "generated": generated, "start": start,
                           "known": known})
        total = tokens + generated
        for size in (16 * rows, 1028, 1024, 4 * total, 8 * total):
            self.copy("HtoD", size)
        self.op("kernel", "void at::native::index_elementwise_kernel<128, 4>(...)", 2000, "memory")
        self.forward(total, phase == "decode")
        self.span("user_annotation", self.text(phase, context, tokens, generation, generated), start, self.host)
        self.steps[-1]["end"] = self.host
        for i in range(self.noise.randint(3, 6)):
            self.op("kernel", f"void at::native::sampling_kernel_{i}<float>(...)", 6000, "unknown")
        if self.host_sampling:
            self.copy("DtoH", rows * 4 * 32_000)
            self.wait(self.gpu)
            self.host += rows * 40 * US
            self.copy("HtoD", rows * 8)
        self.copy("DtoH", self.width * rows)
        self.steps[-1]["done"] = self.gpu
        if self.gapless:
            return
        if not self.ahead:
            self.result_wait(self.gpu)
        elif len(self.steps) > 1 and "done" in self.steps[-2]:
            self.result_wait(self.steps[-2]["done"])
        self.host += 20 * US

    def begin_step(self):
        """Scheduling. Each step has the same noise, whatever was changed in others."""
        self.host += 0 if self.gapless else self.scheduling
        self.noise = random.Random(f"serving/{self.seed}/{len(self.steps)}")
        return self.host

    def result_wait(self, until):
        if self.waits:
            self.wait(until)

    def wait(self, until):
        begin, end = self.host, max(self.host + 2 * US, until + 4 * US)
        self.span("cuda_runtime", "cudaEventSynchronize", begin, end, {"correlation": 0})
        self.host = end

    def dummy(self):
        """What an idle rank runs: no range, no result; a Python function says what it is."""
        start = self.begin_step()
        self.steps.append({"phase": "dummy", "context": 0, "tokens": 0, "generation": 0, "generated": 0, "start": start, "known": (False, False)})
        self.forward(1, True)
        self.span("python_function", "vllm/v1/worker/gpu_worker.py(700): execute_dummy_batch", start, self.host)
        self.steps[-1]["done"] = self.gpu
        self.result_wait(self.gpu)
        self.steps[-1]["end"] = self.host

    def run(self):
        r, peak = self.random, self.peak
        # vLLM's first text says nothing of chunks: a prompt is one step in it.
        waiting = [r.randint(5, 3000) for _ in range(peak)]
        chunked = self.dialect in ("context", "squares", "detailed", "sglang detailed")
        running = 0
        for _ in range(r.randint(12, 40)):
            budget, context, tokens = (self.chunk if chunked else 1 << 30) - running, 0, 0
            done = 0
            while waiting and budget > 0 and context < 4:
                part = min(budget, waiting[0])
                context, tokens, budget = context + 1, tokens + part, budget - part
                if part == waiting[0]:
                    waiting.pop(0)
                    done += 1
                else:
                    waiting[0] -= part
                    break
            if self.dummies and r.random() < 0.15:
                self.dummy()
            self.step(context, tokens, running, running * (1 + self.drafted))
            running = min(peak, running + done) if self.dialect != "atom" or not running else running + done
            if running == peak and r.random() < 0.03:
                running, waiting = running - 1, [*waiting, r.randint(5, 900)]
        return self

    def truth(self):
        """Per step: wall, idle, own busy time, ops; and of each phase the parts of its wall time."""
        ops = collections.defaultdict(list)
        for op in self.ops:
            ops[op[5]].append(op)
        edges = sorted(self.ops)
        rows, last = [], None
        for i, step in enumerate(self.steps):
            mine = ops[i]
            begin, end = min(op[0] for op in mine), max(op[1] for op in mine)
            since = begin if last is None else last
            busy = sum(min(op[1], end) - max(op[0], since) for op in edges if op[1] > since and op[0] < end)  # one stream: ops never overlap
            parts = collections.Counter()
            for op in mine:
                parts[op[2]] += op[1] - op[0]
            idle = end - since - busy
            parts["host between steps"] = max(0, begin - since)
            parts["graph node gaps"] = sum(b[0] - a[1] for a, b in zip(mine, mine[1:]) if a[3] and b[3] and a[4] == b[4])
            parts["host inside"] = idle - parts["host between steps"] - parts["graph node gaps"]
            rows.append({**step, "wall": end - since, "idle": idle, "busy": sum(op[1] - op[0] for op in mine), "ops": len(mine),
                         "graph_ops": sum(op[3] for op in mine), "parts": parts})
            last = end
        return rows


def document(engine, ranges):
    names = [{"ph": "M", "name": "process_name", "pid": 7, "tid": 7, "args": {"name": "VLLM::EngineCore"}}]
    events = [e for e in engine.events if ranges or e["cat"] not in ("user_annotation", "python_function")]
    return json.dumps({"schemaVersion": 1, "deviceProperties": [DEVICE], "traceEvents": names + events})


def asked(binary, text, *words):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run([binary, "report", file.name, *words, "--format", "json", "--limit", "0"], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-300:])
    return json.loads(done.stdout)


def rows_of(found):
    table = found["tables"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) if isinstance(row, list) else row for row in table["rows"]]


def wrong_iterations(rows, truth, ranges):
    """What iterations say that is not so. Without ranges, they may be unknown."""
    wrong = []
    if not ranges:
        truth = [step for step in truth]
        if not rows:
            return [], True
    if len(rows) != len(truth):
        return [f"{len(rows)} iterations, true {len(truth)}"], False
    for i, (row, step) in enumerate(zip(rows, truth)):
        if row["phase"] not in (step["phase"], "unknown"):
            wrong.append(f"{i}: {row['phase']}, true {step['phase']}")
        for name, true in (("wall_ns", "wall"), ("idle_ns", "idle"), ("own_busy_ns", "busy"), ("graph_ops", "graph_ops")):
            if row[name] is not None and abs(row[name] - step[true]) > 0:
                wrong.append(f"{i}: {name} {row[name]}, true {step[true]}")
        for name, true in (("prefill_requests", "context"), ("decode_requests", "generation"), ("prefill_tokens", "tokens"), ("decode_tokens", "generated")):
            if row.get(name) is not None and row[name] != step[true]:
                wrong.append(f"{i}: {name} {row[name]}, true {step[true]}")
        if ranges and step["phase"] != "dummy" and row["phase"] == "unknown" and step["known"][1]:
            wrong.append(f"{i}: unknown, true {step['phase']}")
    return wrong, False


def acceptable(parts):
    """The parts that a careful person could name: near the largest, with what may be either counted for both."""
    sums = collections.Counter(parts)
    either = sums.pop("either", 0)
    most = max(sums.values())
    return {name for name in {*sums, "compute", "memory"} if sums[name] + (either if name in ("compute", "memory") else 0) >= 0.8 * most and
            sums[name] + either > 0}


def judged_phases(rows, truth):
    """right, wrong or confidently wrong for each phase of the whole recording."""
    counts, told = collections.Counter(), []
    names = {"memory bandwidth": "memory"}
    for row in rows:
        steps = [step for step in truth if step["phase"] == row["phase"]]
        if row["part"] != "all" or not steps or row["verdict"] is None:
            continue
        parts = sum((step["parts"] for step in steps), collections.Counter())
        said = names.get(row["verdict"], row["verdict"])
        kind = "right" if said in acceptable(parts) else "wrong" if row["verdict_pct"] < 30 or said == "unknown" else "confidently wrong"
        counts[kind] += 1
        if kind != "right":
            told.append(f"{row['phase']}: {said} {row['verdict_pct']:.0f} %, true {parts.most_common(3)}")
    return counts, told


def step_of(engine):
    """ns from the end of the first step to that of the last, for each."""
    return (engine.steps[-1]["done"] - engine.steps[0]["done"]) / (len(engine.steps) - 1)


def judged_gains(binary, seed, engine, text):
    """The steps that `whatif` predicts, against the same program run again with the change made."""
    changes = {"between-steps": {"gapless": True, "waits": False}, "waits": {"waits": False}}
    if engine.host_sampling:
        changes["device-sampling"] = {"host_sampling": False}
    counts, told = collections.Counter(), []
    recorded = step_of(engine)
    document = asked(binary, text, "whatif", "--changes", ";".join(changes), "--whole")
    rows = {row["change"]: row for row in rows_of(document) if row["kind"] == "single"}
    for change, made in changes.items():
        row = rows.get(change)
        true = step_of(Engine(seed, **made).run())
        if row is None:
            counts[f"gain of {change}: " + ("right" if abs(recorded - true) < NEGLIGIBLE * recorded else "unknown")] += 1
            if abs(recorded - true) >= NEGLIGIBLE * recorded:
                told.append(f"{change}: unknown, true {100 * (1 - true / recorded):.1f} %: {document['tables'][0]['notes'][:1]}")
            continue
        saved = row["step_ns"] * row["gain_pct"] / (100 - row["gain_pct"])
        off = abs(saved - (recorded - true))
        ranges = row["gain_low_pct"] <= 100 * (1 - true / recorded) <= row["gain_high_pct"]
        right = off <= max(CLOSE * (recorded - true), NEGLIGIBLE * recorded)
        below = row["step_ns"] < row["floor_ns"]
        kind = "confidently wrong" if below else "right" if right else "in its range" if ranges else "confidently wrong"
        counts[f"gain of {change}: {kind}"] += 1
        if kind != "right":
            told.append(f"{change}: {row['gain_pct']:.1f} % ({row['gain_low_pct']:.1f} to {row['gain_high_pct']:.1f}, {row['confidence']}), "
                        f"true {100 * (1 - true / recorded):.1f} % of {recorded / US:.0f} us")
    return counts, told


def decoded(truth):
    """Output tokens per second of decode steps, the median, and the mean number of requests in them. What else is in a recording, such as dummy
    batches and the waits after them, is not twice as much with twice the requests."""
    steps = [step for step in truth if step["phase"] == "decode"]
    return (statistics.median(1e9 * step["generation"] / step["wall"] for step in steps), statistics.mean(step["generation"] for step in steps)) if steps else (0, 0)


def judged_batches(seed, truth, engine, rows):
    """Tokens per second with twice the requests: of the same program with twice the requests, where its decode steps have twice as many."""
    row = next((row for row in rows if row["part"] == "all" and row["phase"] == "decode"), None)
    if row is None:
        return {}, []
    rate, requests = decoded(truth)
    twice, more = decoded(Engine(seed, peak=2 * engine.peak).run().truth())
    if row["twice_low_tokens_per_s"] is None or not 1.9 <= more / requests <= 2.1:
        return {"larger batch: unknown": 1}, []
    twice *= 2 * requests / more
    low, high = (row[f"twice_{end}_tokens_per_s"] * rate / row["output_tokens_per_s"] for end in ("low", "high"))
    kind = "right" if 0.95 * low <= twice <= 1.05 * high else "confidently wrong"
    return {f"larger batch: {kind}": 1}, [] if kind == "right" else [f"larger batch: {low:.0f} to {high:.0f} tokens/s, true {twice:.0f}, now {rate:.0f}"]


def one(binary, seed):
    engine = Engine(seed).run()
    truth = engine.truth()
    told, counts = [], collections.Counter()
    for ranges in (True, False):
        # Without ranges and Python functions nothing tells dummy batches, drafts or host sampling from other work.
        if not ranges and (engine.dummies or engine.drafted):
            continue
        text = document(engine, ranges)
        wrong, abstains = wrong_iterations(rows_of(asked(binary, text, "iterations")), truth, ranges)
        label = "with ranges" if ranges else "without ranges"
        counts[f"iterations {label}: " + ("wrong" if wrong else "unknown" if abstains else "right")] += 1
        told += [f"{label}: {each}" for each in wrong[:4]]
        if not ranges:
            continue
        found, said = judged_gains(binary, seed, engine, text)
        counts.update(found)
        told += said
        phases = rows_of(asked(binary, text, "phases"))
        found, said = judged_batches(seed, truth, engine, phases)
        counts.update(found)
        told += said
        found, said = judged_phases(phases, truth)
        counts.update({f"phases: {kind}": number for kind, number in found.items()})
        told += said
        answer = asked(binary, text)
        verdict = answer["verdict"]
        steady = sum((step["parts"] for step in truth), collections.Counter())
        decode = sum((step["parts"] for step in truth if step["phase"] in ("decode", "verify")), collections.Counter())
        for parts in (steady, decode):  # a verdict about the host does not say where in the step
            parts["host inside"] += parts.pop("host between steps", 0)
        fine = set().union(*(VERDICTS.get(name, set()) for parts in (steady, decode) if parts for name in acceptable(parts)))
        kind = "right" if verdict["name"] in fine else "abstains" if verdict["name"] in ("cannot tell", "mixed") else \
            "wrong" if (verdict.get("share_pct") or 0) < 30 else "confidently wrong"
        counts[f"verdict: {kind}"] += 1
        if kind not in ("right", "abstains"):
            told.append(f"verdict {verdict['name']} {verdict.get('share_pct')} %, true {steady.most_common(3)}, decode {decode.most_common(2)}")
        advice = json.dumps([finding["remedy"] for finding in answer["findings"]])
        counts["advice: " + ("of training" if any(word in advice for word in ("DataLoader", "FSDP", "DDP", "optimizer")) else "of servers")] += 1
    about = f"{engine.dialect}, {engine.mode}, {'ahead' if engine.ahead else 'synchronous'}{', host sampling' if engine.host_sampling else ''}"
    return seed, counts, told, about


def main():
    parser = argparse.ArgumentParser(description="Holds iterations, phases and verdicts against simulated servers.")
    parser.add_argument("binary", type=Path)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    total = collections.Counter()
    seeds = [f"{options.seed}/{i}" for i in range(options.programs)]
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        for seed, counts, told, about in pool.map(one, [str(options.binary.resolve())] * len(seeds), seeds, chunksize=4):
            total += counts
            if told and options.show:
                print(f"{seed} ({about}):", *told, sep="\n    ")
    for name in sorted(total):
        print(f"{name:40} {total[name]:5}")
    return 1 if any(total[name] for name in total if name.endswith(("confidently wrong", "ranges: wrong", "of training"))) else 0


if __name__ == "__main__":
    sys.exit(main())
