// Search by text or /regular expression/: first in the list of distinct names, which is small and complete, then, for
// next and previous, in the events' chunks from a given time. Chunks outside [first, last] of the names are not read.

import { fail, ok, type Result } from "../read/result.ts";
import { BLOB, END, START, type SliceRef } from "./lane.ts";
import type { Lane } from "./manifest.ts";
import type { Recording } from "./recording.ts";
import { NO_NAME, numbers } from "./slices.ts";

export interface Name {
  table: string;
  name: string;
  count: number;
  total: number; // ns
  first: number;
  last: number;
}

export async function readNames(recording: Recording): Promise<Name[]> {
  const { names } = recording.manifest;
  const payload = names === null ? null : await recording.chunks.loadPayload(names);
  if (payload === null) return [];
  const column = (name: string) => numbers(payload.columns.get(name), payload.rows, 0);
  const [count, total, first, last] = [column("count"), column("total"), column("first"), column("last")];
  return Array.from({ length: payload.rows }, (_, row) => ({
    table: String(payload.columns.get("table")?.value(row) ?? ""),
    name: String(payload.columns.get("name")?.value(row) ?? ""),
    count: count[row]!,
    total: total[row]!,
    first: first[row]!,
    last: last[row]!,
  }));
}

/** A test for names: /.../ and /.../i are regular expressions, everything else is case-insensitive text. */
export function matcher(query: string): Result<(name: string) => boolean> {
  const pattern = /^\/(.+)\/(i?)$/s.exec(query);
  if (pattern === null) {
    const text = query.toLowerCase();
    return ok((name) => name.toLowerCase().includes(text));
  }
  try {
    const expression = new RegExp(pattern[1]!, pattern[2]);
    return ok((name) => expression.test(name));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** The matching names, those with the most time first. */
export function search(names: readonly Name[], test: (name: string) => boolean): Name[] {
  return names.filter((name) => test(name.name)).sort((a, b) => b.total - a.total || b.count - a.count);
}

/** A position in the order of all events: by start, then by lane. */
export interface Place {
  time: number;
  lane: number;
}

/** The next (by = 1) or previous event of one of the names; null if there is none. */
export async function findEvent(recording: Recording, wanted: readonly Name[], place: Place, by: 1 | -1): Promise<SliceRef | null> {
  const nameSets = nameSetsOf(recording, wanted);
  let best: SliceRef | null = null;
  for (const lane of recording.manifest.lanes) {
    const nameSet = nameSets.get(lane.table);
    if (!nameSet || lane.kind === "value") continue;
    const limit = best === null ? by * Infinity : best.slices.start[best.index]!;
    const found = await findInLane(recording, lane, nameSet, place, by, limit);
    // Events with equal start are ordered by lane: the first lane wins forwards, the last one backwards.
    if (found && (by > 0 ? found.slices.start[found.index]! < limit : found.slices.start[found.index]! >= limit)) best = found;
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

async function findInLane(recording: Recording, lane: Lane, nameSet: NameSet, place: Place, by: 1 | -1, limit: number): Promise<SliceRef | null> {
  const chunks = lane.levels[0]?.chunks ?? [];
  const isBeyond = (start: number) => by * (start - place.time) > 0 || (start === place.time && by * (lane.id - place.lane) > 0);
  for (const chunk of by > 0 ? chunks : [...chunks].reverse()) {
    if (chunk[START] > nameSet.last || chunk[END] < nameSet.first) continue;
    if (by > 0 ? chunk[END] < place.time : chunk[START] > place.time) continue;
    if (by > 0 ? chunk[START] > limit : chunk[END] < limit) return null;
    const slices = await recording.chunks.loadSlices(chunk[BLOB]);
    if (slices === null) continue;
    const { start, name, length } = slices;
    for (let i = by > 0 ? 0 : length - 1; i >= 0 && i < length; i += by)
      if (isNamed(recording, lane, nameSet, name[i]!) && isBeyond(start[i]!)) return { lane, slices, index: i };
  }
  return null;
}
