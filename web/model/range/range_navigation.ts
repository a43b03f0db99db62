// From a row of a range answer back to the timeline: its events are highlighted, and the longest of those that start in
// the range (if none does, of all) is selected and shown.

import { eventRefOf } from "../page/details.ts";
import { longestEvent } from "../recording/longest.ts";
import type { Lane } from "../recording/manifest.ts";
import { plainName } from "../recording/plain_name.ts";
import { NO_NAME } from "../recording/slices.ts";
import type { Range } from "../recording/range.ts";
import type { Viewer } from "../page/viewer.ts";

export async function showInRange(viewer: Viewer, range: Range, table: string, name: string): Promise<void> {
  const { recording } = viewer;
  const { strings, manifest } = recording;
  const lanes = manifest.lanes.filter((lane) => lane.kind !== "value" && lane.table === table);
  const textOf = (lane: Lane, id: number) => (id === NO_NAME ? (lane.label ?? lane.table) : strings.textOf(id));
  const known = new Map<string, boolean>();
  const isIt = (lane: Lane, id: number) => {
    const text = textOf(lane, id);
    let is = known.get(text);
    if (is === undefined) known.set(text, (is = plainName(text) === name));
    return is;
  };
  const found =
    (await longestEvent(recording, lanes, isIt, range)) ??
    (await longestEvent(recording, lanes, isIt, { from: 0, to: viewer.length }));
  if (found === null) return viewer.set({ problem: `No event named '${name}' on the timeline.` });
  const all = await recording.names();
  const names = all.flatMap((each) => (each.table === table && plainName(each.name) === name ? [each.name] : []));
  viewer.highlight(names.length > 0 ? names : [name]);
  const event = eventRefOf(recording, found);
  return table === "gap" ? viewer.select("gap", event.row) : viewer.choose(event, true);
}
