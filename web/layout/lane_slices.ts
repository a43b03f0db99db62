// One lane of slices in one window: pixels for a Coverage, and the slices wide enough for a label. Uses the coarsest
// lossless level; where one of its chunks is not loaded yet, coarser levels stand in, and if no level is loaded the
// stretch is marked as loading. Accessing a missing chunk makes the cache fetch it.

import { BLOB, COUNT, END, levelFor, START } from "../model/recording/lane.ts";
import type { Lane, Level } from "../model/recording/manifest.ts";
import { firstAbove, type Slices } from "../model/recording/slices.ts";
import type { Range } from "../model/recording/range.ts";
import { LOADING } from "./colors.ts";
import type { Coverage } from "./coverage.ts";

export interface LabelledSlice {
  x: number; // device pixels
  width: number;
  name: number;
  count: number;
  code: number;
}

export interface LaneView {
  view: Range;
  pixels: number; // device pixels across the view
  slices: (blob: number) => Slices | null;
  colorOf: (lane: Lane, name: number, duration: number | null) => number; // null: of several events
  wideFrom: number; // minimum width in device pixels of a reported slice
}

export function paintLane(lane: Lane, frame: LaneView, into: Coverage, wide: LabelledSlice[]): void {
  const { from, to } = frame.view;
  if (lane.levels.length === 0) return;
  paint(lane, levelFor(lane, (to - from) / frame.pixels), from, to, frame, into, wide);
}

function paint(
  lane: Lane, at: number, from: number, to: number, frame: LaneView, into: Coverage, wide: LabelledSlice[],
): void {
  const level = lane.levels[at] as Level;
  for (const chunk of level.chunks) {
    if (chunk[START] > to || chunk[END] < from) continue;
    const slices = frame.slices(chunk[BLOB]);
    if (slices !== null) {
      paintSlices(lane, slices, from, to, frame, into, wide);
      continue;
    }
    const left = Math.max(from, chunk[START]);
    const right = Math.min(to, chunk[END]);
    if (at + 1 < lane.levels.length) paint(lane, at + 1, left, right, frame, into, wide);
    else if (chunk[COUNT] > 0) {
      const scale = frame.pixels / (frame.view.to - frame.view.from);
      into.add((left - frame.view.from) * scale, (right - frame.view.from) * scale, 0.5, LOADING);
    }
  }
}

function paintSlices(
  lane: Lane, slices: Slices, from: number, to: number, frame: LaneView, into: Coverage, wide: LabelledSlice[],
): void {
  const origin = frame.view.from;
  const scale = frame.pixels / (frame.view.to - origin);
  const { start, end, busy, name, count, length } = slices;
  for (let i = firstAbove(slices.maxEnd, from); i < length; i++) {
    const begin = start[i]!;
    if (begin > to) break;
    const finish = end[i]!;
    const x0 = (begin - origin) * scale;
    const x1 = (finish - origin) * scale;
    const code = frame.colorOf(lane, name[i]!, count[i] === 1 ? finish - begin : null);
    const density = finish > begin ? Math.min(1, busy[i]! / (finish - begin)) : 0;
    // Clipped to the requested stretch, so that a coarse slice does not overlap adjacent finer ones.
    into.add(begin < from ? (from - origin) * scale : x0, finish > to ? (to - origin) * scale : x1, density, code);
    if (x1 - x0 >= frame.wideFrom && x1 > 0 && x0 < frame.pixels)
      wide.push({ x: x0, width: x1 - x0, name: name[i]!, count: count[i]!, code });
  }
}
