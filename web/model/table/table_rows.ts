// The rows of a table of the report, however many: those of most tables are all in the report, others are read in
// chunks from the document's blobs while they are wanted. Rows are numbered as in the report. Single rows are kept, not
// chunks, because the visible rows of a sorted table may come from every chunk; a scan over all rows reads one chunk
// after the other and lets the page answer in between.

import type { Column } from "../../read/column.ts";
import type { Payload } from "../../read/payload.ts";
import type { LongTable } from "../recording/manifest.ts";
import type { Cell, ReportColumn, ReportTable } from "../recording/report.ts";

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
  /** Many rows, in the given order; each chunk is read once. */
  read(rows: readonly number[]): Promise<(readonly Cell[])[]>;
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
    read: async (wanted) => wanted.map((row) => rows[row] ?? []),
    scan: async (_, visit) => {
      rows.forEach(visit);
      return true;
    },
  };
}

const KEPT_ROWS = 8192; // more than are ever shown at once
const PAUSE_AFTER = 12; // ms of work

export class ChunkedRows implements TableRows {
  readonly isWhole = false;
  onLoad: () => void = () => {};
  private readonly kept = new Map<number, readonly Cell[]>(); // in order of use, most recent last
  private wanted: number[] = []; // rows to read next
  private isReading = false;

  constructor(
    private readonly columns: readonly ReportColumn[],
    private readonly table: LongTable,
    private readonly load: (blob: number) => Promise<Payload | null>,
  ) {}

  get length(): number {
    return this.table.rows;
  }

  row(row: number): readonly Cell[] | null {
    const cells = this.kept.get(row);
    if (cells !== undefined) {
      this.kept.delete(row);
      this.kept.set(row, cells);
      return cells;
    }
    this.wanted.push(row);
    if (!this.isReading) void this.readWanted();
    return null;
  }

  async read(rows: readonly number[]): Promise<(readonly Cell[])[]> {
    const places = new Map<number, number[]>(); // in `rows`, by chunk
    rows.forEach((row, place) => {
      const at = Math.floor(row / this.table.chunk_rows);
      const own = places.get(at) ?? [];
      places.set(at, own);
      own.push(place);
    });
    const out: (readonly Cell[])[] = new Array(rows.length);
    for (const [at, own] of places) {
      const read = await this.payload(at);
      const columns = this.columns.map((column) => read.columns.get(column.name));
      for (const place of own)
        out[place] = columns.map((column, i) => cellOf(column, this.columns[i]!, rows[place]! % this.table.chunk_rows));
    }
    return out;
  }

  /** Everything wanted since the last time, until nothing is. */
  private async readWanted(): Promise<void> {
    this.isReading = true;
    try {
      await Promise.resolve(); // collects the rows of one drawing
      const rows = this.wanted;
      this.wanted = [];
      (await this.read(rows)).forEach((cells, i) => this.kept.set(rows[i]!, cells));
      for (const old of this.kept.keys()) {
        if (this.kept.size <= KEPT_ROWS) break;
        this.kept.delete(old);
      }
    } catch {
      this.wanted = []; // the failure is shown once, by the reader of blobs
      return;
    } finally {
      this.isReading = false;
    }
    if (this.wanted.length > 0) return this.readWanted();
    this.onLoad();
  }

  async scan(columns: readonly number[], visit: Visit, isCurrent: (done: number) => boolean): Promise<boolean> {
    const cells: Cell[] = this.columns.map(() => null);
    let begun = performance.now();
    for (let at = 0; at < this.table.blobs.length; at++) {
      const read = await this.payload(at);
      const shown = columns.map((column) => this.columns[column]!);
      const values = shown.map((column) => cellsOf(read.columns.get(column.name), column, read.rows));
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

  private async payload(at: number): Promise<Payload> {
    const blob = this.table.blobs[at];
    const read = blob === undefined ? null : await this.load(blob);
    if (read === null) throw new Error(`rows of ${this.table.name} cannot be read`);
    return read;
  }
}

const cellsOf = (column: Column | undefined, spec: ReportColumn, rows: number): Cell[] =>
  Array.from({ length: rows }, (_, row) => cellOf(column, spec, row));

/** A cell as the report has it. A column that is missing is absent in every row. */
function cellOf(column: Column | undefined, { type }: ReportColumn, row: number): Cell {
  const value = column?.value(row) ?? null;
  if (value === null || typeof value === "string") return value;
  if (type === "boolean") return Number(value) !== 0;
  return Number.isFinite(Number(value)) ? Number(value) : null;
}
