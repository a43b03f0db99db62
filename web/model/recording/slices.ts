// The slices of one chunk as arrays, from a payload of table "slice". They are in order of start; a chunk whose starts
// go backwards is rejected, because every search below relies on it. `maxEnd` is the largest end up to and including a
// slice, so that a binary search also finds the first slice that reaches into a window.

import type { Column } from "../../read/column.ts";
import { fail, ok, type Result } from "../../read/result.ts";
import type { Payload } from "../../read/payload.ts";
import type { Strings } from "./strings.ts";

export const NO_NAME = -1;
export const NO_ROW = -1;

export interface Slices {
  length: number;
  start: Float64Array;
  end: Float64Array;
  maxEnd: Float64Array;
  busy: Float64Array; // ns of [start, end) that events cover
  name: Int32Array; // in Strings; NO_NAME: the lane's label
  row: Float64Array; // of the first event in its table; NO_ROW: unknown
  count: Float64Array; // events in this slice
  moved: Float64Array | null; // bytes that a copy or fill moved, NaN: unknown; null: neither
  bytes: number; // of memory, approximate
}

/** The values of a column, not to be changed: it may keep the same array. */
export function numbers(column: Column | undefined, rows: number, absent: number): Float64Array {
  const cells = column?.cells() ?? null;
  if (!column || cells === null || cells.kind === "text") return new Float64Array(rows).fill(absent);
  if (cells.kind === "bigint") return withAbsent(Float64Array.from(cells.values, Number), column, absent);
  return column.isWhole ? cells.values : withAbsent(cells.values.slice(), column, absent);
}

function withAbsent(values: Float64Array, column: Column, absent: number): Float64Array {
  if (!column.isWhole) for (let row = 0; row < values.length; row++) if (!column.has(row)) values[row] = absent;
  return values;
}

export function readSlices(payload: Payload, strings: Strings): Result<Slices> {
  const { rows, columns } = payload;
  const start = numbers(columns.get("start"), rows, NaN);
  const dur = numbers(columns.get("dur"), rows, 0);
  const [end, maxEnd] = [new Float64Array(rows), new Float64Array(rows)];
  let [before, latest] = [-Infinity, -Infinity];
  for (let row = 0; row < rows; row++) {
    const at = start[row]!;
    if (!(at >= before)) return fail("slices: a start is missing or out of order");
    before = at;
    const until = dur[row]! > 0 ? at + dur[row]! : at;
    if (until > latest) latest = until;
    end[row] = until;
    maxEnd[row] = latest;
  }
  const optional = (name: string) => (columns.has(name) ? numbers(columns.get(name), rows, NaN) : null);
  const busy = optional("busy")?.map((ns, row) => (Number.isNaN(ns) ? dur[row]! : ns)) ?? dur;
  const count = numbers(columns.get("count"), rows, 1);
  const row = numbers(columns.get("row"), rows, NO_ROW);
  const moved = optional("bytes");
  const name = names(columns.get("name"), rows, strings);
  const bytes = rows * 52 + 256;
  return ok({ length: rows, start, end, maxEnd, busy, name, row, count, moved, bytes });
}

function names(column: Column | undefined, rows: number, strings: Strings): Int32Array {
  const out = new Int32Array(rows);
  const cells = column?.cells() ?? null;
  if (!column || cells?.kind !== "text") return out.fill(NO_NAME);
  const { codes, words } = cells;
  const ids = Int32Array.from(words, (word) => strings.intern(word));
  for (let row = 0; row < rows; row++) out[row] = ids[codes[row]!]!;
  if (!column.isWhole) for (let row = 0; row < rows; row++) if (!column.has(row)) out[row] = NO_NAME;
  return out;
}

/** The first index whose value is above `limit`; values ascend. */
export function firstAbove(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! > limit) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The first index whose value is at least `limit`. */
export function firstFrom(values: Float64Array, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! >= limit) high = middle;
    else low = middle + 1;
  }
  return low;
}
