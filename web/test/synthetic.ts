// A generated recording of about N events, shaped like training: steps of operators, calls, kernels on two streams,
// copies, pauses for input, eight counters. The same N gives the same document.

import { buildDocument, type Event, type LaneInput, type BuiltDocument } from "./document.ts";

/** A small reproducible generator of numbers in [0, 1). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const KERNELS = [
  "sm90_xmma_gemm_bf16", "vectorized_elementwise_kernel", "layer_norm", "softmax_warp_forward", "flash_fwd_kernel",
  "reduce_kernel", "cat_array", "ncclDevKernel_AllReduce",
];

const COUNTERS = ["sm active", "tensor active", "dram read", "dram write", "pcie", "warps", "l2 hit"];

export function synthetic(events: number): BuiltDocument {
  const random = generator(7);
  const launches = Math.max(1, Math.round(events / 4));
  const lists: Record<"steps" | "ops" | "calls" | "main" | "copy" | "busy" | "input" | "launch", Event[]> = {
    steps: [], ops: [], calls: [], main: [], copy: [], busy: [], input: [], launch: [],
  };
  let host = 1000;
  let device = 5000;
  for (let i = 0; i < launches; i++) {
    if (i % 500 === 0) {
      lists.steps.push({ start: host, dur: 0, name: `step ${i / 500}`, row: i / 500 });
      host += 2_000_000;
      lists.copy.push({ start: host, dur: 150_000, name: "HtoD", row: lists.copy.length });
    }
    const dur = 4000 + Math.floor(random() * 3000);
    lists.ops.push({ start: host, dur: dur + 1500, name: `aten::op_${i % 60}`, row: i });
    lists.calls.push({ start: host + 1000, dur: dur - 1500, name: "cudaLaunchKernel", row: i });
    const arrival = host + dur + 2000;
    if (arrival > device) {
      const cause = arrival - device > 500_000 ? lists.input : lists.launch;
      cause.push({ start: device, dur: arrival - device, row: lists.input.length + lists.launch.length });
      device = arrival;
    }
    const length = 500 + Math.floor(random() * random() * 18_000);
    lists.main.push({ start: device, dur: length, name: KERNELS[Math.floor(random() * KERNELS.length)]!, row: i });
    lists.busy.push({ start: device, dur: length });
    device += length;
    host += dur + 1800;
    if (i % 500 === 499) host = Math.max(host, device);
    const step = lists.steps[lists.steps.length - 1]!;
    step.dur = Math.max(host - step.start, 0);
  }
  const window_ns = Math.max(host, device) + 1000;
  const power: [number, number][] = [];
  for (let t = 0; t < window_ns; t += Math.max(100_000, Math.floor(window_ns / 8000)))
    power.push([t, 300 + 200 * Math.sin(t / 3e6) + 40 * random()]);
  const lane = (track: number, table: string, events: Event[], more: Partial<LaneInput> = {}): LaneInput =>
    ({ track, table, events, ...more });
  return buildDocument({
    window_ns,
    file: `synthetic-${events}.json`,
    tracks: [
      { parent: -1, kind: "process", name: "python train.py" },
      { parent: 0, kind: "thread", name: "thread 1 (main)" },
      { parent: -1, kind: "device", name: "GPU 0: synthetic", device: 0 },
      { parent: 2, kind: "busy", name: "busy", device: 0 },
      { parent: 2, kind: "idle", name: "idle", device: 0 },
      { parent: 2, kind: "stream", name: "stream 7", device: 0 },
      { parent: 2, kind: "stream", name: "stream 13 (copies)", device: 0 },
      { parent: 2, kind: "counter", name: "power", device: 0 },
      ...COUNTERS.map((name) => ({ parent: 2, kind: "counter", name, device: 0 })),
    ],
    lanes: [
      lane(1, "range", lists.steps),
      lane(1, "op", lists.ops, { y: 1 }),
      lane(1, "api_call", lists.calls, { y: 2 }),
      lane(5, "kernel", lists.main),
      lane(6, "memcpy", lists.copy),
      lane(3, "busy", lists.busy, { label: "busy" }),
      lane(4, "gap", lists.input, { label: "input pipeline" }),
      lane(4, "gap", lists.launch, { label: "launch" }),
      { track: 7, table: "sample", kind: "value", unit: "W", label: "power", values: power },
      ...COUNTERS.map((label, i): LaneInput => ({
        track: 8 + i, table: "sample", kind: "value", unit: "%", label,
        values: power.map(([t, v]) => [t, (v * (i + 1)) % 100]),
      })),
    ],
    tables: [],
  });
}
