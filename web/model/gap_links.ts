// What a gap of a device points to: its cause in the table of idle time, and what the thread that explains it did then.

import { eventRefOf, type EventRef } from "./details.ts";
import { eventAt, rangeOf } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import { numberOf, tableOf, textOf } from "./report.ts";
import type { Recording, Row } from "./recording.ts";
import type { Range } from "./state.ts";

/** The row of `idle` with this cause on the gap's device; null if the report lists none. */
export async function idleRowOf(recording: Recording, gap: Row): Promise<number | null> {
  const table = tableOf(await recording.report(), "idle");
  if (table === null) return null;
  const row = table.rows.findIndex((_, i) => textOf(table, i, "cause") === gap.value("cause") && numberOf(table, i, "device") === gap.number("device"));
  return row < 0 ? null : row;
}

/** The longest event of a thread within a range, outermost first; null if it recorded nothing then. */
export async function eventOfThread(recording: Recording, thread: string, range: Range): Promise<EventRef | null> {
  const track = recording.manifest.tracks.find((each) => each.thread === thread);
  if (track === undefined) return null;
  const rows = recording.lanesOf[track.id]!.filter((lane) => lane.kind !== "value").sort((a, b) => a.y - b.y);
  for (const lane of rows) {
    const found = await longestIn(recording, lane, range);
    if (found !== null) return found;
  }
  return null;
}

const SAMPLES = 16; // places looked at within the range

async function longestIn(recording: Recording, lane: Lane, { from, to }: Range): Promise<EventRef | null> {
  const step = (to - from) / SAMPLES;
  const found = await Promise.all(Array.from({ length: SAMPLES }, (_, i) => eventAt(recording, lane, from + (i + 0.5) * step, step / 2)));
  let best: EventRef | null = null;
  let longest = -1;
  for (const each of found) {
    if (each === null) continue;
    const event = rangeOf(each);
    const overlap = Math.min(event.to, to) - Math.max(event.from, from);
    if (overlap > longest) [best, longest] = [eventRefOf(recording, each), overlap];
  }
  return best;
}
