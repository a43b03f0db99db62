// What was launched in a stretch of a recording, such as a step: the events of threads that start in it and the
// device work whose calls start in it, each whole, whenever it ran. So every event belongs to one of the steps that
// follow each other, and a device that lags behind its host changes nothing. Work without a recorded call belongs
// where it starts. Idle time is clipped, as in range_answer.ts.

import { idleOf, stackedEvents, type FrameSum, type RangeAnswer, type StackedEvents } from "./range_answer.ts";
import { chunksIn, END, isTimesOnly, START } from "../recording/lane.ts";
import type { Chunk, Lane } from "../recording/manifest.ts";
import type { Recording } from "../recording/recording.ts";
import { firstFrom, type Slices } from "../recording/slices.ts";
import type { Range } from "../recording/range.ts";

const WORK: ReadonlySet<string> = new Set(["kernel", "memcpy", "memset"]);

/** Fails if a part of the recording cannot be read. */
export async function launchedIn(recording: Recording, wanted: Range): Promise<RangeAnswer> {
  const range = { from: Math.round(wanted.from), to: Math.round(wanted.to) };
  const { frames } = await recording.stacks();
  const sums = new Map<number, FrameSum>();
  const add: Visit = ({ slices, frameAt }, i) => {
    const frame = frameAt(i);
    const [ns, bytes] = [slices.end[i]! - slices.start[i]!, slices.moved?.[i] ?? NaN];
    const sum = sums.get(frame) ?? { frame, count: 0, ns: 0, bytes: 0 };
    sums.set(frame, { frame, count: sum.count + 1, ns: sum.ns + ns, bytes: sum.bytes + bytes });
  };
  const isEvent = ({ kind, table }: Lane) => kind !== "value" && table !== "" && table !== "gap";
  for (const lane of recording.manifest.lanes) {
    if (!isEvent(lane) || isTimesOnly(lane)) continue;
    const read = (chunk: Chunk) => stackedEvents(recording, frames, lane, chunk);
    if (WORK.has(lane.table)) await eachLaunched(recording, lane, range, read, add);
    else await eachStarting(lane, range, read, add);
  }
  return { range, frames, sums, idle: await idleOf(recording, range) };
}

type Read = (chunk: Chunk) => Promise<StackedEvents>;
type Visit = (events: StackedEvents, i: number) => void;

async function eachStarting(lane: Lane, { from, to }: Range, read: Read, visit: Visit): Promise<void> {
  const events = lane.levels[0];
  for (const chunk of events ? chunksIn(events, from, to) : []) {
    const events = await read(chunk);
    const { length, start } = events.slices;
    for (let i = firstFrom(start, from); i < length && start[i]! < to; i++) visit(events, i);
  }
}

/** A stream runs its work in the order of the calls, so the first chunk with nothing but later work is the last
    one that is read. */
async function eachLaunched(
  recording: Recording, lane: Lane, { from, to }: Range, read: Read, visit: Visit,
): Promise<void> {
  for (const chunk of lane.levels[0]?.chunks ?? []) {
    if (chunk[END] < from) continue;
    const events = await read(chunk);
    const { slices } = events;
    const first = firstFrom(slices.start, from);
    const called = await callTimes(recording, lane.table, slices, first);
    let isLater = chunk[START] >= to;
    for (let i = first; i < slices.length; i++) {
      const time = called[i - first]!;
      if (time < to) isLater = false;
      if (time >= from && time < to) visit(events, i);
    }
    if (isLater) return;
  }
}

/** When the call of each slice from `first` on started; of one without a recorded call, its own start. */
async function callTimes(recording: Recording, table: string, slices: Slices, first: number): Promise<number[]> {
  const times: number[] = [];
  const [calls, starts] = [columnReader(recording, table, "launch"), columnReader(recording, "api_call", "start")];
  for (let i = first; i < slices.length; i++) {
    const call = slices.row[i]! < 0 ? null : await calls(slices.row[i]!);
    times.push((call === null ? null : await starts(call)) ?? slices.start[i]!);
  }
  return times;
}

/** Reads single values of a column; neighbours are in the chunk that was read last. */
function columnReader(recording: Recording, table: string, name: string): (row: number) => Promise<number | null> {
  let [begin, end] = [0, 0];
  let value: (row: number) => number | null = () => null;
  return async (row) => {
    if (row < begin || row >= end) {
      const rows = recording.manifest.tables.get(table)?.chunk_rows ?? 1;
      const at = Math.floor(row / rows);
      const read = await recording.column(table, name, at);
      [begin, end] = [at * rows, (at + 1) * rows];
      value = (wanted) => {
        const cell = read?.[1].value(wanted - begin) ?? null;
        return cell === null ? null : Number(cell);
      };
    }
    return value(row);
  };
}
