// How a column of a table is shown: its heading, and one unit for all its values, so that they compare at a glance and
// the unit stands in the heading. The unit fits the median of a sample; decimals fit the small values of it. A value
// that would read as 0 but is not is shown as "<0.01".

import { headingOf } from "../model/table/heading.ts";
import type { Cell, ReportColumn, ReportTable } from "../model/recording/report.ts";
import { isNumeric } from "./cell_text.ts";
import { shortName, visible } from "./short_name.ts";
import { fourDigits, grouped, unitText } from "./time_text.ts";

export interface ColumnFormat {
  heading: string;
  unit: string; // "": none
  text: (cell: Cell) => string;
  isName?: true; // of kernels
}

const NONE = "–"; // absent; never 0
const MOMENTS = new Set(["start_ns", "at_ns", "first_ns", "last_ns"]);
const KERNEL_NAMES = new Set(["name", "before", "after"]);
const MAX_DECIMALS = 3;
const SMALL = 0.1; // share of the sample that may need more decimals than are shown

type Scale = readonly [factor: number, unit: string];

const TIMES: readonly Scale[] = [[1, "ns"], [1e3, "us"], [1e6, "ms"], [1e9, "s"]];
const BYTES: readonly Scale[] = ["B", "KiB", "MiB", "GiB", "TiB"].map((unit, i) => [1024 ** i, unit]);
const decimal = (unit: string): readonly Scale[] =>
  ["", "k", "M", "G", "T", "P"].map((prefix, i) => [1000 ** i, prefix + unit]);

const SCALES: Readonly<Record<string, readonly Scale[]>> = {
  ns: TIMES,
  bytes: BYTES,
  byte: BYTES,
  "byte/s": decimal("B/s"),
  FLOP: decimal("FLOP"),
  "FLOP/s": decimal("FLOP/s"),
};

export function columnFormats(table: ReportTable): ColumnFormat[] {
  const samples = new Map<string, number[]>();
  table.columns.forEach((column, at) => {
    const key = comparedBy(column);
    if (isNumeric(column)) samples.set(key, [...(samples.get(key) ?? []), ...sampleOf(table, at)]);
  });
  for (const sample of samples.values()) sample.sort((a, b) => a - b);
  return table.columns.map((column) => columnFormat(column, samples.get(comparedBy(column)) ?? []));
}

/** Columns that are compared with each other have one unit: statistics of one thing, and both sides of a comparison. */
function comparedBy({ name, unit }: ReportColumn): string {
  if (/^(mean|min|p\d+|max|std)_/.test(name)) return `statistic ${unit}`;
  return name.replace(/^(base|new|before|after)_/, "");
}

/** Sizes of the values that are not 0. */
function sampleOf(table: ReportTable, at: number): number[] {
  const sizes = table.rows.flatMap((row) => (typeof row[at] === "number" && row[at] !== 0 ? [Math.abs(row[at])] : []));
  return sizes;
}

function columnFormat(column: ReportColumn, sample: readonly number[]): ColumnFormat {
  const heading = headingOf(column);
  if (!isNumeric(column)) {
    const isName = KERNEL_NAMES.has(column.name) ? { isName: true as const } : {};
    return { heading, unit: "", text: (cell) => plainText(cell, column), ...isName };
  }
  const median = sample[sample.length >> 1] ?? 0;
  if (column.unit === null || column.unit === "count")
    return { heading, unit: "", text: (cell) => numberText(cell, (value) => unitless(value, column)) };
  const scales = SCALES[column.unit];
  const [factor, unit] = scales?.findLast(([factor]) => median >= factor) ?? scales?.[0] ?? [1, unitText(column.unit)];
  const decimals = decimalsOf(column, sample, factor);
  const least = 10 ** -decimals;
  const show = (value: number) => {
    const shown = value / factor;
    if (shown !== 0 && Math.abs(shown) < least / 2) return `${shown > 0 ? "<" : ">−"}${least.toFixed(decimals)}`;
    return grouped(shown.toFixed(decimals));
  };
  return { heading, unit, text: (cell) => numberText(cell, show) };
}

/** Times on the timeline to the microsecond, integers in their own unit whole, others to three digits. */
function decimalsOf(column: ReportColumn, sample: readonly number[], factor: number): number {
  if (MOMENTS.has(column.name)) return Math.max(0, Math.round(Math.log10(factor)) - 3);
  if (column.unit === "%") return 1;
  if (factor === 1 && column.type === "integer") return 0;
  const small = (sample[Math.floor(sample.length * SMALL)] ?? 0) / factor;
  return small === 0 ? 0 : Math.min(MAX_DECIMALS, Math.max(0, 2 - Math.floor(Math.log10(small) + 1e-9)));
}

function plainText(cell: Cell, column: ReportColumn): string {
  if (cell === null) return NONE;
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return KERNEL_NAMES.has(column.name) && typeof cell === "string" ? shortName(cell) : visible(String(cell));
}

function numberText(cell: Cell, show: (value: number) => string): string {
  if (typeof cell === "number" && Number.isFinite(cell)) return show(cell);
  return cell === null ? NONE : String(cell);
}

/** Counts have groups of digits; ordinals and ids do not. */
function unitless(value: number, { unit }: ReportColumn): string {
  return Number.isInteger(value) && unit !== "count" ? String(value) : fourDigits(value);
}

/** "duration (us)". */
export const headingText = ({ heading, unit }: ColumnFormat): string =>
  unit === "" ? heading : `${heading} (${unit})`;
