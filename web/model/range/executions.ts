// Every execution of a kernel name in a time span, from the events themselves: durations in time order, and the place
// of each. Reads all chunks that can hold one, in sequence.

import { BLOB, END, START } from "../recording/lane.ts";
import type { Recording } from "../recording/recording.ts";
import { nameSetsOf, isNamed } from "../search/search.ts";
import { NO_ROW } from "../recording/slices.ts";
import type { Range, Selection } from "../recording/range.ts";

export interface Executions {
  name: string;
  length: number;
  dur: Float64Array; // ns
  start: Float64Array;
  lane: Float64Array;
  row: Float64Array;
}

/** null once `isCurrent` returns false: the result is no longer needed. */
export async function executionsOf(
  recording: Recording, name: string, within: Range, isCurrent: () => boolean,
): Promise<Executions | null> {
  const names = (await recording.names()).filter((each) => each.table === "kernel" && each.name === name);
  const nameSet = nameSetsOf(recording, names).get("kernel");
  const [dur, start, lanes, rows]: number[][] = [[], [], [], []];
  for (const lane of recording.manifest.lanes) {
    if (nameSet === undefined || lane.table !== "kernel" || lane.kind === "value") continue;
    for (const chunk of lane.levels[0]?.chunks ?? []) {
      if (chunk[START] > Math.min(within.to, nameSet.last) || chunk[END] < Math.max(within.from, nameSet.first))
        continue;
      const slices = await recording.chunks.loadSlices(chunk[BLOB]);
      if (!isCurrent()) return null;
      if (slices === null) throw new Error("part of the recording cannot be read");
      for (let i = 0; i < slices.length; i++) {
        const at = slices.start[i]!;
        if (at < within.from || at > within.to || !isNamed(recording, lane, nameSet, slices.name[i]!)) continue;
        dur!.push(slices.end[i]! - at);
        start!.push(at);
        lanes!.push(lane.id);
        rows!.push(slices.row[i]!);
      }
    }
  }
  const array = (values: number[] | undefined) => Float64Array.from(values ?? []);
  return { name, length: dur!.length, dur: array(dur), start: array(start), lane: array(lanes), row: array(rows) };
}

export function executionAt({ name, dur, start, lane, row }: Executions, i: number): Selection | null {
  if (row[i] === NO_ROW) return null;
  return { table: "kernel", row: row[i]!, lane: lane[i]!, from: start[i]!, to: start[i]! + dur[i]!, name };
}

/** The value at a share of sorted values, by nearest rank, like percentiles in the report. */
export function percentileOf(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}
