// Where the events of some names start, by lane. They are drawn as ticks while names are highlighted, because a merged
// slice shows only the name of its longest event, and a rare short one would be invisible. Reads every chunk that can
// hold one, in the background. Above MAX_MARKS no marks are drawn: marks for the first events only would suggest that
// there are no later ones. With a filter the events that pass are also counted, by name.

import { BLOB, END, START } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import type { Recording } from "../recording/recording.ts";
import type { Name } from "../recording/names.ts";
import { byTime, isNamed, isOn, nameSetsOf, passes } from "./search.ts";
import type { EventFilter } from "./search_query.ts";
import { NO_NAME, type Slices } from "../recording/slices.ts";

export type Marks = ReadonlyMap<number, Float64Array>; // lane to starts, ascending

export const MAX_MARKS = 50_000;

/** The number of events with one of the names. */
export const eventsOf = (names: readonly Name[]): number => names.reduce((sum, name) => sum + name.count, 0);

type Visit = (lane: Lane, slices: Slices, i: number) => void;

/** Visits the events of the names that pass; false once `isCurrent` returns false. */
async function visit(
  recording: Recording, wanted: readonly Name[], filter: EventFilter | null, isCurrent: () => boolean, each: Visit,
): Promise<boolean> {
  const nameSets = nameSetsOf(recording, wanted);
  for (const lane of recording.manifest.lanes) {
    const nameSet = nameSets.get(lane.table);
    if (!nameSet || lane.kind === "value" || !isOn(filter, lane)) continue;
    for (const chunk of lane.levels[0]?.chunks ?? []) {
      if (chunk[START] > nameSet.last || chunk[END] < nameSet.first) continue;
      const slices = await recording.chunks.loadSlices(chunk[BLOB]);
      if (!isCurrent()) return false;
      for (let i = 0; slices && i < slices.length; i++)
        if (isNamed(recording, lane, nameSet, slices.name[i]!) && passes(filter, slices, i)) each(lane, slices, i);
    }
  }
  return true;
}

/** null once `isCurrent` returns false. At most MAX_MARKS events may pass. */
export async function collectMarks(
  recording: Recording, wanted: readonly Name[], isCurrent: () => boolean, filter: EventFilter | null = null,
): Promise<Marks | null> {
  const starts = new Map<number, number[]>();
  const isDone = await visit(recording, wanted, filter, isCurrent, (lane, slices, i) => {
    const mine = starts.get(lane.id) ?? [];
    starts.set(lane.id, mine);
    mine.push(slices.start[i]!);
  });
  return isDone ? new Map([...starts].map(([lane, times]) => [lane, Float64Array.from(times)])) : null;
}

/** The names of the events that pass a filter, with only these events; null once `isCurrent` returns false. */
export async function filteredNames(
  recording: Recording, wanted: readonly Name[], filter: EventFilter, isCurrent: () => boolean,
): Promise<Name[] | null> {
  const found = new Map<string, Name>();
  const isDone = await visit(recording, wanted, filter, isCurrent, (lane, slices, i) => {
    const [start, end, id] = [slices.start[i]!, slices.end[i]!, slices.name[i]!];
    const name = id === NO_NAME ? (lane.label ?? "") : recording.strings.textOf(id);
    const key = `${lane.table} ${name}`;
    const sum = found.get(key) ?? { table: lane.table, name, kind: null, count: 0, total: 0, first: start, last: end };
    found.set(key, sum);
    sum.count++;
    sum.total += end - start;
    sum.first = Math.min(sum.first, start);
    sum.last = Math.max(sum.last, end);
  });
  return isDone ? byTime([...found.values()]) : null;
}
