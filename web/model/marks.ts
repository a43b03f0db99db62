// Where the events of some names start, by lane. They are drawn as ticks while names are highlighted, because a merged
// slice shows only the name of its longest event, and a rare short one would be invisible. Reads every chunk that can
// hold one, in the background. Above MAX_MARKS no marks are drawn: marks for the first events only would suggest that
// there are no later ones.

import { BLOB, END, START } from "./lane.ts";
import type { Recording } from "./recording.ts";
import { nameSetsOf, isNamed, type Name } from "./search.ts";

export type Marks = ReadonlyMap<number, Float64Array>; // lane to starts, ascending

export const MAX_MARKS = 50_000;

/** The number of events with one of the names. */
export const eventsOf = (names: readonly Name[]): number => names.reduce((sum, name) => sum + name.count, 0);

/** null once `isCurrent` returns false. The names must have at most MAX_MARKS events. */
export async function collectMarks(recording: Recording, wanted: readonly Name[], isCurrent: () => boolean): Promise<Marks | null> {
  const nameSets = nameSetsOf(recording, wanted);
  const marks = new Map<number, Float64Array>();
  for (const lane of recording.manifest.lanes) {
    const nameSet = nameSets.get(lane.table);
    if (!nameSet || lane.kind === "value") continue;
    const starts: number[] = [];
    for (const chunk of lane.levels[0]?.chunks ?? []) {
      if (chunk[START] > nameSet.last || chunk[END] < nameSet.first) continue;
      const slices = await recording.chunks.loadSlices(chunk[BLOB]);
      if (!isCurrent()) return null;
      for (let i = 0; slices && i < slices.length; i++) if (isNamed(recording, lane, nameSet, slices.name[i]!)) starts.push(slices.start[i]!);
    }
    if (starts.length > 0) marks.set(lane.id, Float64Array.from(starts));
  }
  return marks;
}
