// The model over built documents: measuring against a count by hand and by brute force, search, neighbours, details,
// the bus.

import assert from "node:assert/strict";
import test from "node:test";
import { detailsOf } from "../model/page/details.ts";
import { eventAt, eventStartingAt, neighbourInRow, rowOf, rangeOf } from "../model/recording/lane.ts";
import { collectMarks, MAX_MARKS } from "../model/search/marks.ts";
import { measure } from "../model/range/measure.ts";
import { readManifest, type Manifest } from "../model/recording/manifest.ts";
import { Recording } from "../model/recording/recording.ts";
import { findEvent, search } from "../model/search/search.ts";
import { readQuery } from "../model/search/search_query.ts";
import { clampRange, zoomed } from "../model/recording/range.ts";
import { Viewer } from "../model/page/viewer.ts";
import { buildDocument, sourceOf, type Event, type LaneInput } from "./document.ts";
import { open, opened } from "./opened.ts";
import { SAMPLES } from "./sample_documents.ts";

const drawn = () => opened("drawn");

test("measuring, counted by hand", async () => {
  const measured = await measure(drawn(), { from: 22_000, to: 85_000 });
  assert.equal(measured.length_ns, 63_000);
  assert.deepEqual(measured.devices, [
    {
      device: 0, name: "GPU 0: drawn", busy_ns: 28_000,
      idle: [{ cause: "input pipeline", ns: 20_000 }, { cause: "launch", ns: 15_000 }],
    },
  ]);
  // The kernel of 20 us started earlier and is not counted; the copy of 25 us is.
  const counts = Object.fromEntries(measured.counts.map(({ table, count }) => [table, count]));
  assert.deepEqual(counts, { api_call: 2, kernel: 1, memcpy: 1 });
});

test("busy and idle time add up to any range", async () => {
  const recording = drawn();
  for (const [from, to] of [[0, 100_000], [1, 2], [39_999, 40_001], [55_000, 55_000], [0, 33_333]] as const) {
    const { devices, length_ns } = await measure(recording, { from, to });
    const sum = (devices[0]?.busy_ns ?? 0) + (devices[0]?.idle ?? []).reduce((total, each) => total + each.ns, 0);
    assert.equal(sum, length_ns);
  }
});

/** 20,000 events in three chunks, with gaps of 0 to 9 ns between them. */
function long(): { events: Event[]; recording: Recording } {
  const events: Event[] = [];
  for (let i = 0, at = 0; i < 20_000; i++) {
    const dur = (i * 7919) % 23;
    events.push({ start: at, dur, name: `k${i % 5}`, row: i });
    at += dur + ((i * 31) % 10);
  }
  const last = events[events.length - 1]!;
  const built = buildDocument({
    window_ns: last.start + last.dur,
    tracks: [
      { parent: -1, kind: "device", name: "GPU", device: 0 }, { parent: 0, kind: "busy", name: "busy", device: 0 },
    ],
    lanes: [{ track: 1, table: "busy", events }, { track: 1, table: "kernel", events }],
  });
  return { events, recording: open(built) };
}

test("measuring agrees with adding up every event, across chunks", async () => {
  const { events, recording } = long();
  for (const [from, to] of [[0, 1e9], [1000, 1001], [90_000, 200_000], [123_456, 222_222], [0, 0]] as const) {
    const measured = await measure(recording, { from, to });
    const inside = (e: Event) => Math.max(0, Math.min(e.start + e.dur, to) - Math.max(e.start, from));
    const busy = events.reduce((sum, e) => sum + inside(e), 0);
    const count = events.filter((e) => e.start >= from && e.start < to).length;
    assert.equal(measured.devices[0]?.busy_ns, busy);
    assert.equal(measured.counts.find((c) => c.table === "kernel")?.count ?? 0, count);
  }
});

test("the event at a moment, and its neighbours, across chunks", async () => {
  const { events, recording } = long();
  const lane = recording.manifest.lanes[1]!;
  const row = async (promise: Promise<Awaited<ReturnType<typeof eventAt>>>) => {
    const found = await promise;
    return found && found.slices.row[found.index];
  };
  for (const i of [1, 8191, 8192, 16_383, 19_998]) {
    const event = events[i]!;
    if (event.dur > 0) assert.equal(await row(eventAt(recording, lane, event.start, 0)), i);
    assert.deepEqual(rangeOf((await eventStartingAt(recording, lane, event.start))!).from, event.start);
  }
});

test("neighbours are those of the sorted list of everything in the row, whatever its table", async () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  const tables = ["kernel", "memcpy", "memset"];
  const lanes: LaneInput[] = tables.map((table) => ({ track: 0, table, events: [] }));
  const inRow: { lane: number; row: number; start: number; dur: number }[] = [];
  for (let i = 0, at = 0; i < 20_000; i++) {
    const [lane, dur] = [random(3), random(4) === 0 ? 0 : random(9)]; // some without length, some at the same time
    const event = { start: at, dur, name: `${i % 7}`, row: lanes[lane]!.events!.length };
    lanes[lane]!.events!.push(event);
    inRow.push({ lane, ...event });
    at += dur + (random(3) === 0 ? random(5) : 0);
  }
  lanes.push({ track: 0, y: 1, table: "kernel", events: [{ start: 3, dur: 9, name: "below", row: 9 }] });
  const window_ns = inRow.at(-1)!.start + 20;
  const recording = open(buildDocument({ window_ns, tracks: [{ parent: -1, kind: "stream", name: "s" }], lanes }));
  const row = rowOf(recording, recording.manifest.lanes[0]!);
  assert.equal(row.length, 3);
  const sorted = inRow.sort((a, b) => a.start - b.start || a.lane - b.lane || a.row - b.row);
  const near = async (at: number, by: 1 | -1) => {
    const { start, lane, row: own } = sorted[at]!;
    const found = await neighbourInRow(recording, row, { start, lane, row: own }, by);
    return found && [found.lane.id, found.slices.row[found.index]];
  };
  const expected = (at: number) => (sorted[at] ? [sorted[at]!.lane, sorted[at]!.row] : null);
  for (let at = 0; at < sorted.length; at += at < 300 || at > 19_700 ? 1 : 61)
    assert.deepEqual([await near(at, 1), await near(at, -1)], [expected(at + 1), expected(at - 1)], `event ${at}`);
});

test("the neighbours of a gap are other gaps, whatever their cause", async () => {
  const pieces: [start: number, dur: number, row: number][][] = [[[0, 5, 0], [30, 2, 2]], [[5, 5, 0], [20, 4, 1]]];
  const lanes = pieces.map((each, i) => ({
    track: 0, table: "gap", label: `cause ${i}`, events: each.map(([start, dur, row]) => ({ start, dur, row })),
  }));
  const recording = open(buildDocument({ window_ns: 40, tracks: [{ parent: -1, kind: "idle", name: "idle" }], lanes }));
  const row = rowOf(recording, recording.manifest.lanes[0]!);
  const near = async (start: number, gap: number, by: 1 | -1) => {
    const found = await neighbourInRow(recording, row, { start, lane: 0, row: gap }, by);
    return found && found.slices.row[found.index];
  };
  assert.deepEqual([await near(0, 0, 1), await near(20, 1, 1), await near(30, 2, 1)], [1, 2, null]);
  assert.deepEqual([await near(30, 2, -1), await near(20, 1, -1), await near(0, 0, -1)], [1, 0, null]);
});

test("search by text and by expression", async () => {
  const recording = drawn();
  const names = await recording.names();
  const found = (query: string) => {
    const test = readQuery(query, recording.manifest);
    return test.ok ? search(names, test.value).map((name) => name.name) : [test.error];
  };
  assert.deepEqual(found("GEMM"), ["void gemm<128, float>(float*, int)"]);
  assert.deepEqual(found("/^re/"), ["relu"]);
  assert.deepEqual(found("/^RE/i"), ["relu"]);
  assert.deepEqual(found("/^RE/"), []);
  assert.match(found("/(/")[0]!, /nterminated|nvalid/);
  assert.equal(names.find((name) => name.name === "cudaLaunchKernel")?.count, 3);
});

test("next and previous match go through all events once", async () => {
  const recording = drawn();
  const names = await recording.names();
  const wanted = names.filter((name) => ["kernel", "api_call"].includes(name.table));
  const walk = async (by: 1 | -1) => {
    const seen: number[] = [];
    let place = { time: by > 0 ? -1 : 1e9, lane: -1 };
    for (;;) {
      const found = await findEvent(recording, wanted, place, by);
      if (!found || seen.length > 10) return seen;
      place = { time: rangeOf(found).from, lane: found.lane.id };
      seen.push(place.time / 1000);
    }
  };
  assert.deepEqual(await walk(1), [10, 20, 44, 50, 80, 90]);
  assert.deepEqual(await walk(-1), [90, 80, 50, 44, 20, 10]);
});

test("all highlighted events are marked, in time order", async () => {
  const { events, recording } = long();
  const names = await recording.names();
  const wanted = names.filter((name) => name.name === "k3");
  const marks = await collectMarks(recording, wanted, () => true);
  assert.deepEqual([...marks!.get(1)!], events.filter((e) => e.name === "k3").map((e) => e.start));
  assert.equal(await collectMarks(recording, wanted, () => false), null);
});

test("too many highlighted events are counted, not marked", async () => {
  const times = (count: number, name: string) =>
    Array.from({ length: count }, (_, row): Event => ({ start: 2 * row, dur: 1, name, row }));
  const built = buildDocument({
    window_ns: 200_000,
    tracks: [{ parent: -1, kind: "device", name: "GPU", device: 0 }],
    lanes: [
      { track: 0, table: "kernel", events: times(MAX_MARKS + 1, "often") },
      { track: 0, y: 1, table: "memcpy", events: times(3, "rare") },
    ],
  });
  const viewer = new Viewer(open(built));
  const settled = () => new Promise((resume) => setTimeout(resume, 300));
  viewer.highlight(["often", "rare"]);
  await settled();
  assert.deepEqual([viewer.state.found.unmarkedEvents, viewer.state.found.marks], [MAX_MARKS + 4, null]);
  viewer.highlight(["rare"]);
  assert.equal(viewer.state.found.unmarkedEvents, 0);
  await settled();
  assert.deepEqual([...viewer.state.found.marks!.get(1)!], [0, 2, 4]);
});

test("a highlight ends, and a new one replaces it", async () => {
  const viewer = new Viewer(drawn());
  viewer.highlight(["relu"]);
  viewer.highlight(["cudaLaunchKernel"]);
  await new Promise((resume) => setTimeout(resume, 300));
  assert.deepEqual([...viewer.state.found.marks!.keys()], [2]);
  viewer.highlight([]);
  assert.deepEqual([viewer.state.found.highlight, viewer.state.found.marks], [null, null]);
});

test("details link to the launch, the work, enclosing events and neighbours", async () => {
  const recording = drawn();
  const viewer = new Viewer(recording);
  await viewer.select("kernel", 1);
  const relu = { table: "kernel", row: 1, lane: 3, from: 50_000, to: 60_000, name: "relu" };
  assert.deepEqual(viewer.state.selection, relu);
  assert.equal(viewer.state.page, "timeline");
  const details = await detailsOf(recording, viewer.state.selection!);
  assert.equal(details?.launch?.from, 44_000);
  assert.deepEqual(details?.enclosing.map((each) => each.name), ["step 1"]);
  assert.equal(details?.previous?.row, 0);
  assert.equal(details?.next?.row, 2);
  await viewer.select("api_call", 2);
  const call = await detailsOf(recording, viewer.state.selection!);
  assert.equal(call?.work?.row, 2);
  await viewer.select("gap", 1);
  assert.equal(viewer.state.selection?.name, "launch");
  await viewer.select("gap", 99);
  assert.match(viewer.state.problem ?? "", /99 of gap/);
});

test("a gap says how its parts add up to it", async () => {
  const recording = drawn();
  const viewer = new Viewer(recording);
  await viewer.select("gap", 2);
  const { from, to } = viewer.state.selection!;
  const { causes } = (await detailsOf(recording, viewer.state.selection!))!;
  assert.equal(causes.reduce((sum, { ns }) => sum + ns, 0), to - from);
});

test("the Python line is the line that launched; it is unknown where no stack was recorded", async () => {
  const [start, dur] = [{ name: "start", type: "time" as const }, { name: "dur", type: "dur" as const }];
  const text = (name: string, values: (string | null)[]) => ({ name, type: "string" as const, values });
  const stack = "main (train.py:7);step (train.py:31);linear (/usr/lib/python3/dist-packages/torch/nn/functional.py:9)";
  const launch = { name: "launch", type: "i64" as const, values: [0, 1] };
  const tables = [
    { name: "kernel", columns: [{ ...start, values: [50, 70] }, { ...dur, values: [5, 5] }, launch] },
    {
      name: "api_call",
      columns: [{ ...start, values: [10, 20] }, { ...dur, values: [5, 5] }, text("stack", [stack, null])],
    },
  ];
  const events = [{ start: 50, dur: 5, name: "gemm", row: 0 }, { start: 70, dur: 5, name: "gemm", row: 1 }];
  const recording = open(buildDocument({
    window_ns: 100,
    tracks: [{ parent: -1, kind: "stream", name: "s" }],
    lanes: [{ track: 0, table: "kernel", events }],
    tables,
  }));
  const lineOf = async (row: number) =>
    (await detailsOf(recording, { table: "kernel", row, lane: 0, from: 50, to: 55, name: "gemm" }))?.line;
  assert.deepEqual([await lineOf(0), await lineOf(1)], ["step (train.py:31)", null]);
});

test("a selection that takes longer does not replace a later one", async () => {
  const viewer = new Viewer(drawn());
  const slow = viewer.select("kernel", 1);
  viewer.choose(null);
  await slow;
  assert.equal(viewer.state.selection, null);
  const other = new Viewer(drawn());
  await Promise.all([other.select("kernel", 1), other.select("kernel", 2)]);
  assert.equal(other.state.selection?.row, 2);
});

test("windows stay inside the recording and above ten nanoseconds", () => {
  assert.deepEqual(clampRange({ from: -50, to: 50 }, { from: 0, to: 1000 }), { from: 0, to: 100 });
  assert.deepEqual(clampRange({ from: 990, to: 1090 }, { from: 0, to: 1000 }), { from: 900, to: 1000 });
  assert.deepEqual(clampRange({ from: -1e9, to: 1e9 }, { from: 0, to: 1000 }), { from: 0, to: 1000 });
  assert.deepEqual(clampRange({ from: 500, to: 500 }, { from: 0, to: 1000 }), { from: 500, to: 510 });
  const anchor = 300;
  const before = { from: 0, to: 1000 };
  const after = zoomed(before, 0.5, anchor);
  assert.equal((anchor - before.from) / 1000, (anchor - after.from) / (after.to - after.from));
});

test("a recording whose answer comes later", async () => {
  const built = buildDocument({
    window_ns: 1000,
    tracks: [{ parent: -1, kind: "device", name: "GPU 0", device: 0 }],
    lanes: [{ track: 0, table: "kernel", events: [{ start: 100, dur: 50, name: "k", row: 0 }] }],
    report: { verdict: { class: "input-bound", title: "Input-bound", because: "the GPU waits" }, tables: [] },
  });
  const whole = readManifest(JSON.stringify({ ...built.manifest, part_ns: [100, 600] }));
  const early = readManifest(JSON.stringify({ ...built.manifest, report: null }));
  assert.ok(whole.ok && early.ok);
  let arrive = (_: Manifest) => {};
  const later = new Promise<Manifest>((resolve) => (arrive = resolve));
  const recording = new Recording(early.value, sourceOf(built), later);
  const viewer = new Viewer(recording);
  viewer.awaitAnswer();
  const [lane] = recording.manifest.lanes;
  assert.equal(viewer.state.page, "timeline");
  const view = { from: 0, to: 500 };
  viewer.set({ view });
  const report = recording.report();
  arrive(whole.value);
  assert.equal((await report).verdict?.title, "Input-bound");
  assert.deepEqual(recording.manifest.part_ns, [100, 600]);
  assert.equal(recording.manifest.lanes[0], lane);
  assert.deepEqual([viewer.state.page, viewer.state.view, viewer.state.answer], ["timeline", view, "ready"]);
  assert.deepEqual([viewer.initial.page, viewer.initial.view], ["overview", { from: 100, to: 600 }]);
});

test("an answer that fails is said, and the timeline stays", async () => {
  const { manifest } = opened("drawn");
  const recording = new Recording(manifest, sourceOf(SAMPLES.drawn!()), Promise.reject(new Error("no memory")));
  const viewer = new Viewer(recording);
  viewer.awaitAnswer();
  await assert.rejects(recording.report(), /no memory/);
  assert.deepEqual([viewer.state.page, viewer.state.problem], ["timeline", "no memory"]);
});
