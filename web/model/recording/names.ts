// The distinct names of the events of a recording: a small, complete list, which is read before anything is drawn.

import type { Payload } from "../../read/payload.ts";
import { numbers } from "./slices.ts";

export interface Name {
  table: string;
  name: string;
  kind: string | null; // of work, of a kernel
  count: number;
  total: number; // ns
  first: number;
  last: number;
}

export function readNames(payload: Payload | null): Name[] {
  if (payload === null) return [];
  const column = (name: string) => numbers(payload.columns.get(name), payload.rows, 0);
  const [count, total, first, last] = [column("count"), column("total"), column("first"), column("last")];
  return Array.from({ length: payload.rows }, (_, row) => ({
    table: String(payload.columns.get("table")?.value(row) ?? ""),
    name: String(payload.columns.get("name")?.value(row) ?? ""),
    kind: (payload.columns.get("kind")?.value(row) ?? null) as string | null,
    count: count[row]!,
    total: total[row]!,
    first: first[row]!,
    last: last[row]!,
  }));
}
