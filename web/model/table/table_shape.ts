// What the reader chose about a table: a filter, an order, a grouping and hidden columns, all by name, so that they fit
// into an address and outlive a change of the table. `shapeRows` finds the rows to show, over all rows of the table.

import { fail, ok, type Result } from "../../read/result.ts";
import type { Cell, ReportTable } from "../recording/report.ts";
import { rowTest } from "./table_filter.ts";
import { Grouping, sortedRows, type Order } from "./table_order.ts";
import { wholeRows, type TableRows } from "./table_rows.ts";

export interface TableShape {
  filter: string;
  sort: string; // a column, after "-" if descending; "": the order of the report
  group: string; // a column; "": one row per row of the report
  hidden: readonly string[]; // columns
}

export const PLAIN: TableShape = { filter: "", sort: "", group: "", hidden: [] };

/** Each choice as text, for the address. */
export function shapeTexts({ filter, sort, group, hidden }: TableShape): string[] {
  const entries = Object.entries({ filter, sort, group, hidden: hidden.join(",") });
  return entries.flatMap(([name, value]) => (value === "" ? [] : [`${name}:${value}`]));
}

export function readShape(texts: readonly string[]): TableShape {
  const values = new Map(texts.map((text) => [text.slice(0, text.indexOf(":")), text.slice(text.indexOf(":") + 1)]));
  const of = (name: string): string => values.get(name) ?? "";
  const hidden = of("hidden").split(",").filter((name) => name !== "");
  return { filter: of("filter"), sort: of("sort"), group: of("group"), hidden };
}

/** The rows to show, in display order, of the table or of its groups. */
export interface ShownRows {
  table: ReportTable;
  source: TableRows;
  rows: ArrayLike<number>;
}

/** null: the table has no such column. */
export function orderOf(table: ReportTable, sort: string): Order | null {
  const descending = sort.startsWith("-");
  const name = descending ? sort.slice(1) : sort;
  const column = table.columns.findIndex((each) => each.name === name);
  return column < 0 ? null : { column, descending };
}

export const sortText = (table: ReportTable, order: Order | null): string =>
  order === null ? "" : `${order.descending ? "-" : ""}${table.columns[order.column]!.name}`;

/** Indices of the columns to show; all if none would be left. */
export function shownColumns(table: ReportTable, hidden: readonly string[]): number[] {
  const all = table.columns.map((_, at) => at);
  const kept = all.filter((at) => !hidden.includes(table.columns[at]!.name));
  return kept.length > 0 ? kept : all;
}

/** Collects rows one by one, then sorts them. */
class Shaping {
  readonly needs: number[]; // columns
  private readonly kept: number[] = [];
  private readonly keys: Cell[] = [];
  private readonly order: Order | null;
  private readonly grouping: Grouping | null;

  constructor(
    private readonly table: ReportTable,
    private readonly source: TableRows,
    private readonly shape: TableShape,
    private readonly test: { columns: readonly number[]; passes: (row: readonly Cell[]) => boolean },
  ) {
    const by = table.columns.findIndex((column) => column.name === shape.group);
    this.grouping = by < 0 ? null : new Grouping(table, by);
    this.order = by < 0 ? orderOf(table, shape.sort) : null;
    const ordering = this.order === null ? [] : [this.order.column];
    this.needs = [...new Set([...test.columns, ...(this.grouping?.needs ?? []), ...ordering])];
  }

  readonly add = (cells: readonly Cell[], row: number): void => {
    if (!this.test.passes(cells)) return;
    if (this.grouping !== null) return this.grouping.add(cells);
    this.kept.push(row);
    if (this.order !== null) this.keys.push(cells[this.order.column] ?? null);
  };

  shown(): ShownRows {
    if (this.grouping === null) {
      const keys = this.order === null ? null : this.keys;
      const rows = sortedRows(this.kept, keys, this.order?.descending ?? false);
      return { table: this.table, source: this.source, rows };
    }
    const groups = this.grouping.table();
    const order = orderOf(groups, this.shape.sort);
    const all = groups.rows.map((_, row) => row);
    const keys = order === null ? null : groups.rows.map((row) => row[order.column] ?? null);
    return { table: groups, source: wholeRows(groups), rows: sortedRows(all, keys, order?.descending ?? false) };
  }
}

function shapingOf(table: ReportTable, source: TableRows, shape: TableShape): Result<Shaping> {
  const test = rowTest(table, shape.filter);
  return test.ok ? ok(new Shaping(table, source, shape, test.value)) : test;
}

/** The same at once, for tables whose rows are all in the report. */
export function shapeWhole(table: ReportTable, source: TableRows, shape: TableShape): Result<ShownRows> {
  const shaping = shapingOf(table, source, shape);
  if (!shaping.ok) return shaping;
  table.rows.forEach(shaping.value.add);
  return ok(shaping.value.shown());
}

const STOPPED = "stopped";

/** Fails with a problem of the filter, or when `isCurrent` becomes false; it is called with the number of rows read. */
export async function shapeRows(
  table: ReportTable, source: TableRows, shape: TableShape, isCurrent: (done: number) => boolean,
): Promise<Result<ShownRows>> {
  if (source.isWhole) return shapeWhole(table, source, shape);
  if (shape.filter.trim() === "" && orderOf(table, shape.sort) === null && shape.group === "")
    return ok({ table, source, rows: Uint32Array.from({ length: source.length }, (_, row) => row) });
  const shaping = shapingOf(table, source, shape);
  if (!shaping.ok) return shaping;
  const isRead = await source.scan(shaping.value.needs, shaping.value.add, isCurrent);
  return isRead ? ok(shaping.value.shown()) : fail(STOPPED);
}
