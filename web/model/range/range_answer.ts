// What happened in a stretch of a recording: for each frame (a name on its call stack) the number of events with a part
// in the stretch, and the time of those parts. Exact for a stretch of any length: chunks inside it have recorded sums,
// and only the events of the chunks at its ends are read.
//
// An event belongs to [from, to) if it starts before `to` and ends after `from`; an event without length, if it starts
// in it. Events are clipped: only their part inside counts, and of the bytes of a copy the same share.

import type { ChunkSums } from "../recording/chunk_sums.ts";
import { NO_FRAME, type FrameCut, type Frames } from "../recording/stack_frames.ts";
import { BLOB, END, isTimesOnly, STACKS, START } from "../recording/lane.ts";
import type { Chunk, Lane } from "../recording/manifest.ts";
import type { Recording } from "../recording/recording.ts";
import { measure } from "./measure.ts";
import { firstFrom, NO_NAME, numbers, type Slices } from "../recording/slices.ts";
import type { Range } from "../recording/range.ts";

export interface FrameSum {
  frame: number;
  count: number;
  ns: number;
  bytes: number; // copied or filled; NaN: unknown
}

export interface RangeAnswer {
  range: Range;
  frames: Frames;
  sums: ReadonlyMap<number, FrameSum>; // by frame
  idle: { device: number; cause: string; ns: number }[]; // of each device, largest first
}

/** Fails if a part of the recording cannot be read. */
export async function answerOf(recording: Recording, wanted: Range): Promise<RangeAnswer> {
  const range = { from: Math.round(wanted.from), to: Math.round(wanted.to) };
  const { frames, cuts, sums } = await recording.stacks();
  const hasEvents = (lane: Lane) => lane.kind !== "value" && lane.table !== "" && !isTimesOnly(lane);
  const lanes = recording.manifest.lanes.filter(hasEvents);
  const adder = new Adder();
  const parts = await Promise.all(lanes.map((lane) => partsOf(recording, frames, lane, range, sums)));
  lanes.forEach((lane, i) => {
    for (const part of parts[i]!)
      if (part.events === null) adder.addRows(sums, sums.rowsOf.get(part.chunk[BLOB])!);
      else adder.addEvents(part.events, range, cuts.get(lane.id));
  });
  return { range, frames, sums: adder.sums, idle: await idleOf(recording, range) };
}

/** The idle time of each device in a range by cause, largest first. */
export async function idleOf(recording: Recording, range: Range): Promise<RangeAnswer["idle"]> {
  const { devices } = await measure(recording, range);
  devices.sort((a, b) => a.device - b.device);
  return devices.flatMap(({ device, idle }) => idle.map(({ cause, ns }) => ({ device, cause, ns })));
}

/** The events of a chunk, and the frame of each. */
export interface StackedEvents {
  slices: Slices;
  frameAt: (index: number) => number;
}

/** Fails if they cannot be read. */
export async function stackedEvents(
  recording: Recording, frames: Frames, lane: Lane, chunk: Chunk,
): Promise<StackedEvents> {
  const stacks = chunk[STACKS];
  const [slices, read] = await Promise.all([
    recording.chunks.loadSlices(chunk[BLOB]),
    stacks === undefined ? undefined : recording.chunks.loadPayload(stacks),
  ]);
  if (slices === null || read === null) throw new Error("part of the recording cannot be read");
  const ids = numbers(read?.columns.get("frame"), slices.length, NO_FRAME);
  const text = (name: number) => (name === NO_NAME ? (lane.label ?? lane.table) : recording.strings.textOf(name));
  const frameAt = (index: number) => {
    const known = ids[index]!;
    const isKnown = Number.isInteger(known) && known >= 0 && known < frames.size;
    return isKnown ? known : frames.root(lane.table, text(slices.name[index]!));
  };
  return { slices, frameAt };
}

type Part = { chunk: Chunk; events: StackedEvents | null };

/** The chunks of a lane with a part in the range; events null: inside, with recorded sums. */
async function partsOf(
  recording: Recording, frames: Frames, lane: Lane, range: Range, sums: ChunkSums,
): Promise<Part[]> {
  const touched = (lane.levels[0]?.chunks ?? []).filter((chunk) => chunk[START] < range.to && chunk[END] >= range.from);
  return Promise.all(
    touched.map(async (chunk) => {
      if (chunk[START] >= range.from && chunk[END] < range.to && sums.rowsOf.has(chunk[BLOB]))
        return { chunk, events: null };
      return { chunk, events: await stackedEvents(recording, frames, lane, chunk) };
    }),
  );
}

const NO_CUTS: ReadonlyMap<number, readonly FrameCut[]> = new Map();

class Adder {
  readonly sums = new Map<number, FrameSum>();

  addRows(sums: ChunkSums, [first, end]: [number, number]): void {
    for (let row = first; row < end; row++)
      this.add(sums.frame[row]!, sums.count[row]!, sums.time[row]!, sums.bytes[row]!);
  }

  addEvents({ slices, frameAt }: StackedEvents, { from, to }: Range, cuts = NO_CUTS): void {
    const { start, end, moved, row } = slices;
    for (let i = firstFrom(slices.maxEnd, from); i < slices.length && start[i]! < to; i++) {
      const length = end[i]! - start[i]!;
      if (length > 0 ? end[i]! <= from : start[i]! < from) continue;
      const ns = Math.min(end[i]!, to) - Math.max(start[i]!, from);
      const own = cuts.get(row[i]!);
      if (own !== undefined) this.addPieces([{ time: start[i]!, frame: frameAt(i) }, ...own], end[i]!, { from, to });
      else this.add(frameAt(i), 1, ns, (moved?.[i] ?? NaN) * (length > 0 ? ns / length : 1));
    }
  }

  /** An event that lies in several frames, one after the other, counts in the first. */
  private addPieces(pieces: readonly FrameCut[], end: number, { from, to }: Range): void {
    let count = 1;
    pieces.forEach(({ time, frame }, i) => {
      const ns = Math.min(pieces[i + 1]?.time ?? end, to) - Math.max(time, from);
      if (ns > 0) this.add(frame, count, ns, NaN);
      if (ns > 0) count = 0;
    });
  }

  private add(frame: number, count: number, ns: number, bytes: number): void {
    const sum = this.sums.get(frame);
    if (sum === undefined) return void this.sums.set(frame, { frame, count, ns, bytes });
    sum.count += count;
    sum.ns += ns;
    sum.bytes += bytes;
  }
}
