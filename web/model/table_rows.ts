// The rows of a table of the report, however many: those of most tables are all in the report, others are read in
// chunks from the document's blobs while they are wanted. Rows are numbered as in the report. Chunks that were used last
// are kept; a scan over all rows reads one chunk after the other and lets the page answer in between.

import type { Column } from "../read/column.ts";
import type { Payload } from "../read/payload.ts";
import type { LongTable } from "./manifest.ts";
import type { Cell, ReportColumn, ReportTable } from "./report.ts";

/** Called with every row in order. The cells are valid during the call only. */
export type Visit = (cells: readonly Cell[], row: number) => void;

export interface TableRows {
  readonly length: number;
  /** Whether every row is in memory. */
  readonly isWhole: boolean;
  /** Called when rows that were wanted have arrived. */
  onLoad: () => void;
  /** null while the row is read; `onLoad` follows. */
  row(row: number): readonly Cell[] | null;
  read(row: number): Promise<readonly Cell[]>;
  /** Visits all rows with the cells of `columns`; false if `isCurrent` became false before the end. */
  scan(columns: readonly number[], visit: Visit, isCurrent: (done: number) => boolean): Promise<boolean>;
}

export function wholeRows(table: ReportTable): TableRows {
  const { rows } = table;
  return {
    length: rows.length,
    isWhole: true,
    onLoad: () => {},
    row: (row) => rows[row] ?? null,
    read: async (row) => rows[row] ?? [],
    scan: async (_, visit) => {
      rows.forEach(visit);
      return true;
    },
  };
}

const KEPT_CHUNKS = 12;
const PAUSE_AFTER = 12; // ms of work

type Chunk = Cell[][]; // by row

export class ChunkedRows implements TableRows {
  readonly isWhole = false;
  onLoad: () => void = () => {};
  private readonly chunks = new Map<number, Chunk | null>(); // in order of use, most recent last; null: being read

  constructor(
    private readonly columns: readonly ReportColumn[],
    private readonly table: LongTable,
    private readonly load: (blob: number) => Promise<Payload | null>,
  ) {}

  get length(): number {
    return this.table.rows;
  }

  row(row: number): readonly Cell[] | null {
    const at = Math.floor(row / this.table.chunk_rows);
    const chunk = this.chunks.get(at);
    if (chunk === undefined) void this.chunk(at).then(() => this.onLoad(), () => {}); // the failure is shown once, by the reader of blobs
    return chunk?.[row % this.table.chunk_rows] ?? null;
  }

  async read(row: number): Promise<readonly Cell[]> {
    const at = Math.floor(row / this.table.chunk_rows);
    const found = (await this.chunk(at))[row % this.table.chunk_rows];
    if (found === undefined) throw new Error(`row ${row} of ${this.table.name} cannot be read`);
    return found;
  }

  async scan(columns: readonly number[], visit: Visit, isCurrent: (done: number) => boolean): Promise<boolean> {
    const cells: Cell[] = this.columns.map(() => null);
    let begun = performance.now();
    for (let at = 0; at < this.table.blobs.length; at++) {
      const read = await this.payload(at);
      const values = columns.map((column) => cellsOf(read.columns.get(this.columns[column]!.name), this.columns[column]!, read.rows));
      for (let row = 0; row < read.rows; row++) {
        columns.forEach((column, i) => (cells[column] = values[i]![row]!));
        visit(cells, at * this.table.chunk_rows + row);
      }
      if (performance.now() - begun > PAUSE_AFTER) {
        await new Promise((resume) => setTimeout(resume));
        begun = performance.now();
      }
      if (!isCurrent(Math.min((at + 1) * this.table.chunk_rows, this.length))) return false;
    }
    return true;
  }

  private async chunk(at: number): Promise<Chunk> {
    const known = this.chunks.get(at);
    if (known) {
      this.chunks.delete(at);
      this.chunks.set(at, known);
      return known;
    }
    if (known === undefined) this.chunks.set(at, null);
    try {
      const read = await this.payload(at);
      const values = this.columns.map((column) => cellsOf(read.columns.get(column.name), column, read.rows));
      const chunk = Array.from({ length: read.rows }, (_, row) => values.map((column) => column[row]!));
      this.chunks.delete(at);
      this.chunks.set(at, chunk);
      for (const [old, other] of this.chunks) {
        if (this.chunks.size <= KEPT_CHUNKS) break;
        if (other !== null) this.chunks.delete(old);
      }
      return chunk;
    } catch (error) {
      if (this.chunks.get(at) === null) this.chunks.delete(at);
      throw error;
    }
  }

  private async payload(at: number): Promise<Payload> {
    const blob = this.table.blobs[at];
    const read = blob === undefined ? null : await this.load(blob);
    if (read === null) throw new Error(`rows of ${this.table.name} cannot be read`);
    return read;
  }
}

/** Cells as the report has them. A column that is missing is absent in every row. */
function cellsOf(column: Column | undefined, { type }: ReportColumn, rows: number): Cell[] {
  return Array.from({ length: rows }, (_, row): Cell => {
    const value = column?.value(row) ?? null;
    if (value === null || typeof value === "string") return value;
    if (type === "boolean") return Number(value) !== 0;
    return Number.isFinite(Number(value)) ? Number(value) : null;
  });
}
