// The difference of the answers of two ranges: by kernel, cause of idle time, operator, call and copy. The differences
// of a list add up to the difference of its sums.

import type { RangeAnswer } from "./range_answer.ts";
import { tablesOf, type RangeTable, type RangeTables } from "./range_tables.ts";

export interface Amount {
  ns: number;
  count: number;
}

export interface DifferenceRow {
  name: string;
  table: string;
  before: Amount | null; // null: nothing on this side
  after: Amount | null;
  ns: number; // after - before
}

export type Differences = Record<keyof RangeTables | "idle", DifferenceRow[]>;

interface Part extends Amount {
  name: string;
  table: string;
}

/** Largest difference first; parts of one name on a side are added. */
export function differences(before: readonly Part[], after: readonly Part[]): DifferenceRow[] {
  const rows = new Map<string, DifferenceRow>();
  const add = (side: "before" | "after", parts: readonly Part[]) => {
    for (const { name, table, ns, count } of parts) {
      const key = `${table} ${name}`;
      const row = rows.get(key) ?? { name, table, before: null, after: null, ns: 0 };
      rows.set(key, row);
      const { ns: known, count: counted } = row[side] ?? { ns: 0, count: 0 };
      row[side] = { ns: known + ns, count: counted + count };
    }
  };
  add("before", before);
  add("after", after);
  for (const row of rows.values()) row.ns = (row.after?.ns ?? 0) - (row.before?.ns ?? 0);
  return [...rows.values()].sort((a, b) => Math.abs(b.ns) - Math.abs(a.ns));
}

const partsOf = (table: RangeTable): Part[] =>
  table.map(({ name, table, total_ns, count }) => ({ name, table, ns: total_ns, count }));
const causesOf = ({ idle }: RangeAnswer): Part[] =>
  idle.map(({ cause, ns }) => ({ name: cause, table: "gap", ns, count: 0 }));

export function differenceOf(before: RangeAnswer, after: RangeAnswer): Differences {
  const [old, now] = [tablesOf(before), tablesOf(after)];
  const of = (kind: keyof RangeTables) => differences(partsOf(old[kind]), partsOf(now[kind]));
  const idle = differences(causesOf(before), causesOf(after));
  const [kernels, operators, calls] = [of("kernels"), of("operators"), of("calls")];
  return { kernels, idle, operators, calls, copies: of("copies"), python: of("python") };
}
