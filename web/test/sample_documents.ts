// Documents for the browser: `drawn`, small enough to count by eye; `hostile`, with names that try to be markup;
// `synthetic`, with any number of events, for the benchmark.

import { buildDocument, type BuiltDocument } from "./document.ts";
import { synthetic } from "./synthetic.ts";
export { pageWith } from "./document.ts";

const US = 1000;

/** One thread, one device, two streams; 100 us, in which the device is busy in [20,40) + [50,60) + [90,100). */
function drawn(): BuiltDocument {
  const kernels = [
    { start: 20 * US, dur: 10 * US, name: "void gemm<128, float>(float*, int)", row: 0 },
    { start: 50 * US, dur: 10 * US, name: "relu", row: 1 },
    { start: 90 * US, dur: 10 * US, name: "void gemm<128, float>(float*, int)", row: 2 },
  ];
  const copies = [{ start: 25 * US, dur: 15 * US, name: "HtoD", row: 0 }];
  const calls = [10, 44, 80].map((at, row) => ({ start: at * US, dur: 2 * US, name: "cudaLaunchKernel", row }));
  const time = (name: string, values: number[]) => ({ name, type: "time" as const, unit: "ns", doc: "Start.", values });
  const dur = (values: number[]) => ({ name: "dur", type: "dur" as const, unit: "ns", doc: "End minus start.", values });
  const text = (name: string, values: string[]) => ({ name, type: "string" as const, doc: "", values });
  const number = (name: string, values: (number | null)[]) => ({ name, type: "i64" as const, doc: "", values });
  return buildDocument({
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
      { track: 1, y: 0, table: "range", events: [{ start: 5 * US, dur: 90 * US, name: "step 1", row: 0 }] },
      { track: 1, y: 1, table: "op", events: [{ start: 8 * US, dur: 8 * US, name: "aten::mm", row: 0 }] },
      { track: 1, y: 2, table: "api_call", events: calls },
      { track: 5, table: "kernel", events: kernels },
      { track: 6, table: "memcpy", events: copies },
      { track: 3, table: "busy", label: "busy", events: [[20, 20], [50, 10], [90, 10]].map(([s, d]) => ({ start: s! * US, dur: d! * US })) },
      { track: 4, table: "gap", label: "input pipeline", events: [{ start: 0, dur: 20 * US, row: 0 }, { start: 60 * US, dur: 20 * US, row: 2 }] },
      { track: 4, table: "gap", label: "launch", events: [{ start: 40 * US, dur: 10 * US, row: 1 }, { start: 80 * US, dur: 10 * US, row: 2 }] },
      { track: 7, table: "sample", kind: "value", unit: "W", label: "power", values: [[0, 100], [20 * US, 400], [60 * US, 150]] },
    ],
    tables: [
      { name: "kernel", doc: "One execution of a kernel on a device.", columns: [time("start", kernels.map((k) => k.start)), dur(kernels.map((k) => k.dur)), text("name", kernels.map((k) => k.name)), number("grid_x", [64, null, 64]), number("launch", [0, 1, 2]), number("lane", [3, 3, 3])] },
      { name: "memcpy", columns: [time("start", [25 * US]), dur([15 * US]), text("kind", ["HtoD"]), { ...number("bytes", [1 << 20]), unit: "bytes" }, number("lane", [4])] },
      { name: "api_call", columns: [time("start", calls.map((c) => c.start)), dur(calls.map((c) => c.dur)), text("name", calls.map((c) => c.name)), text("work_table", ["kernel", "kernel", "kernel"]), number("work_row", [0, 1, 2]), number("work_count", [1, 1, 1]), number("lane", [2, 2, 2])] },
      { name: "op", columns: [time("start", [8 * US]), dur([8 * US]), text("name", ["aten::mm"]), number("lane", [1])] },
      { name: "range", columns: [time("start", [5 * US]), dur([90 * US]), text("name", ["step 1"]), number("lane", [0])] },
      { name: "gap", columns: [time("start", [0, 40 * US, 60 * US]), dur([20 * US, 10 * US, 30 * US]), text("cause", ["input pipeline", "launch", "input pipeline"])] },
    ],
    // Host code until 44, the launch of relu until 46, its latency and run until 60, host code until 80, a launch, a gap, gemm.
    critical_path: {
      parts: [{ part: "kernel", total_ns: 20 * US, share_pct: 25 }, { part: "host code", total_ns: 44 * US, share_pct: 55 }, { part: "launch call", total_ns: 4 * US, share_pct: 5 }, { part: "gap", total_ns: 12 * US, share_pct: 15 }],
      lanes: [
        { track: 5, table: "critical_path", label: "kernel", events: [{ start: 50 * US, dur: 10 * US }, { start: 90 * US, dur: 10 * US }] },
        { track: 1, table: "critical_path", label: "host code", events: [{ start: 20 * US, dur: 24 * US }, { start: 60 * US, dur: 20 * US }] },
        { track: 1, y: 2, table: "critical_path", label: "launch call", events: [{ start: 44 * US, dur: 2 * US }, { start: 80 * US, dur: 2 * US }] },
        { track: 5, table: "critical_path", label: "gap", events: [{ start: 46 * US, dur: 4 * US }, { start: 82 * US, dur: 8 * US }] },
      ],
    },
    pictures: { slices: 10, devices: [{ device: 0, busy: [0, 0, 1, 1, 0, 1, 0, 0, 0, 1] }] },
  });
}

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
    tables: [{ name: "kernel", doc: ATTACK, columns: [{ name: "start", type: "time", unit: ATTACK, doc: ATTACK, values: [0] }, { name: "dur", type: "dur", values: [900] }, { name: "name", type: "string", values: [ATTACK] }, { name: ATTACK, type: "string", values: [ATTACK] }, { name: "lane", type: "i32", values: [0] }] }],
    report: { trust: [{ warning: true, text: ATTACK }], tables: [], findings: [{ id: "1", title: ATTACK, evidence: [ATTACK], remedy: ATTACK, severity: ATTACK }], verdict: { name: ATTACK, because: ATTACK, alternatives: [] } },
  });
  return { ...built, ...again };
}

export const SAMPLES: Record<string, (argument?: string) => BuiltDocument> = {
  drawn,
  hostile,
  synthetic: (events = "100000") => synthetic(Number(events)),
};
