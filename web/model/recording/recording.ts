// One open recording: its manifest, the caches over its blobs, and the texts, which are read once. Code that needs data
// of a document takes a Recording, which knows nothing of the screen.

import type { Column } from "../../read/column.ts";
import type { Value } from "../../read/column.ts";
import type { Source } from "../../read/source.ts";
import type { SqlServer } from "../../read/sql_client.ts";
import { NO_SUMS, readChunkSums, type ChunkSums } from "./chunk_sums.ts";
import { Chunks } from "./chunks.ts";
import { Frames, readCuts, readFrames, type FrameCuts } from "./stack_frames.ts";
import { readJob, type Job } from "../job/job.ts";
import type { ColumnSpec, Lane, Manifest, Track } from "./manifest.ts";
import { readReport, readTables } from "./read_report.ts";
import type { BusyShares, Report, ReportTable } from "./report.ts";
import { readNames, type Name } from "./names.ts";
import { readStep, type StepPicture } from "../job/step_bars.ts";
import { Strings } from "./strings.ts";
import { ChunkedRows, wholeRows, type TableRows } from "../table/table_rows.ts";

/** One row of a table with all its recorded fields. */
export interface Row {
  table: string;
  row: number;
  columns: ColumnSpec[];
  /** null: absent. */
  value(column: string): Value;
  number(column: string): number | null;
}

/** The call stacks of events, and what each chunk of events contains by frame. */
export interface Stacks {
  frames: Frames;
  cuts: FrameCuts;
  sums: ChunkSums;
}

export class Recording {
  readonly strings = new Strings();
  readonly chunks: Chunks;
  readonly childrenOf: Track[][];
  readonly lanesOf: Lane[][];
  /** Until then, what depends on the answer is absent, and what reads it waits. */
  readonly answered: Promise<void>;
  private reportRead: Promise<Report> | undefined;
  private jobRead: Promise<Job> | undefined;
  private namesRead: Promise<Name[]> | undefined;
  private stacksRead: Promise<Stacks> | undefined;
  private busySharesRead: Promise<BusyShares | null> | undefined;

  /** `answer`: the manifest that has it too, of a recording whose answer is still being computed. */
  constructor(
    private described: Manifest,
    private readonly source: Source,
    answer: Promise<Manifest> | null = null,
  ) {
    const { manifest } = this;
    this.answered = answer === null ? Promise.resolve() : answer.then((whole) => this.complete(whole));
    this.chunks = new Chunks(source, this.strings);
    this.childrenOf = manifest.tracks.map(() => []);
    this.lanesOf = manifest.tracks.map(() => []);
    for (const track of manifest.tracks) if (track.parent >= 0) this.childrenOf[track.parent]!.push(track);
    for (const lane of manifest.lanes) this.lanesOf[lane.track]!.push(lane);
    for (const lane of manifest.lanes) if (lane.label !== null) this.strings.intern(lane.label);
  }

  get manifest(): Manifest {
    return this.described;
  }

  /** What is known stays the same object: others compare lanes. */
  private complete(whole: Manifest): void {
    const { tracks, lanes, tables } = this.described;
    this.described = { ...whole, tracks, lanes, tables };
  }

  /** SQL over the recording; null: the page is a file. */
  get sql(): SqlServer | null {
    return this.source.sql ?? null;
  }

  report(): Promise<Report> {
    this.reportRead ??= this.answered.then(() => this.text(this.manifest.report)).then(readReport);
    return this.reportRead;
  }

  busyShares(): Promise<BusyShares | null> {
    this.busySharesRead ??= this.answered.then(async () => {
      const blob = this.manifest.busy_shares;
      return blob === null ? null : (JSON.parse(await this.text(blob)) as BusyShares);
    });
    return this.busySharesRead;
  }

  /** Fails if the document is of no job. */
  job(): Promise<Job> {
    this.jobRead ??= this.text(this.manifest.job?.about ?? -1).then(readJob);
    return this.jobRead;
  }

  /** Ranks of a job whose recordings the program that serves the page can open; null: the page is a file. */
  async openRanks(): Promise<ReadonlySet<number> | null> {
    const ranks = await this.source.recordings?.();
    return ranks === undefined ? null : new Set(ranks);
  }

  /** One quantity of a job, by rank, then step; NaN where unknown. */
  async jobCells(quantity: number): Promise<Float64Array> {
    const job = await this.job();
    const blob = this.manifest.job?.cells[quantity];
    const payload = blob === undefined ? null : await this.chunks.loadPayload(blob);
    const column = payload?.columns.get("value");
    const cells = column?.cells();
    if (payload === null || payload.rows !== job.recorded.length || !column || cells?.kind !== "number")
      throw new Error("the cells of this quantity cannot be read");
    const { quantum } = job.quantities[quantity]!;
    return cells.values.map((value, cell) => (column.has(cell) ? value * quantum : NaN));
  }

  /** A step of a job as bars; null if the document does not have it. */
  async jobStep(step: number): Promise<StepPicture | null> {
    const blob = this.manifest.job?.steps.get(step);
    if (blob === undefined) return null;
    const job = await this.job();
    return readStep(await this.text(blob), job.ranks.length, job.parts.length);
  }

  /** All rows of a table of the report. */
  rowsOf(table: ReportTable): TableRows {
    const long = this.manifest.long_tables.get(table.name);
    if (long === undefined || table.rows.length >= long.rows) return wholeRows(table);
    return new ChunkedRows(table.columns, long, (blob) => this.chunks.loadPayload(blob));
  }

  names(): Promise<Name[]> {
    const { names: blob } = this.manifest;
    this.namesRead ??= (blob === null ? Promise.resolve(null) : this.chunks.loadPayload(blob)).then(readNames);
    return this.namesRead;
  }

  stacks(): Promise<Stacks> {
    this.stacksRead ??= this.readStacks();
    return this.stacksRead;
  }

  private async readStacks(): Promise<Stacks> {
    const { frames: framesBlob, cuts: cutsBlob, sums: sumsBlob } = this.manifest;
    if (framesBlob === null || sumsBlob === null) return { frames: new Frames(), cuts: new Map(), sums: NO_SUMS };
    const blobs = [framesBlob, sumsBlob, ...(cutsBlob === null ? [] : [cutsBlob])];
    const reads = blobs.map((blob) => this.chunks.loadPayload(blob));
    const [framesRead, sumsRead, cutsRead] = await Promise.all(reads);
    const frames = framesRead && readFrames(framesRead);
    const sums = frames && sumsRead && readChunkSums(sumsRead, frames.size);
    if (!frames || !sums) throw new Error("the call stacks of this recording cannot be read");
    return { frames, cuts: cutsRead ? readCuts(cutsRead, frames.size) : new Map(), sums };
  }

  /** The tables about the kernel of a row of `limits`; empty if the document has none. */
  async kernel(row: number): Promise<ReportTable[]> {
    const blob = this.manifest.kernels[row];
    return blob === undefined ? [] : readTables(await this.text(blob));
  }

  /** null if the table or the row is not in the document. */
  async row(table: string, row: number): Promise<Row | null> {
    const spec = this.manifest.tables.get(table);
    if (!spec || !(row >= 0 && row < spec.rows)) return null;
    const blob = spec.blobs[Math.floor(row / spec.chunk_rows)];
    const payload = blob === undefined ? null : await this.chunks.loadPayload(blob);
    if (payload === null) return null;
    const inside = row % spec.chunk_rows;
    const value = (name: string): Value => payload.columns.get(name)?.value(inside) ?? null;
    const number = (name: string): number | null => {
      const cell = value(name);
      return cell === null || typeof cell === "string" ? null : Number(cell);
    };
    return { table, row, columns: spec.columns, value, number };
  }

  /** One column of one chunk of a table, for scans: [first row, column]. */
  async column(table: string, name: string, chunk: number): Promise<[number, Column] | null> {
    const spec = this.manifest.tables.get(table);
    const blob = spec?.blobs[chunk];
    const payload = blob === undefined ? null : await this.chunks.loadPayload(blob);
    const column = payload?.columns.get(name);
    return spec && column ? [chunk * spec.chunk_rows, column] : null;
  }

  private async text(blob: number): Promise<string> {
    if (blob < 0) throw new Error("this file contains no report");
    return new TextDecoder().decode(await this.chunks.bytes(blob));
  }
}
