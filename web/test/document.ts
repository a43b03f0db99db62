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
  long_tables?: { name: string; columns: { name: string; type: string }[]; rows: (number | string | boolean | null)[][] }[];
  file?: string;
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

// The distinct names of events, with their number and times.
function namesPayload(lanes: DocumentInput["lanes"]): Uint8Array {
  const names = new Map<string, { table: string; name: string; count: number; total: number; first: number; last: number }>();
  for (const lane of lanes)
    for (const event of lane.events ?? []) {
      if (event.name === undefined) continue;
      const key = `${lane.table}\0${event.name}`;
      const seen = names.get(key) ?? { table: lane.table, name: event.name, count: 0, total: 0, first: event.start, last: event.start };
      names.set(key, { ...seen, count: seen.count + 1, total: seen.total + event.dur, last: Math.max(seen.last, event.start) });
    }
  const list = [...names.values()];
  const column = (name: keyof (typeof list)[0], type: Written["type"]): Written => ({ name, type, values: list.map((n) => n[name]) });
  return encodePayload("names", list.length, [
    column("table", "string"),
    column("name", "string"),
    column("count", "i64"),
    column("total", "dur"),
    column("first", "time"),
    column("last", "time"),
  ]);
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
      if (level) lanes[lane]!.levels.unshift({ resolution_ns: level.resolution_ns, chunks: sliceChunks(level.slices, add) });
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
      const own = columns.map((c, i) => ({ name: c.name, type: types[c.type]!, values: part.map((row) => (typeof row[i] === "boolean" ? Number(row[i]) : (row[i] ?? null))) }));
      longBlobs.push(add(encodePayload(name, part.length, own)));
    }
    return { name, rows: rows.length, chunk_rows: CHUNK, blobs: longBlobs };
  });
  const namesBlob = add(namesPayload(input.lanes));
  const stacks = input.frames && { frames: add(framesPayload(input.frames)), sums: add(sumsPayload(input.lanes, lanes)) };
  const manifest = {
    format: 1,
    program: "gpu-profile test",
    source: { file: input.file ?? "drawn.json", words: input.file ?? "drawn.json", importer: "test", tool: "by hand" },
    window_ns: input.window_ns,
    time_origin_ns: "1795214539410308022",
    tracks: input.tracks,
    lanes: lanes.slice(0, input.lanes.length),
    critical_path: input.critical_path ? { parts: input.critical_path.parts, lanes: lanes.slice(input.lanes.length) } : null,
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
  inputs.forEach((input, i) =>
    (input.events?.some((event) => event.frame !== undefined) ? lanes[i]!.levels[0]!.chunks : []).forEach(([chunk, count], k) => {
      const sums = new Map<number, (typeof rows)[0]>();
      for (const event of input.events!.slice(k * CHUNK, k * CHUNK + count!)) {
        const sum = sums.get(event.frame!) ?? { chunk: chunk!, frame: event.frame!, count: 0, time: 0, bytes: 0 };
        const bytes = sum.bytes === null || event.bytes === undefined ? null : sum.bytes + event.bytes;
        sums.set(event.frame!, { ...sum, count: sum.count + 1, time: sum.time + event.dur, bytes });
      }
      rows.push(...sums.values());
    }),
  );
  const column = (name: keyof (typeof rows)[0], type: Written["type"]): Written => ({ name, type, values: rows.map((row) => row[name]) });
  return encodePayload("chunk_sum", rows.length, [column("chunk", "i64"), column("frame", "i64"), column("count", "i64"), column("time", "dur"), column("bytes", "i64")]);
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

function sliceChunks(slices: readonly Slice[], add: (bytes: Uint8Array) => number) {
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
    if (part.some((s) => s.name !== undefined)) columns.push({ name: "name", type: "string", values: part.map((s) => s.name ?? null) });
    if (part.every((s) => s.count === 1)) {
      if (part.some((s) => s.frame !== undefined)) columns.push({ name: "frame", type: "i64", values: part.map((s) => s.frame ?? null) });
      if (part.some((s) => s.bytes !== undefined)) columns.push({ name: "bytes", type: "i64", values: part.map((s) => s.bytes ?? null) });
    }
    if (part.some((s) => s.count > 1)) {
      columns.push({ name: "count", type: "i64", values: part.map((s) => s.count) });
      columns.push({ name: "busy", type: "dur", unit: "ns", values: part.map((s) => s.busy) });
    }
    const end = part.reduce((most, s) => Math.max(most, s.start + s.dur), 0);
    chunks.push([add(encodePayload("slice", part.length, columns)), part.length, part[0]!.start, end, events, time]);
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
  return levels.reverse().map((level) => ({ resolution_ns: level.resolution_ns, chunks: [valueChunk(level.points, add)] })).reverse();
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
  const column = (name: keyof Point, type: Written["type"]): Written => ({ name, type, values: points.map((point) => point[name]) });
  const blob = add(encodePayload("value", points.length, [column("time", "time"), column("value", "f64"), column("low", "f64"), column("high", "f64"), column("count", "i64")]));
  return [blob, points.length, points[0]?.time ?? 0, points[points.length - 1]?.time ?? 0, 0, 0];
}

/** The page with a document in it, as the program writes it. */
export function pageWith(page: string, built: BuiltDocument, segmentBytes = 4 << 20): string {
  const parts = [`<script type="application/json" id="manifest">${JSON.stringify(built.manifest).replaceAll("<", "\\u003c")}</script>`];
  let first = 0;
  while (first < built.blobs.length) {
    let last = first;
    let bytes = 0;
    while (last < built.blobs.length && (last === first || bytes + built.blobs[last]!.length <= segmentBytes)) bytes += built.blobs[last++]!.length;
    const text = gzipSync(frame(built.blobs.slice(first, last))).toString("base64");
    parts.push(`<script type="application/octet-stream" class="segment" data-first="${first}" data-count="${last - first}">${text}</script>`);
    first = last;
  }
  return page.replace("<!--gpu-profile:data-->", () => parts.join("\n"));
}

/** The document as a source, for tests without a page. */
export const sourceOf = (built: BuiltDocument) => ({
  manifest: async () => JSON.stringify(built.manifest),
  blobs: (ids: readonly number[]) => ids.map(async (id) => built.blobs[id]!),
});
