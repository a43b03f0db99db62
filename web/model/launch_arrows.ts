// Arrows from the calls of a range to the device work that they submitted there: an event of a device that begins in the
// range, and whose call was recorded, has one.

import { BLOB, chunksIn } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import { firstFrom } from "./slices.ts";
import type { Range } from "./state.ts";

export const MAX_ARROWS = 2000;

/** From the end of a call to the start of its work. */
export interface LaunchArrow {
  from: { lane: number; time: number };
  to: { lane: number; time: number };
}

export interface LaunchArrows {
  arrows: LaunchArrow[]; // the first ones
  launches: number; // in the range
}

const WORK = new Set(["kernel", "memcpy", "memset"]);

export async function launchArrows(recording: Recording, range: Range): Promise<LaunchArrows> {
  const work: { lane: Lane; time: number; row: number }[] = [];
  for (const lane of recording.manifest.lanes)
    if (WORK.has(lane.table)) for (const event of await begun(recording, lane, range)) work.push({ lane, ...event });
  work.sort((a, b) => a.time - b.time);
  const found: LaunchArrows = { arrows: [], launches: 0 };
  for (const { lane, time, row } of work) {
    const call = await cell(recording, lane.table, "launch", row);
    if (call === null) continue;
    found.launches++;
    if (found.arrows.length === MAX_ARROWS) continue;
    const [start, dur, of] = await Promise.all(["start", "dur", "lane"].map((column) => cell(recording, "api_call", column, call)));
    if (start !== null && of !== null) found.arrows.push({ from: { lane: of!, time: start! + (dur ?? 0) }, to: { lane: lane.id, time } });
  }
  return found;
}

/** The events of a lane that begin in a range. */
async function begun(recording: Recording, lane: Lane, { from, to }: Range): Promise<{ time: number; row: number }[]> {
  const out: { time: number; row: number }[] = [];
  const events = lane.levels[0];
  for (const chunk of events ? chunksIn(events, from, to) : []) {
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) throw new Error("part of the recording cannot be read");
    for (let i = firstFrom(slices.start, from); i < slices.length && slices.start[i]! < to; i++) out.push({ time: slices.start[i]!, row: slices.row[i]! });
  }
  return out;
}

async function cell(recording: Recording, table: string, name: string, row: number): Promise<number | null> {
  const spec = recording.manifest.tables.get(table);
  const found = spec && (await recording.column(table, name, Math.floor(row / spec.chunk_rows)));
  const value = found?.[1].value(row - found[0]) ?? null;
  return value === null || typeof value === "string" ? null : Number(value);
}
