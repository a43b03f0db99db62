// A report cell as exact text, and what its column means. column_format.ts has the short text.

import type { Cell, ReportColumn } from "../model/recording/report.ts";
import { exact, grouped, unitText } from "./time_text.ts";

/** "70.4 %", from a value that is already a percentage. */
export function pct(value: number): string {
  const isTiny = value !== 0 && Math.abs(value) < 0.05;
  return `${isTiny ? (value > 0 ? "<0.1" : ">−0.1") : grouped(value.toFixed(1))} %`;
}

export function exactCell(cell: Cell, column: ReportColumn): string {
  if (cell === null) return "unknown";
  if (typeof cell !== "number") return String(cell);
  if (column.unit === "ns") return exact(cell);
  return column.unit === null ? plain(cell) : `${grouped(cell)} ${unitText(column.unit)}`.trimEnd();
}

/** What a column means, for tooltips. */
export function columnDoc({ doc, unit }: { doc: string; unit: string | null }): string {
  return unit === null || unitText(unit) === "" ? doc : `${doc} Unit: ${unitText(unit)}.`;
}

/** Numbers without a unit are ordinals and ids: every digit, no groups. */
const plain = (value: number): string =>
  Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(6)));

export const isNumeric = (column: ReportColumn): boolean => column.type === "integer" || column.type === "real";
