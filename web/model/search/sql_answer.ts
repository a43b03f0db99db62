// Answers to SQL as tables of the page, and the times in their rows. Names and values are those of the answer: what the
// SQL calls total_ns is shown in ns. Times are recognised by the names that columns of gpu-profile have.

import { readTables } from "../recording/read_report.ts";
import type { ReportColumn, ReportTable } from "../recording/report.ts";
import type { Range } from "../recording/range.ts";

const STARTS = ["start_ns", "from_ns", "time_ns", "at_ns", "first_ns"];
const ENDS = ["end_ns", "to_ns", "last_ns"];
const LENGTH = "dur_ns";

/** The tables of `gpu-profile query --format json`, one for each statement. */
export function answerTables(answer: unknown): ReportTable[] {
  const raw = (answer as { tables?: { more?: unknown }[] } | null)?.tables ?? [];
  return readTables(JSON.stringify(answer)).map((table, i, all) => ({
    ...table,
    name: all.length === 1 ? "Answer" : `Answer ${i + 1}`,
    columns: unique(table.columns.map((column, at) => typed(column, table, at))),
    notes: raw[i]?.more === true ? [goesOn(table.rows.length)] : [],
  }));
}

function goesOn(rows: number): string {
  const shown = `The answer goes on: these are its first ${rows.toLocaleString("en-US")} rows.`;
  return `${shown} Narrow the query with WHERE, or sum rows up with GROUP BY.`;
}

function typed(column: ReportColumn, table: ReportTable, at: number): ReportColumn {
  const cells = table.rows.map((row) => row[at] ?? null).filter((cell) => cell !== null);
  const numeric = cells.length > 0 && cells.every((cell) => typeof cell === "number");
  const ofNumbers = cells.every(Number.isInteger) ? "integer" : "real";
  return { ...column, type: numeric ? ofNumbers : "text", unit: null, heading: column.name, doc: column.name };
}

/** SQL allows equal names of columns; the second of two becomes "name (2)". */
function unique(columns: ReportColumn[]): ReportColumn[] {
  const times = new Map<string, number>();
  return columns.map((column) => {
    const time = (times.get(column.name) ?? 0) + 1;
    times.set(column.name, time);
    return time === 1 ? column : { ...column, name: `${column.name} (${time})` };
  });
}

/** When each row happened; null for a row without a time, and for a table whose columns have none. */
export function rowTimes(table: ReportTable): (Range | null)[] | null {
  const place = (names: readonly string[]) =>
    table.columns.findIndex((column) => column.type !== "text" && names.includes(column.name));
  const [start, end, length] = [place(STARTS), place(ENDS), place([LENGTH])];
  if (start < 0) return null;
  return table.rows.map((row) => {
    const from = row[start];
    if (typeof from !== "number") return null;
    const [to, span] = [row[end], row[length]];
    const last = typeof span === "number" ? from + span : from;
    return { from, to: Math.max(from, typeof to === "number" ? to : last) };
  });
}
