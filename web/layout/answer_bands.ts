// Rows of an SQL answer on the timeline: bands, at least two pixels wide. Bands that touch are one, so that ten
// thousand rows cost no more than the pixels they cover.

import type { Band } from "./display.ts";
import type { Range } from "../model/recording/range.ts";

const MIN_WIDTH = 2;

/** `ranges` ascend by start; `x`: the place of a time. */
export function answerBands(ranges: readonly Range[], x: (time: number) => number, width: number): Band[] {
  const bands: Band[] = [];
  for (const range of ranges) {
    const x0 = Math.max(0, x(range.from));
    const x1 = Math.min(width, Math.max(x(range.to), x(range.from) + MIN_WIDTH));
    if (x1 <= 0 || x0 >= width) continue;
    const last = bands[bands.length - 1];
    if (last !== undefined && x0 <= last.x1) last.x1 = Math.max(last.x1, x1);
    else bands.push({ x0, x1 });
  }
  return bands;
}
