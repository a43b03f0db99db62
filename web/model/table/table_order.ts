// Sorting rows of a table by a column, and summing them by the values of a column.

import type { Cell, ReportColumn, ReportTable } from "../recording/report.ts";

export interface Order {
  column: number;
  descending: boolean;
}

/** Rows sorted by their keys. Absent keys come last in either direction; equal keys keep the order of the report. */
export function sortedRows(rows: readonly number[], keys: readonly Cell[] | null, descending: boolean): number[] {
  if (keys === null) return [...rows];
  const sign = descending ? -1 : 1;
  const places = rows.map((_, place) => place);
  places.sort((a, b) => {
    const [x, y] = [keys[a]!, keys[b]!];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    return sign * compare(x, y) || a - b;
  });
  return places.map((place) => rows[place]!);
}

function compare(x: NonNullable<Cell>, y: NonNullable<Cell>): number {
  if (typeof x === "string" && typeof y === "string") return Number(x > y) - Number(x < y);
  return Number(x) - Number(y);
}

/** Columns whose values add up over rows. Means, extremes, percentiles, times and unions (busy) do not. */
const ADDITIVE = new Set([
  "total_ns", "dur_ns", "count", "bytes", "kernels", "memcpys", "memsets", "ops", "host_self_ns", "cpu_self_ns",
  "device_self_ns", "device_mem_bytes", "device_ns", "flops", "cpu_ns", "user_ns", "system_ns", "self_samples",
  "cost_ns",
]);

export const isAdditive = (column: ReportColumn): boolean => ADDITIVE.has(column.name);

/** One row for each value of a column: the value, the number of rows, sums of additive columns; largest first. */
export class Grouping {
  readonly needs: number[]; // columns
  private readonly sums: number[];
  private readonly groups = new Map<Cell, { rows: number; sums: (number | null)[] }>();

  constructor(
    private readonly whole: ReportTable,
    private readonly by: number,
  ) {
    this.sums = whole.columns.flatMap((column, at) => (isAdditive(column) ? [at] : []));
    this.needs = [by, ...this.sums];
  }

  add(cells: readonly Cell[]): void {
    const key = cells[this.by] ?? null;
    let group = this.groups.get(key);
    if (group === undefined) this.groups.set(key, (group = { rows: 0, sums: this.sums.map(() => null) }));
    group.rows++;
    this.sums.forEach((at, i) => {
      const cell = cells[at];
      if (typeof cell === "number") group.sums[i] = (group.sums[i] ?? 0) + cell;
    });
  }

  table(): ReportTable {
    const { name, columns } = this.whole;
    const rows = [...this.groups].map(([key, group]): Cell[] => [key, group.rows, ...group.sums]);
    rows.sort((a, b) => Number(b[2] ?? b[1]) - Number(a[2] ?? a[1]));
    const doc = "Rows of the table in this group.";
    const count: ReportColumn = { name: "rows", type: "integer", unit: "count", doc };
    const sums = this.sums.map((at) => ({ ...columns[at]!, doc: `Sum of: ${columns[at]!.doc}` }));
    const shown = [columns[this.by]!, count, ...sums];
    return { name, handle_prefix: null, columns: shown, row_count: rows.length, rows, notes: [] };
  }
}
