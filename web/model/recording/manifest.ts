// The manifest of a document: its tracks, lanes and tables, and the blobs that hold them (the view format).
// `readManifest` checks the shape of everything the viewer relies on, so that no other file has to. Times are integer
// nanoseconds from the start of the recording, below 2^53; `time_origin_ns` is that start on the recording's clock.

import { fail, ok, type Result } from "../../read/result.ts";
import { array, list, maybeText, number, object, text, type Json } from "../../read/json.ts";

/** [blob, slices, start, end, events before, ns busy before] */
export type Chunk = [
  blob: number, count: number, start: number, end: number, eventsBefore: number, timeBefore: number, stacks?: number,
];

export interface Level {
  resolution_ns: number; // 0: the events themselves
  chunks: Chunk[];
}

export interface Lane {
  id: number;
  track: number;
  y: number;
  table: string;
  label: string | null;
  kind: string; // "slice" or "value"
  unit: string | null;
  events: number;
  peak: readonly [time: number, value: number] | null; // of a counter: its first highest value
  levels: Level[]; // from fine to coarse
}

export interface Track {
  id: number;
  parent: number;
  kind: string;
  name: string;
  device: number | null;
  thread?: string; // its key, as in columns of tables
}

export interface ColumnSpec {
  name: string;
  type: string;
  unit: string | null;
  doc: string;
}

export interface TableSpec extends LongTable {
  doc: string;
  columns: ColumnSpec[];
}

/** A table of the report with more rows than the report contains: all of them, in chunks. */
export interface LongTable {
  name: string;
  rows: number;
  chunk_rows: number;
  blobs: number[];
}

/** The critical path: what each class of its parts takes, and its spans as lanes over the tracks. */
export interface CriticalPath {
  parts: { part: string; total_ns: number; share_pct: number }[];
  lanes: Lane[]; // with ids after those of the manifest's lanes
}

/** A function with counters of instructions. */
export interface SampledKernel {
  name: string;
  samples: number;
  share_pct: number; // of all samples
  row: number; // of Manifest.kernels; `kernel` in the document
  timeline: string | null; // its name on the timeline; null: it is not there
}

/** Blobs of a job of many ranks. */
export interface JobBlobs {
  about: number;
  cells: number[]; // by quantity
  steps: Map<number, number>; // by index of the step; longest first
}

export interface Manifest {
  program: string;
  source: { file: string; words: string; importer: string; tool: string };
  window_ns: number;
  time_origin_ns: bigint;
  tracks: Track[];
  lanes: Lane[];
  tables: Map<string, TableSpec>;
  long_tables: Map<string, LongTable>;
  table_groups: { title: string; tables: unknown[] }[]; // names of tables of the report
  critical_path: CriticalPath | null; // null: the report says why
  names: number | null;
  frames: number | null; // blobs of call stacks, where events change theirs, and what each chunk contains by frame
  cuts: number | null;
  sums: number | null;
  report: number;
  busy_shares: number | null; // `pictures` in the document
  job: JobBlobs | null; // null: one recording, not a job
  kernels: number[]; // blobs, one per row of `limits`, then one per sampled kernel that is none of them
  sampled: SampledKernel[];
  iterations: number; // engine steps of a server
  part_ns: [number, number] | null;
  blob_count: number;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value);
const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export function readManifest(json: string): Result<Manifest> {
  let raw: Json;
  try {
    raw = JSON.parse(json) as Json;
  } catch {
    return fail("cannot read the manifest of this page: not valid JSON; the file is damaged or incomplete");
  }
  if (raw === null || typeof raw !== "object" || raw.format !== 1)
    return fail("unknown document format; open the recording with the program that wrote it");
  const { file, words, importer, tool } = object(raw.source);
  const blobCount = raw.blob_count;
  if (!isTime(raw.window_ns) || !isCount(blobCount)) return fail("invalid manifest: window or blobs missing");
  const tracks = list(raw.tracks).map(readTrack);
  const misplaced = tracks.find((track) => !(track.parent >= -1 && track.parent < track.id));
  if (misplaced) return fail(`invalid manifest: track ${misplaced.id} comes before its parent`);
  const lanes = list(raw.lanes).map((lane, id) => readLane(lane, id, tracks.length, blobCount));
  const broken = lanes.indexOf(null);
  if (broken >= 0) return fail(`invalid manifest: lane ${broken} is inconsistent with the rest`);
  const path = readCriticalPath(object(raw.critical_path), lanes.length, tracks.length, blobCount);
  if (path?.lanes.includes(null)) return fail("invalid manifest: the critical path is inconsistent with the rest");
  const part = raw.part_ns as unknown[] | null;
  return ok({
    program: text(raw.program),
    source: { file: text(file), words: text(words), importer: text(importer), tool: text(tool) },
    window_ns: raw.window_ns > 0 ? raw.window_ns : extentOf(lanes as Lane[]),
    time_origin_ns: /^-?\d{1,30}$/.test(text(raw.time_origin_ns)) ? BigInt(text(raw.time_origin_ns)) : 0n,
    tracks,
    lanes: lanes as Lane[],
    tables: new Map(list(raw.tables).map(readTable).map((table) => [table.name, table])),
    long_tables: new Map(list(raw.long_tables).map(readLongTable).map((table) => [table.name, table])),
    table_groups: list(raw.table_groups).map(({ title, tables }) => ({ title: text(title), tables: array(tables) })),
    critical_path: path as CriticalPath | null,
    names: isCount(raw.names) ? raw.names : null,
    frames: isCount(raw.frames) ? raw.frames : null,
    cuts: isCount(raw.cuts) ? raw.cuts : null,
    sums: isCount(raw.sums) ? raw.sums : null,
    report: isCount(raw.report) ? raw.report : -1,
    busy_shares: isCount(raw.pictures) ? raw.pictures : null,
    job: readJobBlobs(object(raw.job)),
    kernels: (Array.isArray(raw.kernels) ? raw.kernels : []).filter(isCount),
    sampled: list(raw.sampled).flatMap(readSampled),
    iterations: isCount(raw.iterations) ? raw.iterations : 0,
    part_ns: Array.isArray(part) && isTime(part[0]) && isTime(part[1]) ? [part[0], part[1]] : null,
    blob_count: blobCount,
  });
}

/** The length of a recording without events (counters only, for example): up to the last value. */
function extentOf(lanes: readonly Lane[]): number {
  const chunks = lanes.flatMap((lane) => lane.levels[0]?.chunks ?? []);
  return chunks.reduce((end, chunk) => Math.max(end, chunk[3]), 1);
}

function readJobBlobs({ about, cells, steps }: Json): JobBlobs | null {
  if (!isCount(about)) return null;
  const isPair = (pair: unknown): pair is [number, number] =>
    Array.isArray(pair) && isCount(pair[0]) && isCount(pair[1]);
  const pairs = (Array.isArray(steps) ? steps : []).filter(isPair);
  return { about, cells: (Array.isArray(cells) ? cells : []).filter(isCount), steps: new Map(pairs) };
}

function readSampled({ name, samples, share_pct, kernel, timeline }: Json): SampledKernel[] {
  if (!isCount(kernel)) return [];
  const figures = { samples: isCount(samples) ? samples : 0, share_pct: number(share_pct) };
  return [{ name: text(name), ...figures, row: kernel, timeline: maybeText(timeline) }];
}

function readTrack(raw: Json, id: number): Track {
  return {
    id,
    parent: isTime(raw.parent) ? raw.parent : -1,
    kind: text(raw.kind),
    name: text(raw.name),
    device: isCount(raw.device) ? raw.device : null,
    ...(typeof raw.thread === "string" ? { thread: raw.thread } : {}),
  };
}

function readLane(raw: Json, id: number, tracks: number, blobs: number): Lane | null {
  if (!isCount(raw.track) || raw.track >= tracks || !isCount(raw.y) || raw.y > 10_000) return null;
  const levels: Level[] = [];
  for (const level of list(raw.levels)) {
    const chunks = list(level.chunks) as unknown[] as Chunk[];
    const isBlob = (id: number) => id >= 0 && id < blobs;
    const isChunk = (c: Chunk) =>
      Array.isArray(c) && c.length >= 6 && c.every(isTime) && isBlob(c[0]) && isBlob(c[6] ?? 0);
    const fits = chunks.every(isChunk);
    if (!isCount(level.resolution_ns) || !fits) return null;
    levels.push({ resolution_ns: level.resolution_ns, chunks });
  }
  levels.sort((a, b) => a.resolution_ns - b.resolution_ns);
  return {
    id,
    track: raw.track,
    y: raw.y,
    table: text(raw.table),
    label: maybeText(raw.label),
    kind: text(raw.kind),
    unit: maybeText(raw.unit),
    events: isCount(raw.events) ? raw.events : 0,
    peak: readPeak(raw.peak),
    levels,
  };
}

const readPeak = (value: unknown): Lane["peak"] =>
  Array.isArray(value) && isTime(value[0]) && Number.isFinite(value[1]) ? [value[0], value[1] as number] : null;

type ReadPath = { parts: CriticalPath["parts"]; lanes: (Lane | null)[] };

function readCriticalPath(raw: Json, first: number, tracks: number, blobs: number): ReadPath | null {
  if (!Array.isArray(raw.lanes)) return null;
  return {
    parts: list(raw.parts).map(({ part, total_ns, share_pct }) =>
      ({ part: text(part), total_ns: number(total_ns), share_pct: number(share_pct) })),
    lanes: list(raw.lanes).map((lane, i) => readLane(lane, first + i, tracks, blobs)),
  };
}

function readLongTable(raw: Json): LongTable {
  return {
    name: text(raw.name),
    rows: isCount(raw.rows) ? raw.rows : 0,
    chunk_rows: isCount(raw.chunk_rows) && raw.chunk_rows > 0 ? raw.chunk_rows : 8192,
    blobs: (Array.isArray(raw.blobs) ? raw.blobs : []).filter(isCount),
  };
}

export const readColumn = ({ name, type, unit, doc }: Json): ColumnSpec =>
  ({ name: text(name), type: text(type), unit: maybeText(unit), doc: text(doc) });

function readTable(raw: Json): TableSpec {
  return {
    ...readLongTable(raw),
    doc: text(raw.doc),
    columns: list(raw.columns).map(readColumn),
  };
}
