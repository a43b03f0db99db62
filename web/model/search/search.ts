// Search: first in the list of distinct names, which is small and complete, then, for next and previous and for filters
// of single events (search_query.ts), in the events' chunks from a given time. Chunks outside [first, last] of the
// names are not read.

import { BLOB, END, START, type SliceRef } from "../recording/lane.ts";
import type { Lane } from "../recording/manifest.ts";
import type { Name } from "../recording/names.ts";
import type { Recording } from "../recording/recording.ts";
import type { EventFilter, Query } from "./search_query.ts";
import { NO_NAME, type Slices } from "../recording/slices.ts";

/** The names that a query allows, those with the most time first. Of a name whose events take less than one of them
    would have to, none can pass. */
export function search(names: readonly Name[], { tables, isNamed, events }: Query): Name[] {
  const fits = ({ table, name, total }: Name) =>
    (tables === null || tables.has(table)) && (events === null || total >= events.minimum) && isNamed(name);
  return byTime(names.filter(fits));
}

export const byTime = (names: readonly Name[]): Name[] =>
  [...names].sort((a, b) => b.total - a.total || b.count - a.count);

/** A position in the order of all events: by start, then by lane. */
export interface Place {
  time: number;
  lane: number;
}

/** The next (by = 1) or previous event of one of the names that passes the filter; null if there is none. */
export async function findEvent(
  recording: Recording, wanted: readonly Name[], place: Place, by: 1 | -1, filter: EventFilter | null = null,
): Promise<SliceRef | null> {
  const nameSets = nameSetsOf(recording, wanted);
  let best: SliceRef | null = null;
  for (const lane of recording.manifest.lanes) {
    const nameSet = nameSets.get(lane.table);
    if (!nameSet || lane.kind === "value" || !isOn(filter, lane)) continue;
    const limit = best === null ? by * Infinity : best.slices.start[best.index]!;
    const found = await findInLane(recording, lane, { nameSet, filter, place, by, limit });
    // Events with equal start are ordered by lane: the first lane wins forwards, the last one backwards.
    if (found && (by > 0 ? found.slices.start[found.index]! < limit : found.slices.start[found.index]! >= limit))
      best = found;
  }
  return best;
}

export interface NameSet {
  ids: Set<number>;
  first: number;
  last: number;
}

export function nameSetsOf(recording: Recording, wanted: readonly Name[]): Map<string, NameSet> {
  const tables = new Map<string, NameSet>();
  for (const name of wanted) {
    const entry = tables.get(name.table) ?? { ids: new Set<number>(), first: Infinity, last: -Infinity };
    entry.ids.add(recording.strings.intern(name.name));
    entry.first = Math.min(entry.first, name.first);
    entry.last = Math.max(entry.last, name.last);
    tables.set(name.table, entry);
  }
  return tables;
}

/** Whether a slice's name is wanted; a slice without a name uses its lane's label. */
export function isNamed(recording: Recording, lane: Lane, { ids }: NameSet, name: number): boolean {
  if (name !== NO_NAME) return ids.has(name);
  return lane.label !== null && ids.has(recording.strings.idOf(lane.label) ?? NO_NAME);
}

export const isOn = (filter: EventFilter | null, lane: Lane): boolean =>
  filter === null || filter.lanes === null || filter.lanes.has(lane.id);

export const passes = (filter: EventFilter | null, { start, end }: Slices, i: number): boolean =>
  filter === null || filter.passes(end[i]! - start[i]!);

interface Wanted {
  nameSet: NameSet;
  filter: EventFilter | null;
  place: Place;
  by: 1 | -1;
  limit: number; // ns; what starts beyond is not wanted
}

async function findInLane(
  recording: Recording, lane: Lane, { nameSet, filter, place, by, limit }: Wanted,
): Promise<SliceRef | null> {
  const chunks = lane.levels[0]?.chunks ?? [];
  const isBeyond = (start: number) =>
    by * (start - place.time) > 0 || (start === place.time && by * (lane.id - place.lane) > 0);
  for (const chunk of by > 0 ? chunks : [...chunks].reverse()) {
    if (chunk[START] > nameSet.last || chunk[END] < nameSet.first) continue;
    if (by > 0 ? chunk[END] < place.time : chunk[START] > place.time) continue;
    if (by > 0 ? chunk[START] > limit : chunk[END] < limit) return null;
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) continue;
    const { start, name, length } = slices;
    for (let i = by > 0 ? 0 : length - 1; i >= 0 && i < length; i += by)
      if (isNamed(recording, lane, nameSet, name[i]!) && isBeyond(start[i]!) && passes(filter, slices, i))
        return { lane, slices, index: i };
  }
  return null;
}
