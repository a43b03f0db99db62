// One event in words, for those who do not see where it is drawn.

import type { Recording } from "../model/recording/recording.ts";
import type { Selection } from "../model/recording/range.ts";
import { kindOf } from "../model/recording/event_kind.ts";
import { duration, moment } from "./time_text.ts";

/** Name, kind, duration, start and track. */
export function describeEvent({ manifest }: Recording, { table, lane, name, from, to }: Selection): string {
  const track = lane === null ? undefined : manifest.tracks[manifest.lanes[lane]!.track];
  const start = moment(from, Math.max(1, (to - from) / 1000));
  const text = `${name}, ${kindOf(table)}, ${duration(to - from)}, starts at ${start}`;
  return track ? `${text}, on ${track.name}` : text;
}
