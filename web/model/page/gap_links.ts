// What a gap of a device points to: its cause in the table of idle time, and what the thread that explains it did then.
// And where the key L leads from any event: the other end of its launch, or of a gap that thread.

import { detailsOf, eventRefOf, type EventRef } from "./details.ts";
import { BLOB, chunksIn, type SliceRef } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import { numberOf, tableOf, textOf } from "../recording/report.ts";
import type { Recording, Row } from "../recording/recording.ts";
import { firstFrom } from "../recording/slices.ts";
import type { Value } from "../../read/column.ts";
import type { Range, Selection } from "../recording/range.ts";

/** The row of `idle` with this cause on the gap's device; null if the report lists none. */
export async function idleRowOf(recording: Recording, gap: Row): Promise<number | null> {
  const table = tableOf(await recording.report(), "idle");
  if (table === null) return null;
  const [cause, device] = [gap.value("cause"), gap.number("device")];
  const isOf = (row: number) => textOf(table, row, "cause") === cause && numberOf(table, row, "device") === device;
  const row = table.rows.findIndex((_, at) => isOf(at));
  return row < 0 ? null : row;
}

/** The event of a thread with the largest part in a range, outermost first; among those of a name if one has it. null
    if the thread recorded nothing then. */
export async function eventOfThread(
  recording: Recording, thread: string, range: Range, what: Value = null,
): Promise<EventRef | null> {
  const track = recording.manifest.tracks.find((each) => each.thread === thread);
  if (track === undefined) return null;
  const rows = recording.lanesOf[track.id]!.filter((lane) => lane.kind !== "value").sort((a, b) => a.y - b.y);
  let first: EventRef | null = null;
  for (const lane of rows)
    for (const named of [true, false]) {
      if (named ? typeof what !== "string" : first !== null) continue;
      const found = await largestPart(recording, lane, range, (name) => !named || name === what);
      if (found !== null && named) return eventRefOf(recording, found);
      if (found !== null) first = eventRefOf(recording, found);
    }
  return first;
}

/** The launch of device work, the first work of a call, range or operator, or what the thread of a gap did; null if
    none was recorded. */
export async function linkOf(recording: Recording, selection: Selection): Promise<EventRef | null> {
  const details = await detailsOf(recording, selection);
  const thread = selection.table === "gap" ? details?.row.value("host_thread") : null;
  if (typeof thread === "string")
    return eventOfThread(recording, thread, selection, details!.row.value("host_what"));
  return details?.launch ?? details?.work ?? null;
}

async function largestPart(
  recording: Recording, lane: Lane, { from, to }: Range, isWanted: (name: string) => boolean,
): Promise<SliceRef | null> {
  const events = lane.levels[0];
  let best: SliceRef | null = null;
  let largest = 0;
  for (const chunk of events ? chunksIn(events, from, to) : []) {
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) continue;
    for (let index = firstFrom(slices.maxEnd, from); index < slices.length && slices.start[index]! < to; index++) {
      const part = Math.min(slices.end[index]!, to) - Math.max(slices.start[index]!, from);
      if (part <= largest) continue;
      const found = { lane, slices, index };
      if (isWanted(eventRefOf(recording, found).name)) [best, largest] = [found, part];
    }
  }
  return best;
}
