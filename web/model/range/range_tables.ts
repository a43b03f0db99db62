// A range answer as tables, largest time first: kernels, copies and fills, operators and ranges, calls of each thread,
// Python functions. The total of a function counts its outermost instances only, so that recursion counts once; its
// self time is that without the events below it.

import { NO_FRAME } from "../recording/stack_frames.ts";
import type { RangeAnswer } from "./range_answer.ts";

export interface RangeRow {
  name: string;
  table: string;
  thread: string; // "" for device work
  count: number;
  total_ns: number;
  self_ns: number;
  bytes: number; // NaN: unknown
}

export type RangeTable = readonly RangeRow[];

export interface RangeTables {
  kernels: RangeTable;
  copies: RangeTable;
  operators: RangeTable;
  calls: RangeTable; // one row per thread and name
  python: RangeTable;
}

const TABLE_OF: Readonly<Record<string, keyof RangeTables>> = {
  kernel: "kernels",
  memcpy: "copies",
  memset: "copies",
  op: "operators",
  range: "operators",
  api_call: "calls",
  os_call: "calls",
  python_call: "python",
};

export const totalOf = (table: RangeTable): number => table.reduce((sum, row) => sum + row.total_ns, 0);

/** The tables of events on threads. */
export const HOST_TABLES: ReadonlySet<string> =
  new Set(["range", "op", "api_call", "os_call", "overhead", "python_call"]);

/** The time of each frame of a thread without the frames directly below it. */
export function selfTimes({ frames, sums }: RangeAnswer): Map<number, number> {
  const own = new Map<number, number>();
  const isHost = (id: number) => HOST_TABLES.has(frames.at(id).table);
  for (const { frame, ns } of sums.values()) if (isHost(frame)) own.set(frame, (own.get(frame) ?? 0) + ns);
  for (const { frame, ns } of sums.values()) {
    const { parent } = frames.at(frame);
    if (isHost(frame) && parent !== NO_FRAME && isHost(parent)) own.set(parent, (own.get(parent) ?? 0) - ns);
  }
  return own;
}

export function tablesOf(answer: RangeAnswer): RangeTables {
  const { frames, sums } = answer;
  const own = selfTimes(answer);
  const rows = new Map<string, RangeRow>();
  for (const { frame: id, count, ns, bytes } of sums.values()) {
    const { table, name } = frames.at(id);
    const kind = TABLE_OF[table];
    if (kind === undefined) continue;
    const thread = kind === "calls" ? frames.threadOf(id) : "";
    const key = `${table} ${name} ${thread}`;
    let row = rows.get(key);
    if (row === undefined) rows.set(key, (row = { name, table, thread, count: 0, total_ns: 0, self_ns: 0, bytes: 0 }));
    row.count += count;
    row.bytes += bytes;
    row.self_ns += own.get(id) ?? ns;
    if (frames.isOutermost(id)) row.total_ns += ns;
  }
  const inOrder = [...rows.values()].sort((a, b) => b.total_ns - a.total_ns || b.count - a.count);
  const only = (kind: keyof RangeTables) => inOrder.filter(({ table }) => TABLE_OF[table] === kind);
  const [kernels, copies, operators] = [only("kernels"), only("copies"), only("operators")];
  return { kernels, copies, operators, calls: only("calls"), python: only("python") };
}
