// Arrows from the calls of a range to the device work that they submitted there: an event of a device that begins in
// the range, and whose call was recorded, has one.

import { BLOB, chunksIn, type LaneArrow } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import type { Recording } from "../recording/recording.ts";
import { firstFrom } from "../recording/slices.ts";
import type { Range } from "../recording/range.ts";

export const MAX_ARROWS = 2000;

export interface LaunchArrows {
  arrows: LaneArrow[]; // the first ones, from the end of a call to the start of its work
  launches: number; // in the range
}

const WORK = new Set(["kernel", "memcpy", "memset"]);

/** The work of a lane that begins in the range and whose call is recorded. */
type Work = { lane: Lane; time: number; call: number };

interface Launched {
  first: Work[]; // at most MAX_ARROWS
  count: number;
}

/** The rows first to end of a table, and the row of the call of each. */
interface Calls {
  first: number;
  end: number;
  of: (row: number) => number | null;
}

export async function launchArrows(recording: Recording, range: Range): Promise<LaunchArrows> {
  const lanes = recording.manifest.lanes.filter((lane) => WORK.has(lane.table));
  const launched = await Promise.all(lanes.map((lane) => launchedIn(recording, lane, range)));
  const first = launched.flatMap((each) => each.first).sort((a, b) => a.time - b.time).slice(0, MAX_ARROWS);
  const arrows = await Promise.all(first.map((work) => arrowTo(recording, work)));
  const launches = launched.reduce((sum, each) => sum + each.count, 0);
  return { arrows: arrows.filter((arrow) => arrow !== null), launches };
}

async function launchedIn(recording: Recording, lane: Lane, { from, to }: Range): Promise<Launched> {
  const out: Launched = { first: [], count: 0 };
  const events = lane.levels[0];
  let calls: Calls = { first: 0, end: 0, of: () => null };
  for (const chunk of events ? chunksIn(events, from, to) : []) {
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) throw new Error("part of the recording cannot be read");
    for (let i = firstFrom(slices.start, from); i < slices.length && slices.start[i]! < to; i++) {
      const row = slices.row[i]!;
      if (row < calls.first || row >= calls.end) calls = await callsAround(recording, lane.table, row);
      const call = calls.of(row);
      if (call === null) continue;
      out.count++;
      if (out.first.length < MAX_ARROWS) out.first.push({ lane, time: slices.start[i]!, call });
    }
  }
  return out;
}

async function arrowTo(recording: Recording, { lane, time, call }: Work): Promise<LaneArrow | null> {
  const row = await recording.row("api_call", call);
  const [start, of] = [row?.number("start") ?? null, row?.number("lane") ?? null];
  if (start === null || of === null) return null;
  return [{ lane: of, time: start + (row!.number("dur") ?? 0) }, { lane: lane.id, time }];
}

/** The calls of the rows of a table in the chunk with this row. */
async function callsAround(recording: Recording, table: string, row: number): Promise<Calls> {
  const rows = recording.manifest.tables.get(table)?.chunk_rows ?? 1;
  const chunk = Math.floor(row / rows);
  const column = await recording.column(table, "launch", chunk);
  const of = (each: number) => numberOf(column?.[1].value(each - column[0]) ?? null);
  return { first: chunk * rows, end: (chunk + 1) * rows, of };
}

const numberOf = (value: string | number | bigint | null): number | null =>
  value === null || typeof value === "string" ? null : Number(value);
