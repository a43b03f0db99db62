// The filter typed above a table, as a test for its rows. `column>value` compares, with = < > <= >= and a unit of time
// or size if the column has one (duration>1ms, bytes>=4MiB); other words are case-insensitive text that some cell must
// contain. A comparison with an unknown column is also text, because names contain < and >.

import { fail, ok, type Result } from "../../read/result.ts";
import { columnNamed, headingOf } from "./heading.ts";
import type { Cell, ReportColumn, ReportTable } from "../recording/report.ts";

type Test = (row: readonly Cell[]) => boolean;

export interface RowTest {
  columns: readonly number[]; // that it reads
  passes: Test;
}

const CONDITION = /(?:^|\s)(\w+)(<=|>=|<|>|=)(\S+)/g;
export const COMPARISONS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
};
const SCALES: Record<string, Record<string, number>> = {
  ns: { ns: 1, us: 1e3, ms: 1e6, s: 1e9 },
  bytes: { b: 1, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30, tib: 2 ** 40 },
};

export function rowTest(table: ReportTable, query: string): Result<RowTest> {
  const tests: Test[] = [];
  const columns: number[] = [];
  let text = query;
  for (const [whole, name, sign, value] of query.matchAll(CONDITION)) {
    const at = columnNamed(table.columns, name!);
    if (at < 0) continue; // f<int> is part of a name
    const test = condition(table.columns[at]!, sign!, value!);
    if (!test.ok) return test;
    columns.push(at);
    tests.push((row) => test.value(row[at] ?? null));
    text = text.replace(whole, " ");
  }
  text = text.trim().toLowerCase();
  if (text !== "") {
    table.columns.forEach((column, at) => column.type === "text" && columns.push(at));
    tests.push((row) => row.some((cell) => typeof cell === "string" && cell.toLowerCase().includes(text)));
  }
  return ok({ columns, passes: (row) => tests.every((test) => test(row)) });
}

/** Absent cells meet no condition. */
function condition(column: ReportColumn, sign: string, value: string): Result<(cell: Cell) => boolean> {
  if (column.type !== "integer" && column.type !== "real") {
    if (sign !== "=") return fail(`cannot compare the text ${headingOf(column)} with ${sign}; use =`);
    return ok((cell) => cell !== null && String(cell).toLowerCase() === value.toLowerCase());
  }
  const limit = numberIn(column, value);
  const unit = column.unit === null ? "" : ` in ${column.unit}`;
  if (limit === null) return fail(`invalid value '${value}' for ${headingOf(column)}: expected a number${unit}`);
  const meets = COMPARISONS[sign]!;
  return ok((cell) => typeof cell === "number" && meets(cell, limit));
}

function numberIn(column: ReportColumn, value: string): number | null {
  const found = /^(-?[\d.]+(?:e[+-]?\d+)?)([a-z%]*)$/i.exec(value);
  if (found === null) return null;
  const unit = found[2]!.toLowerCase();
  const scale = unit === "" || (unit === "%" && column.unit === "%") ? 1 : SCALES[column.unit ?? ""]?.[unit];
  const number = Number(found[1]) * (scale ?? NaN);
  return Number.isFinite(number) ? number : null;
}
