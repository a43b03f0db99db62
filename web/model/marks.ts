// Where the events of some names begin, lane by lane: drawn as ticks while names are highlighted, because a merged slice
// shows the name of its longest event only, and a rare short one would go unseen. Reads every chunk that can have one;
// done while nobody waits. Beyond MAX_MARKS there are none at all: those of the first events would say that later there are none.

import { BLOB, END, START } from "./lane.ts";
import type { Recording } from "./recording.ts";
import { bySought, isSought, type Name } from "./search.ts";

export type Marks = ReadonlyMap<number, Float64Array>; // lane: starts, ascending

export const MAX_MARKS = 50_000;

/** How many events have one of the names. */
export const eventsOf = (names: readonly Name[]): number => names.reduce((sum, name) => sum + name.count, 0);

/** null when `goOn` says that nobody wants them any more. For names of at most MAX_MARKS events. */
export async function collectMarks(recording: Recording, wanted: readonly Name[], goOn: () => boolean): Promise<Marks | null> {
  const sought = bySought(recording, wanted);
  const marks = new Map<number, Float64Array>();
  for (const lane of recording.manifest.lanes) {
    const names = sought.get(lane.table);
    if (!names || lane.kind === "value") continue;
    const starts: number[] = [];
    for (const chunk of lane.levels[0]?.chunks ?? []) {
      if (chunk[START] > names.last || chunk[END] < names.first) continue;
      const slices = await recording.chunks.loadSlices(chunk[BLOB]);
      if (!goOn()) return null;
      for (let i = 0; slices && i < slices.length; i++) if (isSought(recording, lane, names, slices.name[i]!)) starts.push(slices.start[i]!);
    }
    if (starts.length > 0) marks.set(lane.id, Float64Array.from(starts));
  }
  return marks;
}
