// What each chunk of events contains, by frame, as the document records it: a stretch of any length is summed from
// these and from the events of the chunks at its ends. A document without them has its events read instead.

import type { Payload } from "../../read/payload.ts";
import { numbers } from "./slices.ts";

export interface ChunkSums {
  rowsOf: ReadonlyMap<number, [from: number, to: number]>; // of a chunk, by its blob
  frame: Float64Array;
  count: Float64Array;
  time: Float64Array; // ns
  bytes: Float64Array; // NaN: unknown
}

const NONE = new Float64Array(0);
export const NO_SUMS: ChunkSums = { rowsOf: new Map(), frame: NONE, count: NONE, time: NONE, bytes: NONE };

/** Null if the payload names a frame that does not exist. */
export function readChunkSums({ rows, columns }: Payload, frames: number): ChunkSums | null {
  const chunk = numbers(columns.get("chunk"), rows, NaN);
  const frame = numbers(columns.get("frame"), rows, NaN);
  if (!frame.every((id) => Number.isInteger(id) && id >= 0 && id < frames)) return null;
  const rowsOf = new Map<number, [number, number]>();
  for (let row = 0; row < rows; row++) {
    const own = rowsOf.get(chunk[row]!);
    if (own === undefined) rowsOf.set(chunk[row]!, [row, row + 1]);
    else own[1] = row + 1;
  }
  const column = (name: string, absent: number) => numbers(columns.get(name), rows, absent);
  return { rowsOf, frame, count: column("count", 0), time: column("time", 0), bytes: column("bytes", NaN) };
}
