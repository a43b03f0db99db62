// Builds documents (manifest and blobs of the view format) from lists of events, with levels and prefix sums like the
// program's, and embeds them in the built page. For tests and for bench/viewer.

import { gzipSync } from "node:zlib";
import { encodePayload, frame, type Written } from "./encode.ts";

export interface Event {
  start: number;
  dur: number;
  name?: string;
  row?: number;
  frame?: number;
  bytes?: number;
}
interface Slice extends Event {
  count: number;
  busy: number;
  longest: number;
}
export interface LaneInput {
  track: number;
  y?: number;
  table: string;
  label?: string;
  kind?: "slice" | "value";
  unit?: string;
  events?: Event[];
  values?: [time: number, value: number][];
}
export interface DocumentInput {
  window_ns: number;
  tracks: { parent: number; kind: string; name: string; device?: number }[];
  lanes: LaneInput[];
  tables?: { name: string; doc?: string; columns: (Written & { doc?: string })[] }[];
  critical_path?: { parts: { part: string; total_ns: number; share_pct: number }[]; lanes: LaneInput[] };
  frames?: { parent?: number; table?: string; name: string }[]; // with the sums of chunks
  report?: unknown;
  kernels?: unknown[];
  sampled?: { name: string; samples: number; share_pct: number; kernel: number; timeline: string | null }[];
  pictures?: unknown;
  long_tables?: LongTable[];
  file?: string;
}
interface LongTable {
  name: string;
  columns: { name: string; type: string }[];
  rows: (number | string | boolean | null)[][];
}
export interface BuiltDocument {
  manifest: Record<string, unknown>;
  blobs: Uint8Array[];
}

const CHUNK = 8192;

export function coarser(slices: readonly Slice[], resolution: number): Slice[] {
  const out: Slice[] = [];
  let bin = -1;
  for (const slice of slices) {
    const own = Math.floor(slice.start / resolution);
    const last = out[out.length - 1];
    if (slice.dur >= resolution) {
      out.push(slice);
      bin = -1;
    } else if (own === bin && last) {
      if (slice.longest > last.longest) Object.assign(last, { name: slice.name, longest: slice.longest });
      last.dur = Math.max(last.dur, slice.start + slice.dur - last.start);
      last.count += slice.count;
      last.busy += slice.busy;
    } else {
      out.push({ ...slice });
      bin = own;
    }
  }
  return out;
}

/** One kernel on one stream. */
export const ONE_KERNEL: DocumentInput = {
  window_ns: 1000,
  tracks: [{ parent: -1, kind: "device", name: "GPU 0", device: 0 }, { parent: 0, kind: "stream", name: "stream 7" }],
  lanes: [{ track: 1, table: "kernel", events: [{ start: 10, dur: 5, name: "gemm" }] }],
  tables: [
    {
      name: "kernel",
      columns: [
        { name: "start", type: "time", unit: "ns", values: [10] },
        { name: "name", type: "string", values: ["gemm"] },
      ],
    },
  ],
};

/** Columns of a report's table from words NAME, NAME:TYPE or NAME:TYPE:UNIT; without a type, of text. */
export const columnsOf = (words: string) =>
  words.split(" ").map((word) => {
    const [name = "", type = "text", unit = null] = word.split(":");
    return { name, type, unit, doc: `${name}.` };
  });

/** A payload of rows, with the types of their columns. */
function payloadOf<K extends string>(
  table: string, rows: readonly Record<K, string | number | null>[], types: Record<K, Written["type"]>,
): Uint8Array {
  const columns = Object.entries<Written["type"]>(types) as [K, Written["type"]][];
  const written = columns.map(([name, type]) => ({ name, type, values: rows.map((row) => row[name]) }));
  return encodePayload(table, rows.length, written);
}

// The distinct names of events, with their number and times.
function namesPayload(lanes: DocumentInput["lanes"]): Uint8Array {
  type Seen = { table: string; name: string; count: number; total: number; first: number; last: number };
  const names = new Map<string, Seen>();
  for (const { table, events = [] } of lanes)
    for (const { name, start, dur } of events) {
      if (name === undefined) continue;
      const key = `${table}\0${name}`;
      const seen = names.get(key) ?? { table, name, count: 0, total: 0, first: start, last: start };
      const last = Math.max(seen.last, start);
      names.set(key, { ...seen, count: seen.count + 1, total: seen.total + dur, last });
    }
  const types = { table: "string", name: "string", count: "i64", total: "dur", first: "time", last: "time" } as const;
  return payloadOf("names", [...names.values()], types);
}

export function buildDocument(input: DocumentInput): BuiltDocument {
  const blobs: Uint8Array[] = [];
  const add = (bytes: Uint8Array) => blobs.push(bytes) - 1;
  const json = (value: unknown) => add(new TextEncoder().encode(JSON.stringify(value)));
  const all = [...input.lanes, ...(input.critical_path?.lanes ?? [])];
  const lanes = all.map((lane) => ({
    track: lane.track,
    y: lane.y ?? 0,
    table: lane.table,
    label: lane.label ?? null,
    kind: lane.kind ?? "slice",
    unit: lane.unit ?? null,
    events: (lane.events ?? lane.values ?? []).length,
    levels: [] as { resolution_ns: number; chunks: number[][] }[],
  }));
  // Coarse levels first, in the program's order: data for the first frame is at the front of the file.
  const levels = all.map((lane) => (lane.kind === "value" ? [] : sliceLevels(lane.events ?? [])));
  for (let step = 1; step <= Math.max(0, ...levels.map((own) => own.length)); step++)
    levels.forEach((own, lane) => {
      const level = own[own.length - step];
      if (!level) return;
      const chunks = sliceChunks(level.slices, level.resolution_ns === 0, add);
      lanes[lane]!.levels.unshift({ resolution_ns: level.resolution_ns, chunks });
    });
  all.forEach((lane, i) => lane.kind === "value" && (lanes[i]!.levels = valueLevels(lane.values ?? [], add)));
  const tables = (input.tables ?? []).map((table) => {
    const rows = table.columns[0]?.values.length ?? 0;
    const tableBlobs: number[] = [];
    for (let at = 0; at < rows; at += CHUNK) {
      const part = table.columns.map((c) => ({ ...c, values: Array.from(c.values).slice(at, at + CHUNK) }));
      tableBlobs.push(add(encodePayload(table.name, Math.min(CHUNK, rows - at), part)));
    }
    const columns = table.columns.map((c) => ({ name: c.name, type: c.type, unit: c.unit ?? null, doc: c.doc ?? "" }));
    return { name: table.name, doc: table.doc ?? "", rows, chunk_rows: CHUNK, blobs: tableBlobs, columns };
  });
  const types: Record<string, Written["type"]> = { integer: "i64", real: "f64", boolean: "i32", text: "string" };
  const longTables = (input.long_tables ?? []).map(({ name, columns, rows }) => {
    const longBlobs: number[] = [];
    for (let at = 0; at < rows.length; at += CHUNK) {
      const part = rows.slice(at, at + CHUNK);
      const valueOf = (cell: LongTable["rows"][0][0]) => (typeof cell === "boolean" ? Number(cell) : cell);
      const valuesOf = (column: number) => part.map((row) => valueOf(row[column] ?? null));
      const own = columns.map(({ name, type }, i) => ({ name, type: types[type]!, values: valuesOf(i) }));
      longBlobs.push(add(encodePayload(name, part.length, own)));
    }
    return { name, rows: rows.length, chunk_rows: CHUNK, blobs: longBlobs };
  });
  const namesBlob = add(namesPayload(input.lanes));
  const { frames, critical_path: path } = input;
  const stacks = frames && { frames: add(framesPayload(frames)), sums: add(sumsPayload(input.lanes, lanes)) };
  const manifest = {
    format: 1,
    program: "gpu-profile test",
    source: { file: input.file ?? "drawn.json", words: input.file ?? "drawn.json", importer: "test", tool: "by hand" },
    window_ns: input.window_ns,
    time_origin_ns: "1795214539410308022",
    tracks: input.tracks,
    lanes: lanes.slice(0, input.lanes.length),
    critical_path: path ? { parts: path.parts, lanes: lanes.slice(input.lanes.length) } : null,
    tables,
    long_tables: longTables,
    names: namesBlob,
    ...stacks,
    report: json(input.report ?? { trust: [{ warning: false, text: "built for a test" }], tables: [], findings: [] }),
    pictures: input.pictures === undefined ? null : json(input.pictures),
    kernels: (input.kernels ?? []).map(json),
    sampled: input.sampled ?? [],
    part_ns: null,
    blob_count: 0,
  };
  manifest.blob_count = blobs.length;
  return { manifest, blobs };
}

function framesPayload(frames: NonNullable<DocumentInput["frames"]>): Uint8Array {
  return encodePayload("frame", frames.length, [
    { name: "parent", type: "i64", values: frames.map((frame) => frame.parent ?? null) },
    { name: "table", type: "string", values: frames.map((frame) => frame.table ?? null) },
    { name: "name", type: "string", values: frames.map((frame) => frame.name) },
  ]);
}

function sumsPayload(inputs: readonly LaneInput[], lanes: readonly { levels: { chunks: number[][] }[] }[]): Uint8Array {
  const rows: { chunk: number; frame: number; count: number; time: number; bytes: number | null }[] = [];
  inputs.forEach(({ events = [] }, i) => {
    if (!events.some((event) => event.frame !== undefined)) return;
    lanes[i]!.levels[0]!.chunks.forEach(([chunk, count], k) => {
      const sums = new Map<number, (typeof rows)[0]>();
      for (const event of events.slice(k * CHUNK, k * CHUNK + count!)) {
        const sum = sums.get(event.frame!) ?? { chunk: chunk!, frame: event.frame!, count: 0, time: 0, bytes: 0 };
        const bytes = sum.bytes === null || event.bytes === undefined ? null : sum.bytes + event.bytes;
        sums.set(event.frame!, { ...sum, count: sum.count + 1, time: sum.time + event.dur, bytes });
      }
      rows.push(...sums.values());
    });
  });
  return payloadOf("chunk_sum", rows, { chunk: "i64", frame: "i64", count: "i64", time: "dur", bytes: "i64" });
}

function sliceLevels(events: readonly Event[]) {
  let slices: Slice[] = events.map((event, row) => ({ row, ...event, count: 1, busy: event.dur, longest: event.dur }));
  const levels = [{ resolution_ns: 0, slices }];
  for (let resolution = 1024; resolution < 2 ** 45 && slices.length > 64; resolution *= 4) {
    const merged = coarser(slices, resolution);
    if (merged.length * 2 > slices.length) continue;
    slices = merged;
    levels.push({ resolution_ns: resolution, slices });
  }
  return levels;
}

function sliceChunks(slices: readonly Slice[], isEvents: boolean, add: (bytes: Uint8Array) => number) {
  const chunks: number[][] = [];
  let events = 0;
  let time = 0;
  for (let at = 0; at < slices.length; at += CHUNK) {
    const part = slices.slice(at, at + CHUNK);
    const columns: Written[] = [
      { name: "start", type: "time", unit: "ns", values: part.map((s) => s.start) },
      { name: "dur", type: "dur", unit: "ns", values: part.map((s) => s.dur) },
      { name: "row", type: "i64", values: part.map((s) => s.row ?? null) },
    ];
    if (part.some((s) => s.name !== undefined))
      columns.push({ name: "name", type: "string", values: part.map((s) => s.name ?? null) });
    if (isEvents && part.some((s) => s.bytes !== undefined))
      columns.push({ name: "bytes", type: "i64", values: part.map((s) => s.bytes ?? null) });
    if (part.some((s) => s.count > 1)) {
      columns.push({ name: "count", type: "i64", values: part.map((s) => s.count) });
      columns.push({ name: "busy", type: "dur", unit: "ns", values: part.map((s) => s.busy) });
    }
    const end = part.reduce((most, s) => Math.max(most, s.start + s.dur), 0);
    const chunk = [add(encodePayload("slice", part.length, columns)), part.length, part[0]!.start, end, events, time];
    if (isEvents && part.some((s) => s.frame !== undefined)) {
      const frames: Written = { name: "frame", type: "i64", values: part.map((s) => s.frame ?? null) };
      chunk.push(add(encodePayload("stack", part.length, [frames])));
    }
    chunks.push(chunk);
    for (const slice of part) {
      events += slice.count;
      time += slice.busy;
    }
  }
  return chunks;
}

interface Point {
  time: number;
  value: number;
  low: number;
  high: number;
  count: number;
}

function valueLevels(values: readonly [number, number][], add: (bytes: Uint8Array) => number) {
  let points: Point[] = values.map(([time, value]) => ({ time, value, low: value, high: value, count: 1 }));
  const levels = [{ resolution_ns: 0, points }];
  for (let resolution = 1024; resolution < 2 ** 45 && points.length > 64; resolution *= 4) {
    const merged = coarserValues(points, resolution);
    if (merged.length * 2 > points.length) continue;
    points = merged;
    levels.push({ resolution_ns: resolution, points });
  }
  const written = (level: (typeof levels)[0]) =>
    ({ resolution_ns: level.resolution_ns, chunks: [valueChunk(level.points, add)] });
  return levels.reverse().map(written).reverse(); // coarse ones are at the front of the file
}

function coarserValues(points: readonly Point[], resolution: number): Point[] {
  const out: Point[] = [];
  let bin = -1;
  for (const point of points) {
    const own = Math.floor(point.time / resolution);
    const last = out[out.length - 1];
    if (last && own === bin) {
      const count = last.count + point.count;
      last.value += ((point.value - last.value) * point.count) / count;
      Object.assign(last, { count, low: Math.min(last.low, point.low), high: Math.max(last.high, point.high) });
    } else out.push({ ...point });
    bin = own;
  }
  return out;
}

function valueChunk(points: readonly Point[], add: (bytes: Uint8Array) => number) {
  const types = { time: "time", value: "f64", low: "f64", high: "f64", count: "i64" } as const;
  const blob = add(payloadOf("value", points as readonly Record<keyof Point, number>[], types));
  return [blob, points.length, points[0]?.time ?? 0, points[points.length - 1]?.time ?? 0, 0, 0];
}

/** The page with a document in it, as the program writes it. */
export function pageWith(page: string, built: BuiltDocument, segmentBytes = 4 << 20): string {
  const manifest = JSON.stringify(built.manifest).replaceAll("<", "\\u003c");
  const parts = [`<script type="application/json" id="manifest">${manifest}</script>`];
  let first = 0;
  while (first < built.blobs.length) {
    let last = first;
    let bytes = 0;
    while (last < built.blobs.length && (last === first || bytes + built.blobs[last]!.length <= segmentBytes))
      bytes += built.blobs[last++]!.length;
    const text = gzipSync(frame(built.blobs.slice(first, last))).toString("base64");
    const attributes = `class="segment" data-first="${first}" data-count="${last - first}"`;
    parts.push(`<script type="application/octet-stream" ${attributes}>${text}</script>`);
    first = last;
  }
  return page.replace("<!--gpu-profile:data-->", () => parts.join("\n"));
}

/** The document as a source, for tests without a page. */
export const sourceOf = (built: BuiltDocument) => ({
  manifest: async () => JSON.stringify(built.manifest),
  blobs: (ids: readonly number[]) => ids.map(async (id) => built.blobs[id]!),
});
