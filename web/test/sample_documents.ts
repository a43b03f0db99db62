// Documents for the browser: `drawn`, small enough to count by eye; `counters`, the same with counters of kernels;
// `hostile`, with names that try to be markup; `synthetic`, with any number of events, for the benchmark.

import { buildDocument, columnsOf, type BuiltDocument, type DocumentInput } from "./document.ts";
import { synthetic } from "./synthetic.ts";
export { pageWith } from "./document.ts";

const US = 1000;

const kernels = [
  { start: 20 * US, dur: 10 * US, name: "void gemm<128, float>(float*, int)", row: 0, frame: 5 },
  { start: 50 * US, dur: 10 * US, name: "relu", row: 1, frame: 6 },
  { start: 90 * US, dur: 10 * US, name: "void gemm<128, float>(float*, int)", row: 2, frame: 7 },
];
const copies = [{ start: 25 * US, dur: 15 * US, name: "HtoD", row: 0, frame: 8, bytes: 1 << 20 }];
const callFrames = [3, 4, 4];
const calls = [10, 44, 80].map((at, row) => {
  return { start: at * US, dur: 2 * US, name: "cudaLaunchKernel", row, frame: callFrames[row]! };
});
const lasts = (...events: [from: number, dur: number][]) =>
  events.map(([from, dur]) => ({ start: from * US, dur: dur * US }));

const FRAMES: NonNullable<DocumentInput["frames"]> = [
  { name: "main" },
  { parent: 0, table: "range", name: "step 1" },
  { parent: 1, table: "op", name: "aten::mm" },
  { parent: 2, table: "api_call", name: "cudaLaunchKernel" },
  { parent: 1, table: "api_call", name: "cudaLaunchKernel" },
  { parent: 3, table: "kernel", name: "void gemm<128, float>(float*, int)" },
  { parent: 4, table: "kernel", name: "relu" },
  { parent: 4, table: "kernel", name: "void gemm<128, float>(float*, int)" },
  { table: "memcpy", name: "HtoD" },
  { parent: 0, table: "gap", name: "input pipeline" },
  { parent: 1, table: "gap", name: "input pipeline" },
  { parent: 1, table: "gap", name: "launch" },
];

// Host code to 44, the launch of relu to 46, its latency and run to 60, host code to 80, a launch, a gap, gemm.
const PATH: NonNullable<DocumentInput["critical_path"]> = {
  parts: [
    { part: "kernel", total_ns: 20 * US, share_pct: 25 }, { part: "host code", total_ns: 44 * US, share_pct: 55 },
    { part: "launch call", total_ns: 4 * US, share_pct: 5 }, { part: "gap", total_ns: 12 * US, share_pct: 15 },
  ],
  lanes: [
    { track: 5, table: "critical_path", label: "kernel", events: lasts([50, 10], [90, 10]) },
    { track: 1, table: "critical_path", label: "host code", events: lasts([20, 24], [60, 20]) },
    { track: 1, y: 2, table: "critical_path", label: "launch call", events: lasts([44, 2], [80, 2]) },
    { track: 5, table: "critical_path", label: "gap", events: lasts([46, 4], [82, 8]) },
  ],
};

const time = (name: string, values: number[]) => ({ name, type: "time" as const, unit: "ns", doc: "Start.", values });
const dur = (values: number[]) =>
  ({ name: "dur", type: "dur" as const, unit: "ns", doc: "End minus start.", values });
const text = (name: string, values: string[]) => ({ name, type: "string" as const, doc: "", values });
const number = (name: string, values: (number | null)[]) => ({ name, type: "i64" as const, doc: "", values });
const one = (from: number, length: number, name: string, lane: number) =>
  [time("start", [from * US]), dur([length * US]), text("name", [name]), number("lane", [lane])];

const TABLES: NonNullable<DocumentInput["tables"]> = [
  {
    name: "kernel", doc: "One execution of a kernel on a device.",
    columns: [
      time("start", kernels.map((k) => k.start)), dur(kernels.map((k) => k.dur)),
      text("name", kernels.map((k) => k.name)), number("grid_x", [64, null, 64]), number("launch", [0, 1, 2]),
      number("lane", [3, 3, 3]),
    ],
  },
  {
    name: "memcpy",
    columns: [
      time("start", [25 * US]), dur([15 * US]), text("kind", ["HtoD"]),
      { ...number("bytes", [1 << 20]), unit: "bytes" }, number("lane", [4]),
    ],
  },
  {
    name: "api_call",
    columns: [
      time("start", calls.map((c) => c.start)), dur(calls.map((c) => c.dur)),
      text("name", calls.map((c) => c.name)), text("work_table", ["kernel", "kernel", "kernel"]),
      number("work_row", [0, 1, 2]), number("work_count", [1, 1, 1]), number("lane", [2, 2, 2]),
    ],
  },
  { name: "op", columns: one(8, 8, "aten::mm", 1) },
  { name: "range", columns: one(5, 90, "step 1", 0) },
  {
    name: "gap",
    columns: [
      time("start", [0, 40 * US, 60 * US]), dur([20 * US, 10 * US, 30 * US]),
      text("cause", ["input pipeline", "launch", "input pipeline"]),
    ],
  },
];

/** One thread, one device, two streams; 100 us, in which the device is busy in [20,40) + [50,60) + [90,100). */
export function drawnInput(): DocumentInput {
  const power: [number, number][] = [[0, 100], [20 * US, 400], [60 * US, 150]];
  return {
    window_ns: 100 * US,
    tracks: [
      { parent: -1, kind: "process", name: "train.py 4711" },
      { parent: 0, kind: "thread", name: "main" },
      { parent: -1, kind: "device", name: "GPU 0: drawn", device: 0 },
      { parent: 2, kind: "busy", name: "busy", device: 0 },
      { parent: 2, kind: "idle", name: "idle", device: 0 },
      { parent: 2, kind: "stream", name: "stream 7", device: 0 },
      { parent: 2, kind: "stream", name: "stream 13", device: 0 },
      { parent: 2, kind: "counter", name: "power", device: 0 },
    ],
    lanes: [
      { track: 1, y: 0, table: "range", events: [{ start: 5 * US, dur: 90 * US, name: "step 1", row: 0, frame: 1 }] },
      { track: 1, y: 1, table: "op", events: [{ start: 8 * US, dur: 8 * US, name: "aten::mm", row: 0, frame: 2 }] },
      { track: 1, y: 2, table: "api_call", events: calls },
      { track: 5, table: "kernel", events: kernels },
      { track: 6, table: "memcpy", events: copies },
      { track: 3, table: "busy", label: "busy", events: lasts([20, 20], [50, 10], [90, 10]) },
      {
        track: 4, table: "gap", label: "input pipeline",
        events: [{ start: 0, dur: 20 * US, row: 0, frame: 9 }, { start: 60 * US, dur: 20 * US, row: 2, frame: 10 }],
      },
      {
        track: 4, table: "gap", label: "launch",
        events: [
          { start: 40 * US, dur: 10 * US, row: 1, frame: 11 }, { start: 80 * US, dur: 10 * US, row: 2, frame: 11 },
        ],
      },
      { track: 7, table: "sample", kind: "value", unit: "W", label: "power", values: power },
    ],
    frames: FRAMES,
    tables: TABLES,
    critical_path: PATH,
    pictures: { slices: 10, devices: [{ device: 0, busy: [0, 0, 1, 1, 0, 1, 0, 0, 0, 1] }] },
  };
}

const drawn = (): BuiltDocument => buildDocument(drawnInput());

const ATTACK = `</script><script>document.title="owned"</script><img src=x onerror="document.title='owned'">`;

function hostile(): BuiltDocument {
  const built = drawn();
  const again = buildDocument({
    window_ns: 1000,
    file: ATTACK,
    tracks: [{ parent: -1, kind: ATTACK, name: ATTACK }],
    lanes: [
      { track: 0, table: "kernel", label: ATTACK, events: [{ start: 0, dur: 900, name: ATTACK, row: 0 }] },
      { track: 0, y: 1, table: ATTACK, kind: "slice", label: ATTACK, events: [{ start: 0, dur: 500, row: 0 }] },
    ],
    tables: [
      {
        name: "kernel", doc: ATTACK,
        columns: [
          { name: "start", type: "time", unit: ATTACK, doc: ATTACK, values: [0] },
          { name: "dur", type: "dur", values: [900] }, { name: "name", type: "string", values: [ATTACK] },
          { name: ATTACK, type: "string", values: [ATTACK] }, { name: "lane", type: "i32", values: [0] },
        ],
      },
    ],
    report: {
      trust: [{ warning: true, text: ATTACK }], tables: [],
      findings: [{ id: "1", title: ATTACK, evidence: [ATTACK], remedy: ATTACK, severity: ATTACK }],
      verdict: { name: ATTACK, because: ATTACK, alternatives: [] },
    },
  });
  return { ...built, ...again };
}

function table(name: string, columns: string, rows: unknown[][]) {
  const handle_prefix = name === "kernels" ? "k" : null;
  return { name, handle_prefix, columns: columnsOf(columns), row_count: rows.length, rows, notes: [] };
}

const ROOFLINE =
  "kernel name precision level flop_per_byte:real flop_per_s:real roof_flop_per_s:real of_roof_pct:real " +
  "peak_flop_per_s:real bytes_per_s:real peak_bytes_per_s:real launch:integer";
const CURVES =
  "kernel name resource value:integer occupancy_pct:real:% limiter blocks_per_sm:integer own:boolean raised_by " +
  "launch:integer";
const SOURCE = "name file line:integer samples:integer text kernel_pct:real:% sectors:integer device:integer";
const LINE_STALLS = "name file line:integer reason samples:integer share_pct:real:% waits_for device:integer";
const METRICS = "launch:integer kernel section metric value:real unit vendor_name";
const LIMITS =
  "kernel name blocks:integer threads:integer launches:integer total_ns:integer:ns share_pct:real:% limit " +
  "compute_pct:real:% memory_pct:real:% because launch:integer";
const ADVICE =
  "kernel name rule kind gain_pct:real:% title evidence remedy confidence would_change_if launch:integer";
const STALLS = "kernel name reason share_pct:real:% cycles:real waits_for basis launch:integer";
const TOOL_ADVICE = "launch:integer rule kind gain_kind gain_pct:real:% section text";

const RELU_METRICS: [string, number, string][] = [
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 65536, "sector"],
  ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", 16384, ""],
  ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", 0, "sector"],
  ["lts__t_sector_hit_rate.pct", 25, "%"],
  ["lts__throughput.avg.pct_of_peak_sustained_elapsed", 33.3, "%"],
  ["dram__bytes_read.sum", 2 ** 20, "byte"],
  ["dram__bytes.sum.per_second", 2e12, "byte/s"],
  ["dram__bytes.sum.peak_sustained", 1000, "byte/cycle"],
  ["dram__cycles_elapsed.avg.per_second", 4e9, "hz"],
  ["sm__maximum_warps_per_active_cycle_pct", 50, "%"],
  ["launch__occupancy_limit_registers", 4, "block"],
  ["launch__occupancy_limit_warps", 8, "block"],
];

/** The drawn recording with counters of relu, in two shapes, and of a kernel that is not on the timeline. The second
    shape has few counters, the third none; the advice of a tool tries to be markup. A fourth has samples only. */
function counters(): BuiltDocument {
  const because = "DRAM-bound: device memory is busy 71 % of its peak";
  const dramAdvice = [
    "k-2", "relu", "dram-bound", "limit", 23.1, "Device memory is busy 71 % of its peak",
    "1 MiB read; L2 has 25 % of the sectors", "Move fewer bytes.", "high", "the clock was lower", 7,
  ];
  return buildDocument({
    ...drawnInput(),
    report: {
      trust: [],
      findings: [],
      verdict: { name: "launch-bound", because: "see k-1 and k-2", alternatives: [] },
      tables: [
        table("kernels", "name count:integer total_ns:integer:ns", [
          ["void gemm<128, float>(float*, int)", 2, 20_000],
          ["relu", 1, 10_000],
        ]),
        table("limits", LIMITS, [
          ["k-2", "relu", 64, 128, 3, 24_000, 60, "DRAM-bound", 20, 71, because, 7],
          ["k-2", "relu", 1, 128, 1, 12_000, 30, "cannot tell", null, null, "cannot tell: too few counters", 9],
          ["k-3", "softmax", 1, 32, 1, 4000, 10, "cannot tell", null, null, "cannot tell: too few counters", 11],
        ]),
        table("arithmetic", "name shapes math flop_per_byte:real flop_per_s:real device_ns:real", [
          ["aten::mm", "8x8", "FP32", 4, 3e12, 10_000],
        ]),
      ],
    },
    kernels: [
      {
        tables: [
          table("advice", ADVICE, [dramAdvice]),
          table("stalls", STALLS, [
            ["k-2", "relu", "long_scoreboard", 80, 16.5, "data of a load", "counters", 7],
            ["k-2", "relu", "wait", 19.5, 4, "a fixed latency", "counters", 7],
            ["k-2", "relu", "drain", 0.5, 0.1, "stores to finish", "counters", 7],
          ]),
          table("occupancy_curves", CURVES, [
            ["k-2", "relu", "threads", 64, 25, "blocks", 8, false, null, 7],
            ["k-2", "relu", "threads", 128, 50, "registers", 4, true, "blocks of 64 threads: 75.0 %", 7],
            ["k-2", "relu", "threads", 256, 50, "registers", 4, false, null, 7],
            ["k-2", "relu", "registers", 32, 50, "registers", 4, true, null, 7],
            ["k-2", "relu", "registers", 64, null, "block too large", 0, false, null, 7],
          ]),
          table("source", SOURCE, [
            ["relu", "/src/relu.cu", 9, 90, "y[i] = max(x[i], 0.f);", 90, 4096, 0],
            ["relu", "/src/relu.cu", 7, 10, null, 10, null, 0],
            ["relu", null, null, null, null, null, 512, 0],
          ]),
          table("line_stalls", LINE_STALLS, [
            ["relu", "/src/relu.cu", 9, "long_scoreboard", 60, 66.7, "data of a load", 0],
            ["relu", "/src/relu.cu", 9, "selected", 30, 33.3, "nothing", 0],
            ["relu", "/src/relu.cu", 7, "wait", 10, 100, "a fixed latency", 0],
          ]),
          table("roofline", ROOFLINE, [
            ["k-2", "relu", "FP32", "DRAM", 0.25, 0.5e12, 1e12, 50, 6e13, 2e12, 4e12, 7],
            ["k-2", "relu", "FP32", "L2", 0.125, 0.5e12, 1.25e12, 40, 6e13, 4e12, 1e13, 7],
          ]),
          table("metrics", METRICS, RELU_METRICS.map(([name, ...rest]) => [7, "k-2", "memory", name, ...rest, name])),
          table("tool_advice", TOOL_ADVICE, [[7, "SOLBottleneck", "OPT", "local", 12.5, "SpeedOfLight", ATTACK]]),
        ],
      },
      { tables: [table("metrics", METRICS, [[9, "k-2", "launch", "Block Size", 128, "", "launch__block_size"]])] },
      { tables: [] },
      {
        tables: [
          table("source", SOURCE, [["scan", "/src/scan.cu", 3, 50, null, 100, null, 0]]),
          table("line_stalls", LINE_STALLS, [["scan", "/src/scan.cu", 3, "barrier", 50, 100, "other warps", 0]]),
        ],
      },
    ],
    sampled: [
      { name: "relu", samples: 100, share_pct: 66.7, kernel: 0, timeline: "relu" },
      { name: "scan", samples: 50, share_pct: 33.3, kernel: 3, timeline: "void gemm<128, float>(float*, int)" },
    ],
  });
}

export const SAMPLES: Record<string, (argument?: string) => BuiltDocument> = {
  drawn,
  hostile,
  counters,
  synthetic: (events = "100000") => synthetic(Number(events)),
};
