// Lookups in a lane: the level for a resolution, the chunks that touch a window, the slice at a time, neighbours.
// Lookups that may need chunks that are not loaded are asynchronous. Slices of one lane do not overlap.

import type { Chunk, Lane, Level } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import { firstAbove, firstFrom, NO_ROW, type Slices } from "./slices.ts";
import type { Range } from "./range.ts";
import type { Values } from "./values.ts";

export const BLOB = 0;
export const COUNT = 1;
export const START = 2;
export const END = 3;
export const EVENTS_BEFORE = 4;
export const TIME_BEFORE = 5;
export const STACKS = 6;

/** The index of the coarsest lossless level at this many ns per pixel. */
export function levelFor(lane: Lane, nsPerPixel: number): number {
  let best = 0;
  lane.levels.forEach((level, i) => {
    if (level.resolution_ns <= nsPerPixel) best = i;
  });
  return best;
}

export function chunksIn(level: Level, from: number, to: number): Chunk[] {
  return level.chunks.filter((chunk) => chunk[START] <= to && chunk[END] >= from);
}

const TIMES_ONLY = new Set(["busy", "thread_state", "communication", "iteration", "critical_path"]);

/** Times that no event of a table stands for: nothing to select or to count. */
export const isTimesOnly = (lane: Lane): boolean => TIMES_ONLY.has(lane.table);

export interface LaneTime {
  lane: number;
  time: number;
}

/** An arrow on the timeline. */
export type LaneArrow = readonly [from: LaneTime, to: LaneTime];

/** One event of a lane, with its position in its chunk. */
export interface SliceRef {
  lane: Lane;
  slices: Slices;
  index: number;
}

export const rangeOf = ({ slices, index }: SliceRef): Range => ({ from: slices.start[index]!, to: slices.end[index]! });

/** The slice drawn in a lane at a time, from loaded chunks only; for tooltips. */
export function drawnAt(recording: Recording, lane: Lane, time: number, nsPerPixel: number): SliceRef | null {
  const slack = nsPerPixel * 2;
  for (const level of lane.levels.slice(levelFor(lane, nsPerPixel))) {
    let missing = false;
    for (const chunk of chunksIn(level, time - slack, time + slack)) {
      const slices = recording.chunks.slices(chunk[BLOB]);
      if (slices === null) {
        missing = true;
        continue;
      }
      const index = firstFrom(slices.maxEnd, time);
      for (const i of [index, index - 1])
        if (i >= 0 && i < slices.length && slices.start[i]! <= time + slack && slices.end[i]! >= time - slack)
          return { lane, slices, index: i };
    }
    if (!missing) return null;
  }
  return null;
}

/** `low` and `high`: of the values that are merged into it. */
export type TimedValue = { time: number; value: number; low: number; high: number };

/** The value of a counter in effect at a time, from loaded chunks only; null if absent. */
export function valueAt(recording: Recording, lane: Lane, time: number, nsPerPixel: number): TimedValue | null {
  const level = lane.levels[levelFor(lane, nsPerPixel)];
  const chunk = level?.chunks.findLast((each) => each[START] <= time);
  const values = chunk ? recording.chunks.values(chunk[BLOB]) : null;
  const index = values ? firstAbove(values.time, time) - 1 : -1;
  if (values === null || index < 0 || Number.isNaN(values.value[index]!)) return null;
  const of = ({ time, value, low, high }: Values) =>
    ({ time: time[index]!, value: value[index]!, low: low[index]!, high: high[index]! });
  return of(values);
}

/** The event of a lane nearest to a time (if two touch there, the later), at most `tolerance` ns away. */
export async function eventAt(recording: Recording, lane: Lane, time: number, tolerance: number) {
  let best: SliceRef | null = null;
  let smallest = Infinity;
  const events = lane.levels[0];
  const [from, to] = [time - tolerance, time + tolerance];
  for (const chunk of events ? chunksIn(events, from, to) : []) {
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) continue;
    for (let i = firstFrom(slices.maxEnd, from); i < slices.length && slices.start[i]! <= to; i++) {
      const away = Math.max(slices.start[i]! - time, time - slices.end[i]!, 0);
      if (away <= smallest) [best, smallest] = [{ lane, slices, index: i }, away];
    }
  }
  return best;
}

/** The event that starts at exactly this time. */
export async function eventStartingAt(recording: Recording, lane: Lane, start: number): Promise<SliceRef | null> {
  for (const chunk of lane.levels[0]?.chunks ?? []) {
    if (chunk[START] > start || chunk[END] < start) continue;
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    const index = slices ? firstFrom(slices.start, start) : -1;
    if (slices && slices.start[index] === start) return { lane, slices, index };
  }
  return null;
}

/** Where an event is in its row: events are ordered by start, of equal ones by lane, then as in the lane. */
export interface RowPlace {
  start: number;
  lane: number;
  row: number; // in its table; NO_ROW: before all that start then in this lane
}

/** The lanes that are drawn in the same row as a lane and have events that can be selected. */
export const rowOf = (recording: Recording, { track, y }: Lane): Lane[] =>
  recording.lanesOf[track]!.filter((lane) => lane.y === y && lane.kind !== "value" && !isTimesOnly(lane));

/** The next (by = 1) or previous (by = -1) event of a row. Of a gap, which is drawn in pieces, the other pieces
    are no neighbours. */
export async function neighbourInRow(
  recording: Recording, lanes: readonly Lane[], place: RowPlace, by: 1 | -1,
): Promise<SliceRef | null> {
  const found = await Promise.all(lanes.map((lane) => neighbourInLane(recording, lane, place, by)));
  const near = found.filter((each) => each !== null);
  near.sort((a, b) => by * (rangeOf(a).from - rangeOf(b).from || a.lane.id - b.lane.id));
  return near[0] ?? null;
}

async function neighbourInLane(
  recording: Recording, lane: Lane, { start, lane: own, row }: RowPlace, by: 1 | -1,
): Promise<SliceRef | null> {
  const chunks = lane.levels[0]?.chunks ?? [];
  const isSkipped = (slices: Slices, i: number) => lane.table === "gap" && slices.row[i] === row && row !== NO_ROW;
  const [isAfter, isBefore] = [(chunk: Chunk) => chunk[END] >= start, (chunk: Chunk) => chunk[START] <= start];
  const at = by > 0 ? chunks.findIndex(isAfter) : chunks.findLastIndex(isBefore);
  for (let i = at; i >= 0 && i < chunks.length; i += by) {
    const slices = await recording.chunks.loadSlices(chunks[i]![BLOB]);
    if (slices === null) continue;
    // Those that start at the same time come before or after by lane; in the own lane, by their place near it.
    const [first, end] = [firstFrom(slices.start, start), firstAbove(slices.start, start)];
    const self = lane.id === own ? slices.row.subarray(first, end).indexOf(row) : -1;
    const after = self >= 0 ? first + self + 1 : lane.id > own || (lane.id === own && row === NO_ROW) ? first : end;
    const before = self >= 0 ? first + self - 1 : lane.id < own ? end - 1 : first - 1;
    let index = by > 0 ? after : before;
    while (index >= 0 && index < slices.length && isSkipped(slices, index)) index += by;
    if (index >= 0 && index < slices.length) return { lane, slices, index };
  }
  return null;
}
