// A table as CSV (RFC 4180), byte for byte the output of `gpu-profile report FILE TABLE --format csv`: header, exact
// values, empty cells for absent values, lines that end with a line feed.

import type { Cell, ReportColumn, ReportTable } from "../recording/report.ts";

export const csvHead = (table: ReportTable, columns: readonly number[]): string =>
  columns.map((at) => field(table.columns[at]!.name)).join(",") + "\n";

export const csvLine = (table: ReportTable, columns: readonly number[], cells: readonly Cell[]): string =>
  columns.map((at) => cellField(cells[at] ?? null, table.columns[at]!)).join(",") + "\n";

function cellField(cell: Cell, column: ReportColumn): string {
  if (cell === null) return "";
  if (typeof cell === "number") return column.type === "real" ? realText(cell) : String(cell);
  return field(String(cell));
}

function field(cell: string): string {
  const text = harmlessText(cell);
  return /[",\n]/.test(text) || text.startsWith("#") ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Makes text harmless in spreadsheets and terminals, by the rule of docs/reference/formats/csv.md
    (core/base/text/csv.h). */
export function harmlessText(text: string): string {
  const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text);
  const guard = text.startsWith("'") || (/^[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(text) && !isNumber) ? "'" : "";
  return guard + text.replace(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g, "\uFFFD");
}

/** The shortest text that reads back equal, as the program writes it: two-digit exponents below 1e-4 and from 1e16. */
export function realText(value: number): string {
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-4 || size >= 1e16) ? value.toExponential() : String(value);
  const spelled = text.replace(/e([+-])(\d)$/, "e$10$2");
  return /[.e]/.test(spelled) ? spelled : `${spelled}.0`;
}
