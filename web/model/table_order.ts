// The displayed rows of a table: filtered, sorted by a column, or summed by the texts of a column. Rows do not change;
// these functions return their indices.

import type { Cell, ReportColumn, ReportTable } from "./report.ts";

export interface Order {
  column: number;
  descending: boolean;
}

/** Absent cells come last in either direction; equal cells keep the order of the report. */
export function orderedRows(table: ReportTable, isShown: (row: readonly Cell[]) => boolean, order: Order | null): number[] {
  const rows: number[] = [];
  table.rows.forEach((row, i) => isShown(row) && rows.push(i));
  if (order === null) return rows;
  const cells = table.rows.map((row) => row[order.column] ?? null);
  const sign = order.descending ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [cells[a]!, cells[b]!];
    if (x === null || y === null) return Number(x === null) - Number(y === null) || a - b;
    return sign * compare(x, y) || a - b;
  });
}

function compare(x: NonNullable<Cell>, y: NonNullable<Cell>): number {
  if (typeof x === "string" && typeof y === "string") return x < y ? -1 : x > y ? 1 : 0;
  return Number(x) - Number(y);
}

/** Columns whose values add up over rows. Means, extremes, percentiles, times and unions (busy) do not. */
const ADDITIVE = new Set([
  "total_ns", "dur_ns", "count", "bytes", "kernels", "memcpys", "memsets", "ops", "host_self_ns", "cpu_self_ns",
  "device_self_ns", "device_mem_bytes", "device_ns", "flops", "cpu_ns", "user_ns", "system_ns", "self_samples", "cost_ns",
]);

export const isAdditive = (column: ReportColumn): boolean => ADDITIVE.has(column.name);

/** One row for each text of a column: the text, the number of rows, and the sums of additive columns; largest first. */
export function groupedTable(table: ReportTable, rows: readonly number[], by: number): ReportTable {
  const sums = table.columns.flatMap((column, at) => (isAdditive(column) ? [at] : []));
  const groups = new Map<Cell, { rows: number; sums: (number | null)[] }>();
  for (const row of rows) {
    const cells = table.rows[row]!;
    const key = cells[by] ?? null;
    const group = groups.get(key) ?? { rows: 0, sums: sums.map(() => null) };
    groups.set(key, group);
    group.rows++;
    sums.forEach((at, i) => {
      const cell = cells[at];
      if (typeof cell === "number") group.sums[i] = (group.sums[i] ?? 0) + cell;
    });
  }
  const out = [...groups].map(([key, group]): Cell[] => [key, group.rows, ...group.sums]);
  out.sort((a, b) => Number(b[2] ?? b[1]) - Number(a[2] ?? a[1]));
  const rowsColumn: ReportColumn = { name: "rows", type: "integer", unit: "count", doc: "Rows of the table in this group." };
  const columns = [table.columns[by]!, rowsColumn, ...sums.map((at) => ({ ...table.columns[at]!, doc: `Sum of: ${table.columns[at]!.doc}` }))];
  return { name: table.name, handle_prefix: null, columns, row_count: out.length, rows: out, notes: [] };
}
