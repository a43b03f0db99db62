// The critical path over the rows of the timeline: a band under each row that it runs through, painted like a row of
// slices, and lines where it goes from one track to another. Lines need every span of the window, so there are none
// while the window has too many to tell them apart.

import { BLOB, COUNT, END, levelFor, START } from "../model/recording/lane.ts";
import type { Lane } from "../model/recording/manifest.ts";
import { firstAbove, type Slices } from "../model/recording/slices.ts";
import type { Range } from "../model/recording/range.ts";
import { CRITICAL } from "./colors.ts";
import type { Coverage } from "./coverage.ts";
import type { Strips } from "./display.ts";
import { paintLane, type LaneView } from "./lane_slices.ts";

export const MAX_LINKED = 400; // spans in the window
const BAND = 4; // css pixels

export interface PathRow {
  lanes: Lane[]; // of the path
  top: number;
  height: number;
}

export function pathBands(rows: readonly PathRow[], lane: LaneView, coverage: Coverage): Strips {
  const used = rows.filter((row) => row.lanes.length > 0);
  const heights = used.map((row) => Math.min(BAND, Math.ceil(row.height / 2)));
  const strips: Strips = {
    pixels: lane.pixels,
    tops: used.map((row, i) => row.top + row.height - heights[i]!),
    heights,
    codes: new Uint8Array(used.length * lane.pixels),
    shades: new Uint8Array(used.length * lane.pixels),
  };
  used.forEach((row, i) => {
    for (const each of row.lanes) paintLane(each, { ...lane, colorOf: () => CRITICAL }, coverage, []);
    coverage.take(strips.codes, strips.shades, i * lane.pixels);
  });
  return strips;
}

/** Where the path leaves one track for another: the end of a span, the start of the next. From loaded chunks only. */
export function pathLinks(
  lanes: readonly Lane[], view: Range, pixels: number, slices: (blob: number) => Slices | null,
): { lane: Lane; time: number }[][] {
  const spans: { lane: Lane; from: number; to: number }[] = [];
  for (const lane of lanes) {
    if (levelFor(lane, (view.to - view.from) / pixels) > 0) return [];
    for (const chunk of lane.levels[0]?.chunks ?? []) {
      const found = chunk[START] <= view.to && chunk[END] >= view.from && chunk[COUNT] > 0 ? slices(chunk[BLOB]) : null;
      if (found === null) continue;
      for (let i = firstAbove(found.maxEnd, view.from); i < found.length && found.start[i]! <= view.to; i++)
        if (spans.push({ lane, from: found.start[i]!, to: found.end[i]! }) > MAX_LINKED) return [];
    }
  }
  spans.sort((a, b) => a.from - b.from);
  const links: { lane: Lane; time: number }[][] = [];
  for (let i = 1; i < spans.length; i++) {
    const [before, after] = [spans[i - 1]!, spans[i]!];
    if (before.lane.track !== after.lane.track)
      links.push([{ lane: before.lane, time: before.to }, { lane: after.lane, time: after.from }]);
  }
  return links;
}
